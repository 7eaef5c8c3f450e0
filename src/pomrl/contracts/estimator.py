"""The contract of estimators."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_array_equal

from pomrl.algorithm import PlanningInput, pomrl
from pomrl.components import read_only
from pomrl.contracts.component import (
    METHOD,
    ComponentContract,
    assert_experiment_runs,
    assert_models,
    problem,
)
from pomrl.estimators import Estimator, Truth
from pomrl.gamma_schedules import Fixed

GAMMA = 0.5


class EstimatorContract(ComponentContract):
    """Tests of an estimator, which the fixture `component` of a subclass returns."""

    def test_an_experiment_runs(self, component: Estimator) -> None:
        assert_experiment_runs(problem(), replace(METHOD, estimator=component))

    def test_an_experiment_runs_where_all_tasks_are_equal(self, component: Estimator) -> None:
        assert_experiment_runs(problem(sigma=0.0), replace(METHOD, estimator=component))

    def test_estimates_are_models(self, component: Estimator) -> None:
        for seed, m in enumerate((2, 5, 100)):
            for task in learned(component, *batches(seed, m), m):
                assert_models(task.P_hat)
                assert ((task.alpha >= 0) & (task.alpha <= 1)).all()
                assert ((task.sigma >= 0) | np.isnan(task.sigma)).all()

    def test_runs_do_not_influence_one_another(self, component: Estimator) -> None:
        drawn, truth = batches(0, 5)
        together = learned(component, drawn, truth, 5)
        for run in range(len(truth.P_o)):
            one = slice(run, run + 1)
            alone = learned(component, [P_bar[one] for P_bar in drawn], Truth(truth.P_o[one], truth.variance[one]), 5)
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


def learned(estimator: Estimator, drawn: list[np.ndarray], truth: Truth, m: int) -> list[PlanningInput]:
    """Return what the loop over tasks yields for each task."""
    return list(pomrl(drawn, m, truth, estimator, Fixed(gamma=GAMMA), GAMMA))


def batches(seed: int, m: int, T: int = 5, n: int = 3, S: int = 4, A: int = 2) -> tuple[list[np.ndarray], Truth]:
    """Draw the frequencies of m transitions in each of T Dirichlet tasks, and return them with the true moments.

    In the first run some rows of the mean model have a single state, so that nothing varies there.
    """
    rng = np.random.default_rng(seed)
    P_o = rng.dirichlet(np.ones(S), (n, S, A))
    P_o[0, :, 0] = np.eye(S)
    shape = 8.0 * P_o
    drawn = []
    for _ in range(T):
        weight = np.where(P_o > 0, rng.standard_gamma(shape), 0.0)
        drawn.append(rng.multinomial(m, weight / weight.sum(-1, keepdims=True)) / m)
    truth = Truth(P_o, P_o * (1 - P_o) / 9.0)
    read_only(*drawn, truth.P_o, truth.variance)
    return drawn, truth
