"""Tests of the components in this folder and of their contracts."""

from dataclasses import replace

import numpy as np
import pytest
from examples.all_alike import AllAlike
from examples.corners import Corners
from examples.growing_horizon import GrowingHorizon
from examples.james_stein import JamesStein
from examples.linear_program import LinearProgram
from examples.pooled_variances import PooledVariances
from examples.tides import Tides

from pomrl.components import Batch, Component, Memory, Truth, check_component

RATE = PooledVariances(mixing="mse_optimal", similarity="debiased", scope="per_pair")


@pytest.mark.parametrize(
    "component",
    [
        AllAlike(),
        JamesStein(),
        RATE,
        GrowingHorizon(growth=1.0),
        Corners(zeros=3),
        LinearProgram(),
        Tides(period=6),
    ],
    ids=lambda component: type(component).__name__,
)
def test_a_component_keeps_to_its_contracts(component: Component) -> None:
    check_component(component)


class TestJamesStein:
    def test_many_pairs_give_nearly_posterior_means(self) -> None:
        """Its weight approaches c / (c + m), the weight of P_o in the posterior mean of Dirichlet tasks."""
        c, m, S, rng = 6.0, 5, 5, np.random.default_rng(0)
        P_o = rng.dirichlet(np.full(S, 5.0), (1, S, 2000))
        weight = rng.standard_gamma(c * P_o)
        batch = Batch.of_counts(rng.multinomial(m, weight / weight.sum(-1, keepdims=True)), m, equal=True)
        memory = replace(Memory.initial(1, S, 2000), tasks=10**6, P_o_hat=P_o)
        truth = Truth(P_o, P_o * (1 - P_o) / (c + 1))
        P_hat = JamesStein().estimate(memory, batch, truth)
        np.testing.assert_allclose(P_hat, (c * P_o + batch.counts) / (c + m), atol=0.01)

    @pytest.mark.parametrize(("tasks", "times", "weight"), [(0, 1, 0.0), (1, 1, 2 / 3), (1, 4, 4 / 33)])
    def test_its_weight_by_hand(self, tasks: int, times: int, weight: float) -> None:
        """Rows of N transitions with the frequencies 2/3, 1/3, 0: distance 2/9 from uniform, noise 4/9 / (N - 1)."""
        batch = Batch.of_counts(np.tile([2 * times, times, 0], (1, 3, 1, 1)), 3 * times, equal=True)
        memory = replace(Memory.initial(1, 3, 1), tasks=tasks)
        P_hat = JamesStein().estimate(memory, batch, Truth(memory.P_o_hat, memory.P_o_hat))
        np.testing.assert_allclose(P_hat, weight / 3 + (1 - weight) * batch.P_bar, atol=1e-15)


class TestPooledVariances:
    def test_many_tasks_give_the_best_rate(self) -> None:
        c, m, n, S = 6.0, 5, 4, 5
        rng = np.random.default_rng(0)
        P_o = rng.dirichlet(np.full(S, 5.0), (n, S, 2))
        memory = Memory.initial(n, S, 2)
        for _ in range(4000):
            weight = rng.standard_gamma(c * P_o)
            counts = rng.multinomial(m, weight / weight.sum(-1, keepdims=True))
            memory = memory.update(Batch.of_counts(counts, m, equal=True))
        truth = Truth(P_o, P_o * (1 - P_o) / (c + 1))
        sigma = RATE.similarity_estimate(memory, m, truth)
        alpha = RATE.mixing_rate(4001, m, sigma, memory, truth)
        variance = truth.variance.mean((1, 2, 3))[:, None, None]
        v = (P_o * (1 - P_o) - truth.variance).mean(-1)
        np.testing.assert_allclose(alpha, v / (v + m * variance), atol=0.02)
