"""What the meta-learner learns from, beside the data of the tasks' own estimates."""

from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pomrl.science.algorithm import pomrl
from pomrl.science.data import Batch, Batches, Data
from pomrl.science.drawn_tasks import _settings, draw
from pomrl.science.estimators.estimator import Estimator, ModelEstimator, Truth
from pomrl.science.estimators.memory import Memory, Models
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import Grid
from pomrl.science.meta_batches import MetaBatch, Own, Separate
from pomrl.science.planners import PolicyIteration
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.random_chains import Dirichlet

PROBLEM = Problem(
    S=5, A=2, m=3, T=4, sigma=0.01, gamma_eval=0.9, seed=0, task_distribution=Dirichlet(zeros=2), trials=3
)
ADA = RegularisedLeastSquares(mixing="paper", similarity="welford", scope="per_pair")
ALONE = RegularisedLeastSquares(mixing=0.0)


def method(estimator: Estimator) -> Method:
    return Method(estimator=estimator, gamma_schedule=Grid(gammas=[0.0, 0.3, 0.9]), planner=PolicyIteration())


def table(problem: Problem, estimator: Estimator = ADA, runs: int = 3) -> Any:
    return tables(problem, [method(estimator)], range(runs))[0]


class Given(Data):
    """Returns given transitions, whatever is asked for."""

    counts: Any

    def draw(self, rngs, P, m: int, batches: int) -> np.ndarray:
        return self.counts[None, None]

    def most_visits(self, m: int) -> int:
        return m


COUNTS = np.zeros((3, 2, 1, 2), int)
COUNTS[:, 0, 0] = [[4, 0], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("combine", "unvisited", "row"),
    [
        ("pooled", "skip", [5 / 6, 1 / 6]),
        ("pooled", "uniform", [5 / 6, 1 / 6]),
        ("mean_of_frequencies", "skip", [3 / 4, 1 / 4]),
        ("mean_of_frequencies", "uniform", [2 / 3, 1 / 3]),
    ],
)
def test_several_batches_become_one(combine, unvisited, row: list[float]):
    """Three batches are combined: two visit the first pair, and none visits the second one."""
    own = Batch.of_counts(np.ones((1, 1, 1, 2, 1, 2), int), 1)
    meta = Separate(batches=3, combine=combine, unvisited=unvisited).of_tasks(
        own, Given(counts=COUNTS), [np.random.default_rng(0)], np.full((1, 1, 2, 1, 2), 0.5)
    )
    np.testing.assert_allclose(meta.P_bar[0, 0, :, 0], [row, [0.5, 0.5]], rtol=1e-15)
    assert np.array_equal(meta.visits[0, 0, :, 0], [6, 0])
    assert np.array_equal(meta.counted[0, 0, :, 0], [True, unvisited == "uniform"])


class Frequencies(ModelEstimator):
    """The frequencies of a task's own batch."""

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        return batch.P_bar


@pytest.mark.parametrize("meta", [Own(), Separate()])
def test_each_trial_has_its_own_batch(meta: MetaBatch):
    problem = replace(PROBLEM, meta_batch=meta)
    pd.testing.assert_frame_equal(
        table(problem, Frequencies()).drop(columns="alpha"),
        table(problem, ALONE).drop(columns="alpha"),
        check_exact=True,
    )


def test_separate_batches_leave_other_draws():
    own, separate = (replace(PROBLEM, meta_batch=meta) for meta in (Own(), Separate(batches=2)))
    assert table(own, ALONE).equals(table(separate, ALONE))
    assert not table(own).equals(table(separate))


def test_each_trial_learns_from_its_batches():
    n, K = 3, PROBLEM.trials
    shared_truth = next(_settings(PROBLEM, range(n))).truth
    truth = Truth(shared_truth.P_o[::K], shared_truth.variance[::K])
    batches = [task.batches for stack in draw(PROBLEM, range(n), PROBLEM.T) for task in stack.tasks]
    tasks = [batch.meta.counts for batch in batches if isinstance(batch, Batches)]
    rates = []
    for trial in range(K):
        trial_batches = [Batches.same(Batch.of_counts(counts[trial::K], PROBLEM.m, equal=True)) for counts in tasks]
        learned = pomrl(zip(trial_batches, repeat(truth)), PROBLEM.m, ADA, Grid(gammas=[0.0]), 0.9)
        rates.append([task.alpha for task in learned])
    assert not np.array_equal(rates[0], rates[1])
    table_rates = table(PROBLEM).groupby(["run", "task"])["alpha"].first().to_numpy()
    np.testing.assert_allclose(table_rates, np.mean(rates, 0).T.ravel(), rtol=1e-14)
