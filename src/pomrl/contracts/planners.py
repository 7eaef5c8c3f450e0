"""What is tested of planners: their policies are the best of all deterministic ones."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from pomrl.base import make_read_only
from pomrl.contracts.component import METHOD, RUNS, ComponentContract, problem
from pomrl.science.mdp import policy_value, random_chain_mdp
from pomrl.science.planners import Planner
from pomrl.science.problem import Method, Problem
from pomrl.science.solvers import finite_horizon

GAMMAS = np.array([0.0, 0.3, 0.9, 0.99])


class PlannerContract(ComponentContract):
    """Tests of a planner, which the fixture `component` of a subclass returns."""

    tolerance: ClassVar[float] = 1e-9
    """Largest loss of optimal value that is accepted, in units of max(1, max |R|) / (1 - gamma)."""

    def experiments(self, component: Planner) -> Sequence[tuple[Problem, Method]]:
        return [(replace(problem(), horizon=component.looks_ahead), replace(METHOD, planner=component))]

    def test_policies_are_the_best_of_all(self, component: Planner) -> None:
        """Each model has the discount factors in an order of its own."""
        for P, R in small_models():
            gammas = np.stack([np.roll(GAMMAS, shift) for shift in range(len(P))])
            policies = component.plan(P, R, gammas)
            for i, g in np.ndindex(gammas.shape):
                loss = policy_loss(component, P[[i]], R[[i]], policies[[i], g], float(gammas[i, g]))
                assert loss.max() * (1 - gammas[i, g]) <= self.tolerance * max(1.0, np.abs(R).max())

    def test_what_is_no_model_is_refused(self, component: Planner) -> None:
        P, R = small_models()[0]
        with pytest.raises(ValueError, match=r"sum"):
            component.plan(P * 1.1, R, GAMMAS)
        with pytest.raises(ValueError, match=r"gamma"):
            component.plan(P, R, np.array([1.0 if component.looks_ahead is None else 1.1]))


def small_models(S: int = 4, A: int = 2) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return small models of several kinds: random ones, frequencies of few samples, ones with ties, and a ring."""
    rng = np.random.default_rng(0)
    drawn = [random_chain_mdp(rng, S, A, 1) for _ in range(RUNS)]
    P, R = np.stack([P for P, _ in drawn]), np.stack([R for _, R in drawn])
    sampled = rng.multinomial(2, P) / 2
    tied = P[:, :, :1].repeat(A, axis=2), R[:, :, :1].repeat(A, axis=2)
    ring_P, ring_R = np.zeros((1, S, A, S)), np.zeros((1, S, A))
    ring_P[0, :, 0], ring_P[0, :, 1:], ring_R[0, 0] = np.eye(S), np.roll(np.eye(S), 1, axis=1)[:, None], 1.0
    models = [(P, R), (sampled, R), tied, (ring_P, ring_R), (P, -R), (P, 0 * R)]
    make_read_only(*(array for pair in models for array in pair))
    return models


def policy_loss(planner: Planner, P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    """Return what a policy of each model loses in each state, over as many steps as the planner looks ahead."""
    steps = planner.looks_ahead
    if steps is None:
        return best_value(P, R, gamma) - policy_value(P, R, policy, gamma)
    V = np.zeros(R.shape[:2])
    for _ in range(steps):
        V = (R + gamma * (P @ V[:, None, :, None])[..., 0]).max(-1)
    return V - finite_horizon.policy_values(P, R, policy[:, None], gamma, steps)[:, 0]


def best_value(P: np.ndarray, R: np.ndarray, gamma: float) -> np.ndarray:
    """Return V* of each model as the largest value in each state over all deterministic policies."""
    _, S, A, _ = P.shape
    policies = np.array(list(product(range(A), repeat=S)))
    return policy_value(P[:, None], R[:, None], policies[None], gamma).max(1)
