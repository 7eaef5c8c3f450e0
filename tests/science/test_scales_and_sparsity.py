"""Planning does not depend on the unit of rewards, nor on whether a model is solved as a sparse one."""

import numpy as np
import pytest
from tests.support.sample_models import random_models, value_of

from pomrl.science.gamma_star import best_index
from pomrl.science.mdp import expected_rewards, planning_loss
from pomrl.science.planners import PolicyIteration, ValueIteration
from pomrl.science.solvers import sparse
from pomrl.science.solvers.evaluation import magnitude, reward_scale
from pomrl.science.solvers.policy_values import distinct_policy_values

GAMMAS = np.array([0.0, 0.3, 0.6, 0.9, 0.99])


def test_the_scale_is_that_of_the_largest_reward_of_either_sign() -> None:
    R = np.array([[[1.0, -5.0], [2.0, 0.5]], [[0.0, 0.0], [-0.01, 0.001]], [[0.0, 0.0], [0.0, 0.0]]])
    np.testing.assert_array_equal(reward_scale(R), [5.0, 1.0, 1.0])
    np.testing.assert_array_equal(magnitude(R), [5.0, 2.0**-6, 1.0])
    assert reward_scale(np.empty((0, 3, 2))).shape == (0,)


@pytest.mark.parametrize("planner", [PolicyIteration(), ValueIteration()])
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**-10])
def test_small_rewards_are_planned_as_large_ones(planner: PolicyIteration | ValueIteration, unit: float) -> None:
    P, R = random_models(np.random.default_rng(1), 6, 6, 3)
    policies = planner.plan(P, R * unit, GAMMAS)
    np.testing.assert_array_equal(policies, planner.plan(P, R, GAMMAS))
    loss, losses = planning_loss(P, R * unit, policies, 0.99), planning_loss(P, R, policies, 0.99)
    assert losses.max() > 0.1
    np.testing.assert_array_equal(loss, losses * unit)


def test_losses_of_large_rewards_are_tied_in_proportion() -> None:
    assert best_index(np.array([1e6, 3.0, 3.0 + 1e-9, 4.0])) == 2
    assert best_index(np.array([100.0, 3.0, 3.0 + 1e-9, 4.0])) == 1


def few_transitions(S: int, A: int, successors: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(S)
    P = np.zeros((S, A, S))
    np.put_along_axis(P, rng.random((S, A, S)).argsort(-1)[..., :successors], rng.random((S, A, successors)), -1)
    return P / P.sum(-1, keepdims=True), rng.random((S, A)) * 1000 - 500


@pytest.mark.parametrize(("S", "way"), [(64, "together"), (150, "sparse")])
def test_models_with_few_transitions_are_solved_exactly(S: int, way: str) -> None:
    P, R = few_transitions(S, 3, 3)
    assert (sparse.solved_densely(P[None]).item(), sparse.pays(P)) == (way == "together", way == "sparse")
    policies = PolicyIteration().plan(P[None], R[None], GAMMAS)
    for policy, gamma in zip(policies[0], GAMMAS, strict=True):
        V = value_of(P, R, policy, gamma)
        np.testing.assert_allclose((R + gamma * P @ V).max(-1), V, rtol=0, atol=1e-9)
    V, _, index = distinct_policy_values(P[None], R[None], policies, 0.99)
    for g, policy in enumerate(policies[0]):
        np.testing.assert_allclose(V[index[0, g]], value_of(P, R, policy, 0.99), rtol=0, atol=1e-7)


def test_a_model_is_planned_alike_alone_and_among_others() -> None:
    few, many = few_transitions(64, 3, 3), random_models(np.random.default_rng(2), 1, 64, 3)
    P, R = np.stack([few[0], many[0][0], few[0]]), np.stack([few[1], many[1][0], few[1]])
    together = PolicyIteration().plan(P, R, GAMMAS)
    for i in range(3):
        np.testing.assert_array_equal(together[i], PolicyIteration().plan(P[i : i + 1], R[i : i + 1], GAMMAS)[0])


def test_rewards_of_transitions_are_expected_under_the_model_that_is_given() -> None:
    P, R = random_models(np.random.default_rng(3), 2, 4, 2)
    of_transitions = np.random.default_rng(4).random((2, 4, 2, 4))
    assert expected_rewards(R, P) is R
    by_hand = sum(P[..., s] * of_transitions[..., s] for s in range(4))
    np.testing.assert_allclose(expected_rewards(of_transitions, P), by_hand, atol=1e-15)
