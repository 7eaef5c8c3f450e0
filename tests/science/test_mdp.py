import numpy as np
import pytest
from scipy.stats import kstest
from tests.support.sample_models import (
    all_policies,
    brute_force_value,
    policy_values,
    random_models,
)

from pomrl.science.mdp import (
    ACCURATE_GAMMA_EVAL,
    LOSS_ERROR,
    MAX_GAMMA_EVAL,
    Criterion,
    expected_rewards,
    loss_error,
    planning_loss,
    policy_value,
    random_chain_mdp,
)
from pomrl.science.planners import PolicyIteration


def test_weights_are_uniform_before_they_are_normalised():
    """The share u / (u + w) of two uniform weights u and w is at most x < 1/2 with probability x / (2 (1 - x))."""
    rng = np.random.default_rng(5)
    p = np.concatenate([random_chain_mdp(rng, 2, 10, 0)[0][..., 0].ravel() for _ in range(200)])

    def distribution(x):
        least = np.minimum(x, 1 - x)
        below = least / (2 * (1 - least))
        return np.where(x < 0.5, below, 1 - below)

    assert kstest(p, distribution).pvalue > 1e-3


def test_leading_axes_broadcast():
    rng = np.random.default_rng(8)
    S, A, M, G = 4, 3, 5, 6
    P, R = random_models(rng, M, S, A)
    policy, gamma = rng.integers(A, size=(1, G, S)), rng.uniform(0, 0.99, (M, G))
    V = policy_value(P[:, None], R[:, None], policy, gamma)
    assert V.shape == (M, G, S)
    for i in range(M):
        for g in range(G):
            np.testing.assert_allclose(V[i, g], policy_values(P[i], R[i], policy[0, g], gamma[i, g]), rtol=1e-12)


@pytest.mark.parametrize("gamma_eval", [0.0, 0.5, 0.99])
def test_the_loss_is_the_largest_value_difference(gamma_eval: float):
    P, R = random_models(np.random.default_rng(11), 4, 4, 3)
    policies = all_policies(4, 3)
    loss = planning_loss(P, R, np.tile(policies, (4, 1, 1)), gamma_eval)
    assert loss.shape == (4, 81)
    for i in range(4):
        expected = np.abs(
            brute_force_value(P[i], R[i], gamma_eval) - policy_values(P[i], R[i], policies, gamma_eval)
        ).max(1)
        np.testing.assert_allclose(loss[i], expected, rtol=1e-9, atol=1e-12 / (1 - gamma_eval))
        assert loss[i].max() > 0.1


@pytest.mark.parametrize("gamma_eval", [0.0, 0.5, 0.99, 0.9999])
def test_only_optimal_policies_have_zero_loss(gamma_eval: float):
    P, R = random_models(np.random.default_rng(12), 6, 4, 2)
    policies = np.tile(all_policies(4, 2), (6, 1, 1))
    loss = planning_loss(P, R, policies, gamma_eval)
    assert np.all(loss >= 0)
    assert np.all((loss == 0).sum(1) == 1)
    assert np.all(planning_loss(P, R, PolicyIteration().plan(P, R, np.array([gamma_eval])), gamma_eval) == 0)


def test_losses_below_the_tolerance_are_zero():
    P, R = (array.repeat(2, axis=2) for array in random_models(np.random.default_rng(3), 3, 5, 1))
    R[..., 1] += 1e-13
    assert np.all(planning_loss(P, R, np.zeros((3, 1, 5), int), 0.99) == 0)
    R[..., 1] += 1e-10
    assert np.all(planning_loss(P, R, np.zeros((3, 1, 5), int), 0.99) > 0)


@pytest.mark.parametrize("gamma_eval", [1.0, -0.1, np.nan])
def test_loss_refuses_a_gamma_that_is_none(gamma_eval: float):
    P, R = random_models(np.random.default_rng(17), 2, 3, 2)
    with pytest.raises(ValueError, match="gamma"):
        planning_loss(P, R, np.zeros((2, 1, 3), int), gamma_eval, np.zeros((2, 3)))


def test_expected_rewards_use_the_given_model() -> None:
    P, R = random_models(np.random.default_rng(3), 2, 4, 2)
    transition_rewards = np.random.default_rng(4).random((2, 4, 2, 4))
    assert expected_rewards(R, P) is R
    by_hand = sum(P[..., s] * transition_rewards[..., s] for s in range(4))
    np.testing.assert_allclose(expected_rewards(transition_rewards, P), by_hand, atol=1e-15)


def exact_value(P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    """The value of a policy in extended precision, by elimination."""
    states = np.arange(len(R))
    matrix = np.eye(len(R), dtype=np.longdouble) - np.longdouble(gamma) * P[states, policy].astype(np.longdouble)
    right = R[states, policy].astype(np.longdouble)
    for k in states:
        factor = matrix[:, k] / matrix[k, k]
        factor[k] = 0.0
        matrix, right = matrix - factor[:, None] * matrix[k], right - factor * right[k]
    return right / matrix[states, states]


def test_losses_have_the_promised_accuracy() -> None:
    gamma = MAX_GAMMA_EVAL
    for seed in range(5):
        P, R = random_chain_mdp(np.random.default_rng(seed), 10, 2, 5)
        best, other = PolicyIteration().plan(P[None], R[None], np.array([0.5, gamma]))[0][::-1]
        exact = np.abs(exact_value(P, R, best, gamma) - exact_value(P, R, other, gamma)).max()
        actual = planning_loss(P[None], R[None], other[None, None], gamma)[0, 0]
        assert abs(float(exact) - actual) <= LOSS_ERROR


@pytest.mark.parametrize("gamma", [0.9, ACCURATE_GAMMA_EVAL, 0.9999, MAX_GAMMA_EVAL])
def test_ties_hide_at_most_the_stated_loss(gamma: float) -> None:
    """State 0 goes to state 1, or to 2 for 0.1 less; state 2 pays that back and e more, and both return.

    Choosing state 1 loses gamma e / (1 - gamma^2).
    """
    errors = np.geomspace(1e-15, 1e-5, 101)
    P, R = np.zeros((len(errors), 3, 2, 3)), np.full((len(errors), 3, 2), 0.5)
    P[:, 0, 0, 1] = P[:, 0, 1, 2] = P[:, 1:, :, 0] = 1.0
    R[:, 0, 1] -= 0.1
    R[:, 2] += 0.1 / gamma + errors[:, None]
    first = np.zeros((len(errors), 1, 3), int)
    lost = gamma * errors / (1.0 - gamma**2)
    error = np.abs(Criterion(gamma).planning_loss(P, R, first)[:, 0] - lost)
    assert error.max() <= loss_error(gamma)
    if gamma <= ACCURATE_GAMMA_EVAL:
        assert error.max() <= LOSS_ERROR
    else:
        assert error.max() > LOSS_ERROR
