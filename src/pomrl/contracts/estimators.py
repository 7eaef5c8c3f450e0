"""What is tested of estimators."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from pomrl.base import make_read_only
from pomrl.contracts.component import METHOD, RUNS, UNEQUAL, ComponentContract, assert_models, problem
from pomrl.science.algorithm import PlanningInput, pomrl
from pomrl.science.data import Batch, Batches
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.gamma_schedules import Fixed
from pomrl.science.problem import Method, Problem


class EstimatorContract(ComponentContract):
    """Tests of an estimator, which the fixture `component` of a subclass returns."""

    def experiments(self, component: Estimator) -> Sequence[tuple[Problem, Method]]:
        unequal = replace(problem(), **UNEQUAL)
        return [(of, replace(METHOD, estimator=component)) for of in (problem(), problem(sigma=0.0), unequal)]

    def test_estimates_are_models(self, component: Estimator) -> None:
        for seed, (m, equal) in enumerate(((2, True), (5, False), (100, True))):
            for task in learn_tasks(component, seed, m, equal=equal):
                assert_models(task.P_hat)


def learn_tasks(estimator: Estimator, seed: int, m: int, *, equal: bool) -> Iterator[PlanningInput]:
    """Yield what the loop over tasks yields for each of five Dirichlet tasks.

    In the first run some rows of the mean model have a single state, so that nothing varies there. Each pair (s, a) has
    m transitions, or a random number up to 2 m, which may be 0, where they are not equal.
    """
    rng = np.random.default_rng(seed)
    n, S, A = RUNS, 4, 2
    P_o = rng.dirichlet(np.ones(S), (n, S, A))
    P_o[0, :, 0] = np.eye(S)
    batches = []
    for _ in range(5):
        weight = np.where(P_o > 0, rng.standard_gamma(8.0 * P_o), 0.0)
        visits = m if equal else rng.integers(0, 2 * m, (n, S, A), endpoint=True)
        counts = rng.multinomial(visits, weight / weight.sum(-1, keepdims=True))
        batches.append(Batches.same(Batch.of_counts(counts, m, equal=equal)))
    truth = Truth(P_o, P_o * (1 - P_o) / 9.0)
    make_read_only(truth.P_o, truth.variance)
    return pomrl(zip(batches, repeat(truth)), m, estimator, Fixed(gamma=0.5), 0.5)
