"""The reading `notebook`: what its keys make of the learners, written out in plain loops, and how it is composed."""

from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import experiment as experiment_of
from pomrl.science.data import Trajectories
from pomrl.science.experiment import tables
from pomrl.science.mdp import planning_loss
from pomrl.science.planners import PolicyIteration
from pomrl.science.randomness import Stream, generator

SMALL = ["reading=computed", "T=5", "trials=2", "meta_batch.batches=12", "gamma_schedule.gammas=[0.0,0.5,0.99]"]
ESTIMATORS = ["without_meta", "oracle", "pomrl", "ada_pomrl", "aggregating", "uniform_prior"]


def notebook_experiment(*overrides: str) -> Any:
    return experiment_of(PUBLISHED, [*SMALL, *overrides])


def draw_run(problem: Any, run: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The models P[T,S,A,S] of a run, and the transitions of the learner and of the meta-learner, [T,batch,S,A,S]."""
    mean, rng = problem.mean(run), generator(problem.seed, run, Stream.TASKS)
    P = problem.task_distribution.draw_tasks(rng, mean, problem.T)
    counts = [
        Trajectories(length=length).draw([generator(problem.seed, run, stream)], P[:, None], problem.m, batches)
        for length, stream, batches in ((10, Stream.BATCHES, problem.trials), (5, Stream.META_BATCHES, 12))
    ]
    return P, counts[0][:, 0], counts[1][:, 0]


def batch_of_meta_learner(counts: np.ndarray) -> np.ndarray:
    """The mean of frequencies with rows of zeros for pairs without a visit, its rows normalised."""
    B = np.zeros(counts.shape[1:])
    for batch_counts in counts:
        for pair in np.ndindex(B.shape[:2]):
            if batch_counts[pair].sum():
                B[pair] += batch_counts[pair] / batch_counts[pair].sum() / len(counts)
    for pair in np.ndindex(B.shape[:2]):
        B[pair] = B[pair] / B[pair].sum() if B[pair].sum() else 1 / len(B)
    return B


def estimates(name: str, problem: Any, run: int) -> list[tuple[float, list[np.ndarray]]]:
    """Return the mixing rate of each task, averaged over pairs, with the estimated model of each trial."""
    mean = problem.mean(run)
    concentration = 1.5 * problem.S * (1 + 0.015 * problem.S)
    variance = mean.P_o * (1 - mean.P_o) / (concentration + 1)
    _, learner_counts, meta_counts = draw_run(problem, run)
    S, A = problem.S, problem.A
    uniform = np.full((S, A, S), 1 / S)
    prior, s_now, s_late = uniform, np.full((S, A, S), 0.1), np.full((S, A, S), 0.1)
    outcomes = []
    for t in range(1, problem.T + 1):
        h = {"oracle": mean.P_o * 1.15 - 0.015, "uniform_prior": uniform}.get(name, prior)
        alpha = np.zeros((S, A))
        if t > 1 and name != "without_meta":
            largest = (s_late if name == "ada_pomrl" else variance).max(-1)
            alpha = 0.25 / (largest * problem.m * (1 + 1 / (t - 1)) + 0.25)
        if t > 1 and name == "aggregating":
            alpha = np.ones((S, A))
        P_hats = []
        for counts in learner_counts[t - 1]:
            P_hat = np.empty((S, A, S))
            for s, a in np.ndindex(S, A):
                visits = counts[s, a].sum()
                own = counts[s, a] / visits if visits else uniform[s, a]
                P_hat[s, a] = alpha[s, a] * h[s, a] + (1 - alpha[s, a]) * own
            P_hats.append(P_hat)
        outcomes.append((alpha.mean(), P_hats))
        s_late = s_now
        if t > 1:
            B = batch_of_meta_learner(meta_counts[t - 1])
            updated = (1 - 1 / t) * prior + B / t
            s_now = (1 - 1 / t) * s_now + abs(B - prior) * abs(B - updated) / t
            prior = updated
    return outcomes


@pytest.mark.parametrize("name", ESTIMATORS)
def test_learners_are_those_of_plain_loops(name: str):
    experiment = notebook_experiment(f"estimator={name}")
    problem, gammas = experiment.problem, np.array([0.0, 0.5, 0.99])
    (table,) = tables(problem, [experiment.method], range(2))
    actual = table.set_index(["run", "task", "gamma"]).sort_index()
    for run in range(2):
        P, R = draw_run(problem, run)[0], problem.mean(run).R
        for t, (alpha, P_hats) in enumerate(estimates(name, problem, run), start=1):
            losses, errors = [], []
            for P_hat in P_hats:
                policy = PolicyIteration().plan(P_hat[None], R[None], gammas)
                losses.append(planning_loss(P[[t - 1]], R[None], policy, 0.99, norm="mean")[0])
                errors.append(np.abs(P_hat - P[t - 1]).max())
            rows = actual.xs((run, t))
            assert isinstance(rows, pd.DataFrame)
            np.testing.assert_allclose(rows["alpha"], alpha, rtol=1e-12)
            np.testing.assert_allclose(rows["model_error"], np.mean(errors), rtol=1e-10)
            np.testing.assert_allclose(rows["planning_loss"], np.mean(losses, axis=0), rtol=1e-9, atol=1e-10)


def test_the_largest_variance_is_dirichlets():
    problem = notebook_experiment("sigma=0.047").problem
    mean = problem.mean(0)
    assert problem.task_distribution.concentration(mean) == pytest.approx(4.3125)
    assert mean.deviation**2 == pytest.approx((mean.P_o * (1 - mean.P_o)).max() / 5.3125)
    assert mean.P_o.min() == pytest.approx(0.015 / 1.15)
    assert problem.task_distribution.variance(mean).max() == pytest.approx(mean.deviation**2)


def test_dong_has_the_notebooks_phases():
    """Task 1 has gamma 1 - 10^(-1/5), and later ones count one past task less; all of them go to the grid."""
    method = experiment_of(PUBLISHED, ["reading=computed", "gamma_schedule=dong", "gamma_schedule.snap=null"]).method
    problem = experiment_of(PUBLISHED, ["reading=computed", "trials=1", "meta_batch.batches=1"]).problem
    (table,) = tables(problem, [method], range(1))
    expected = []
    for t in range(1, 16):
        x = max(0.25 - 0.018 * (t - 1), 0.016)
        alpha = 1 / (x**2 * (1 + 1 / max(t - 1, 1)) * 5 + 1)
        size = 2 * 5 * (1 - alpha + alpha * (t - 2)) if t > 1 else 2 * 5
        expected.append(1 - size**-0.2)
    np.testing.assert_allclose(table["gamma"], expected, rtol=1e-12)
    snapped = experiment_of(PUBLISHED, ["reading=computed", "gamma_schedule=dong"]).method
    np.testing.assert_allclose(tables(problem, [snapped], range(1))[0]["gamma"], np.round(expected, 1), atol=1e-15)


def test_the_upper_bound_has_the_notebooks_constant():
    method = experiment_of(PUBLISHED, ["reading=computed", "gamma_schedule=upper_bound"]).method
    problem = experiment_of(PUBLISHED, ["reading=computed", "trials=1", "meta_batch.batches=1"]).problem
    (table,) = tables(problem, [method], range(1))
    C = [(0.0129 + 1 / sqrt(5)) / sqrt(t) / (0.0129**2 * 5 + 1) + 1 / sqrt(5) for t in range(1, 16)]
    np.testing.assert_allclose(table["gamma"], np.round([0.35 + (1 - c) / (1 + c) for c in C], 1), atol=1e-15)
