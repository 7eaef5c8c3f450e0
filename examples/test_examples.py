"""Tests of the components in this folder, by the contracts of their kinds."""

import numpy as np
import pytest
from examples.corners import Corners
from examples.growing_horizon import GrowingHorizon
from examples.linear_program import LinearProgram
from examples.pooled_variances import PooledVariances
from examples.tides import Tides

from pomrl.components import (
    Batch,
    Estimator,
    GammaSchedule,
    Memory,
    Planner,
    RandomChains,
    TaskStream,
    Truth,
)
from pomrl.contracts import (
    EstimatorContract,
    GammaScheduleContract,
    PlannerContract,
    TaskDistributionContract,
    TaskStreamContract,
)


class TestPooledVariances(EstimatorContract):
    @pytest.fixture
    def component(self) -> Estimator:
        return PooledVariances(mixing="mse_optimal", similarity="debiased", scope="per_pair")

    def test_it_finds_the_best_rate_of_many_tasks(self, component: PooledVariances) -> None:
        c, m, n, S = 6.0, 5, 4, 5
        rng = np.random.default_rng(0)
        P_o = rng.dirichlet(np.full(S, 5.0), (n, S, 2))
        memory = Memory.initial(n, S, 2)
        for _ in range(4000):
            weight = rng.standard_gamma(c * P_o)
            counts = rng.multinomial(m, weight / weight.sum(-1, keepdims=True))
            memory = memory.update(Batch.of_counts(counts, m, equal=True))
        truth = Truth(P_o, P_o * (1 - P_o) / (c + 1))
        sigma = component.similarity_estimate(memory, m, truth)
        alpha = component.mixing_rate(4001, m, sigma, memory, truth)
        variance = truth.variance.mean((1, 2, 3))[:, None, None]
        v = (P_o * (1 - P_o) - truth.variance).mean(-1)
        np.testing.assert_allclose(alpha, v / (v + m * variance), atol=0.02)


class TestGrowingHorizon(GammaScheduleContract):
    @pytest.fixture
    def component(self) -> GammaSchedule:
        return GrowingHorizon(growth=1.0)


class TestCorners(TaskDistributionContract):
    @pytest.fixture
    def component(self) -> RandomChains:
        return Corners(zeros=3)


class TestLinearProgram(PlannerContract):
    @pytest.fixture
    def component(self) -> Planner:
        return LinearProgram()


class TestTides(TaskStreamContract):
    @pytest.fixture
    def component(self) -> TaskStream:
        return Tides(period=6)
