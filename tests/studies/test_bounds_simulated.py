import re

import numpy as np
import pandas as pd
import pytest

from pomrl.bounds import model_error_bound
from pomrl.configuration.studies import find
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import Grid
from pomrl.science.planners import PolicyIteration
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.random_chains import UniformBall
from pomrl_studies.pomrl2023.theory.coverage import regret_coverage
from pomrl_studies.pomrl2023.theory.related_tasks import DIRICHLET as RELATED
from pomrl_studies.pomrl2023.theory.squared_error import DIRICHLET, dirichlet_squared_error

pytestmark = pytest.mark.slow

DELTA = 0.05


@pytest.fixture(scope="module")
def model_errors(simulations: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the simulation for claims, with 2,000 sequences in each setting."""
    return simulations["model_error_coverage"]


def test_the_page_has_the_simulated_looseness(model_errors: pd.DataFrame):
    """Section 7 of the page of the theory looks up the coverage; the other numbers of its table are these."""
    page = (find("pomrl2023").folder / "pages" / "theory.md.in").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:as printed|corrected|sharpened).*\| (.*) \| (.*) \|$", page, flags=re.MULTILINE)
    looseness = model_errors.groupby("version")["looseness"]
    versions = ["as_printed", "corrected", "sharpened"]
    lowest, median = looseness.min()[versions], looseness.median()[versions]
    assert [(low.strip("*"), middle) for low, middle in rows] == [
        (f"{low:.2g}", f"{middle:.2g}") for low, middle in zip(lowest, median, strict=True)
    ]
    worst = model_errors[model_errors["version"] == "as_printed"].sort_values("coverage").head(1)
    assert worst[["S", "sigma", "m", "T"]].to_numpy().tolist() == [[4, 0.2, 100_000, 20]]


@pytest.mark.parametrize("version", ["corrected", "sharpened"])
def test_our_bounds_hold_in_every_setting(model_errors: pd.DataFrame, version: str):
    ours = model_errors[model_errors["version"] == version]
    assert ours["coverage"].min() >= 1 - DELTA
    learned = ours[ours["prior"] != "known"]
    assert learned["looseness"].between(1.1, 2.1).all()  # valid, and not loose


def test_the_printed_bound_fails_for_large_batches(model_errors: pd.DataFrame):
    """Check that it fails in most sequences of 20 tasks, for sigma^2 m = 4000 (E2, E3)."""
    printed = model_errors[model_errors["version"] == "as_printed"]
    large = printed[(printed["m"] == 100_000) & (printed["sigma"] == 0.2)]
    assert len(large) == 18
    assert (large["coverage"] < 1 - DELTA).all()
    assert (large.loc[large["T"] == 20, "coverage"] < 0.5).all()
    small = printed[(printed["m"] == 10) & (printed["prior"] != "known")]
    assert (small["coverage"] == 1).all()
    assert (small["looseness"] > 10).all()


def test_bounds_on_loss_and_regret_hold():
    table = regret_coverage(sequences=200, delta=DELTA)
    assert table["coverage"].min() >= 1 - DELTA
    assert set(table["quantity"]) == {"planning_loss", "average_regret"}
    at_gamma_eval = table[(table["gamma"] == 0.99) & (table["prior"] == "inclusive")]
    assert (at_gamma_eval["looseness"] > 100).all()
    greedy = table[(table["gamma"] == 0.0) & (table["quantity"] == "planning_loss")]
    assert greedy["looseness"].between(1, 50).all()  # the bias of planning with gamma = 0 dominates


def test_corrected_bounds_hold_for_all_rates():
    """The error is convex in the weight of the past, and the bound is linear, so that weights 0 and 1 suffice."""
    distribution = UniformBall(zeros=1, measure="std")
    problem = Problem(S=4, A=1, m=20, T=6, sigma=0.015, gamma_eval=0.0, seed=1, task_distribution=distribution)
    radius = np.array([[distribution.almost_sure_radius(problem.mean(run))] for run in range(500)])
    methods = [
        Method(
            estimator=RegularisedLeastSquares(mixing=w, prior="exclusive"),
            gamma_schedule=Grid(gammas=[0.0]),
            planner=PolicyIteration(),
        )
        for w in (0.0, 1.0)
    ]
    holds = np.ones(500, bool)
    for table, plugged in zip(tables(problem, methods, range(500)), (np.inf, 0.0), strict=True):
        error = table["model_error"].to_numpy().reshape(500, 6)[:, 1:]
        bound = model_error_bound(
            t=np.arange(2, 7), m=20, radius=radius, S=4, A=1, T=6, delta=DELTA, prior="exclusive", plugged=plugged
        )
        holds &= (error <= bound).all(1)
        assert (error <= 0.3 * np.asarray(bound)).all(1).mean() < 0.5
    assert holds.mean() >= 1 - DELTA


def test_simulated_squared_errors_match_the_closed_form(simulations: dict[str, pd.DataFrame]):
    table = simulations["squared_error_against_alpha"]
    deviation = (table["mse"] - table["closed_form"]) / table["standard_error"]
    assert deviation.abs().max() < 5
    assert len(table) == 21 * 3 * 3


@pytest.mark.parametrize("prior", ["exclusive", "inclusive", "known"])
@pytest.mark.parametrize("t", [2, 5, 15])
def test_the_optimal_mixing_rate_is_best(prior: str, t: int, simulations: dict[str, pd.DataFrame]):
    marks = simulations["mixing_rates_and_errors"]
    optimum = marks[(marks["prior"] == prior) & (marks["t"] == t)].set_index("mixing")
    alpha, error = optimum["alpha"].to_dict(), optimum["closed_form"].to_dict()
    grid = dirichlet_squared_error(np.linspace(0, 1, 1001), prior, t, DIRICHLET)
    assert error["mse_optimal"] <= grid.min()
    assert error["mse_optimal"] == pytest.approx(grid.min(), rel=1e-5)
    assert alpha["mse_optimal"] == pytest.approx(10 / 15 * ((t - 1) / t if prior == "exclusive" else 1))
    assert error["paper"] > 1.02 * error["mse_optimal"]


def test_related_tasks_improve_estimates(simulations: dict[str, pd.DataFrame]):
    table = simulations["related_tasks"]
    P, P_bar, prior, P_hat = (
        table[[f"{name}_{s}" for s in (1, 2, 3)]].to_numpy() for name in ("P", "P_bar", "prior", "P_hat")
    )
    np.testing.assert_allclose(P.mean(0), RELATED.P_o, atol=0.01)
    np.testing.assert_allclose(P.var(0), np.array(RELATED.P_o) * (1 - np.array(RELATED.P_o)) / 21, rtol=0.1)
    alpha = 1 / (5 * 0.25 / 21 * (1 + 1 / table["task"].to_numpy()) + 1)
    alpha[table["task"] == 1] = 0
    np.testing.assert_allclose(P_hat, alpha[:, None] * prior + (1 - alpha[:, None]) * P_bar)
    squared = table.assign(error=((P_hat - P) ** 2).sum(1)).groupby("task")["error"].mean()
    assert squared[1] > 1.5 * squared[2] > 1.5 * squared[15]
