"""Metrics: what they say, against direct computations, and what is stored of them."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.support.computed import compute as compute_all
from tests.support.sample_tasks import some_task

from pomrl import store
from pomrl.api import read
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import experiment
from pomrl.results.result import Result
from pomrl.science.experiment import tables
from pomrl.science.mdp import Criterion, policy_value
from pomrl.science.metrics.metric import MetricInput, PlanningLoss
from pomrl.science.metrics.shipped import DistinctPolicies, TrainingLoss, Value
from pomrl.science.stored_columns import MEASURED
from pomrl.small_experiments import SMALL_METHOD, UNEQUAL, small_problem
from pomrl_studies.beyond.agents.posterior_gamma import PosteriorGamma

OPTIONS = [path.stem for path in PUBLISHED.options("metric")]


def outcomes() -> MetricInput:
    """Return three tasks with policies that are planned, but for one, which is drawn."""
    task, rng = some_task(), np.random.default_rng(5)
    P = rng.dirichlet(np.ones(4), (3, 4, 2))
    P[0, :, 1] = P[0, :, 0]
    R = task.R.copy()
    R[0, :, 1] = R[0, :, 0]  # every policy is optimal in the first task
    policy = task.plan(task.P_hat, task.gammas)
    policy[2, 1] = 1 - policy[2, 2]
    V_star = np.stack([best(P[i], R[i]) for i in range(3)])
    counts = task.batch.counts
    return MetricInput(P, R, task.P_hat, task.R, counts, policy, task.gammas, V_star, Criterion(0.9))


def best(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    return np.max([policy_value(P, R, np.array(actions), 0.9) for actions in product(range(2), repeat=4)], axis=0)


def test_the_value_is_a_mean_over_starts() -> None:
    outcome, start = outcomes(), (0.1, 0.0, 0.6, 0.3)
    actual = Value().measure(replace(outcome, criterion=Criterion(0.9, start=start)))
    for i, g in product(range(3), range(3)):
        V = policy_value(outcome.P[i], outcome.R[i], outcome.policy[i, g], 0.9)
        assert actual[i, g] == pytest.approx(V @ start, rel=1e-12)


def test_training_loss_uses_the_estimated_model() -> None:
    outcome = outcomes()
    actual = TrainingLoss().measure(outcome)
    for i, g in product(range(3), range(3)):
        V = policy_value(outcome.P_hat[i], outcome.R_hat[i], outcome.policy[i, g], 0.9)
        assert actual[i, g] == pytest.approx((best(outcome.P_hat[i], outcome.R_hat[i]) - V).max(), abs=1e-9)
    assert (actual[:2, -1] == 0).all()  # planned there with gamma_eval


def test_distinct_policies_are_counted_up_to_gamma() -> None:
    outcome = outcomes()
    actual = DistinctPolicies().measure(outcome)
    for i, g in product(range(3), range(3)):
        assert actual[i, g] == len({tuple(policy) for policy in outcome.policy[i, : g + 1].tolist()})
    assert actual.max() > 1
    there_and_back = outcome.policy[:, [0, 0, 0]].copy()
    there_and_back[:, 1, 0] = 1 - there_and_back[:, 1, 0]
    assert DistinctPolicies().measure(replace(outcome, policy=there_and_back)).tolist() == [[1.0, 2.0, 2.0]] * 3


@pytest.mark.parametrize("changes", [{}, UNEQUAL, {"loss": "mean"}], ids=str)
def test_the_loss_metric_equals_its_column(changes: dict[str, Any]) -> None:
    class Loss(PlanningLoss):
        """The planning loss, as a metric that is not the default one."""

    problem = replace(small_problem(), **changes)
    for method in (SMALL_METHOD, replace(SMALL_METHOD, agent=PosteriorGamma())):
        (table,) = tables(problem, [replace(method, metric=Loss())], range(3))
        (plain,) = tables(problem, [method], range(3))
        pd.testing.assert_frame_equal(table.drop(columns=MEASURED), plain, check_exact=True)
        assert_allclose(table[MEASURED], plain["planning_loss"], rtol=1e-12, atol=1e-12)


def compute(*overrides: str) -> Experiment:
    requested = experiment(PUBLISHED, ["T=2", "S=4", "runs=6", "execution.workers=1", *overrides])
    compute_all([requested])
    return requested


@pytest.mark.usefixtures("empty_outputs")
class TestWhatIsStored:
    def test_losses_and_tables_have_the_metric(self) -> None:
        plain, measured = compute(), compute("metric=training_loss")
        actual = Result.of_experiment(measured, 6)
        column = store.load(measured)[MEASURED].to_numpy()
        assert_array_equal(actual.loss.ravel(), column)
        row = read.table(y="training_loss")
        assert row["mean"].item() == pytest.approx(actual.regret.mean())
        assert read.table()["mean"].item() == pytest.approx(Result.of_experiment(plain, 6).regret.mean())
        assert_array_equal(read.load(S=4, T=2)["planning_loss"], store.load(plain)["planning_loss"])
        assert read.plot(y="training_loss").axes[0].get_ylabel() == "Training loss, γ = 0.99"

    def test_hindsight_schedules_choose_by_the_loss(self) -> None:
        compute("metric=value")
        requested = compute("metric=value", "gamma_schedule=dynamic_best")
        table = store.load(requested)
        grid = store.lookup(requested).table()
        mean = grid.groupby(["task", "gamma"])["planning_loss"].mean()
        for t, rows in table.groupby("task"):
            (gamma,) = rows["gamma"].unique()
            assert mean[t, gamma] == pytest.approx(mean[t].min())
            selected = grid.query("task == @t and gamma == @gamma")
            assert_array_equal(rows[MEASURED], selected[MEASURED])
        assert_array_equal(Result.of_experiment(requested, 6).loss.ravel(), table[MEASURED])
