"""The contract of estimators."""

from dataclasses import replace
from itertools import product

import numpy as np
from numpy.testing import assert_array_equal

from pomrl.checks import read_only
from pomrl.contracts.component import (
    METHOD,
    ComponentContract,
    assert_experiment_runs,
    assert_models,
    problem,
)
from pomrl.science.algorithm import PlanningInput, pomrl
from pomrl.science.data import Batch, Batches, Trajectories
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.gamma_schedules import Fixed
from pomrl.science.meta_batches import Separate

GAMMA = 0.5


class EstimatorContract(ComponentContract):
    """Tests of an estimator, which the fixture `component` of a subclass returns."""

    def test_an_experiment_runs(self, component: Estimator) -> None:
        assert_experiment_runs(problem(), replace(METHOD, estimator=component))

    def test_an_experiment_runs_where_all_tasks_are_equal(self, component: Estimator) -> None:
        assert_experiment_runs(problem(sigma=0.0), replace(METHOD, estimator=component))

    def test_an_experiment_runs_where_pairs_are_visited_unequally(self, component: Estimator) -> None:
        of_problem = replace(problem(), data=Trajectories(length=3), meta_batch=Separate(batches=2), trials=2)
        assert_experiment_runs(of_problem, replace(METHOD, estimator=component))

    def test_estimates_are_models(self, component: Estimator) -> None:
        for seed, (m, equal) in enumerate(product((2, 5, 100), (True, False))):
            for task in learned(component, *batches(seed, m, equal=equal), m):
                assert_models(task.P_hat)
                assert ((task.alpha >= 0) & (task.alpha <= 1)).all()
                assert ((task.sigma >= 0) | np.isnan(task.sigma)).all()

    def test_runs_do_not_influence_one_another(self, component: Estimator) -> None:
        for equal in (True, False):
            drawn, truth = batches(0, 5, equal=equal)
            together = learned(component, drawn, truth, 5)
            for run in range(len(truth.P_o)):
                one = slice(run, run + 1)
                of_run = [Batch.of_counts(batch.counts[one], 5, equal=equal) for batch in drawn]
                alone = learned(component, of_run, Truth(truth.P_o[one], truth.variance[one]), 5)
                for a, b in zip(together, alone, strict=True):
                    assert_array_equal(a.P_hat[one], b.P_hat)
                    assert_array_equal(a.alpha[one], b.alpha)
                    assert_array_equal(a.sigma[one], b.sigma)

    def test_it_keeps_nothing_from_one_experiment_to_the_next(self, component: Estimator) -> None:
        first, other = (learned(component, *batches(seed, 5), 5) for seed in (0, 1))
        again = learned(component, *batches(0, 5), 5)
        assert len(other) == len(first)
        for a, b in zip(first, again, strict=True):
            assert_array_equal(a.P_hat, b.P_hat)


def learned(estimator: Estimator, drawn: list[Batch], truth: Truth, m: int) -> list[PlanningInput]:
    """Return what the loop over tasks yields for each task."""
    return list(pomrl(map(Batches.same, drawn), m, truth, estimator, Fixed(gamma=GAMMA), GAMMA))


def batches(seed: int, m: int, *, equal: bool = True) -> tuple[list[Batch], Truth]:
    """Draw batches of five Dirichlet tasks in three runs, and return them with the true moments.

    In the first run some rows of the mean model have a single state, so that nothing varies there. Each pair (s, a) has
    m transitions, or a random number up to 2 m, which may be 0, where they are not equal.
    """
    rng = np.random.default_rng(seed)
    n, S, A = 3, 4, 2
    P_o = rng.dirichlet(np.ones(S), (n, S, A))
    P_o[0, :, 0] = np.eye(S)
    shape = 8.0 * P_o
    drawn = []
    for _ in range(5):
        weight = np.where(P_o > 0, rng.standard_gamma(shape), 0.0)
        visits = m if equal else rng.integers(0, 2 * m, (n, S, A), endpoint=True)
        counts = rng.multinomial(visits, weight / weight.sum(-1, keepdims=True))
        drawn.append(Batch.of_counts(counts, m, equal=equal))
    truth = Truth(P_o, P_o * (1 - P_o) / 9.0)
    read_only(truth.P_o, truth.variance)
    return drawn, truth
