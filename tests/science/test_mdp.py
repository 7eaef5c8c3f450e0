import numpy as np
import pytest
from scipy.stats import kstest
from tests.support.sample_models import (
    all_policies,
    brute_force_value,
    models_with_equal_actions,
    random_models,
    sampled_models,
    value_of,
)

from pomrl.science.mdp import optimal_value, planning_loss, policy_value, random_chain_mdp
from pomrl.science.planners import PolicyIteration


@pytest.mark.parametrize(("S", "A", "zeros"), [(10, 2, 5), (10, 2, 0), (5, 3, 4), (2, 1, 1), (30, 2, 15)])
def test_random_chain_has_distributions_with_so_many_zeros_and_rewards_in_the_unit_interval(S: int, A: int, zeros: int):
    P, R = random_chain_mdp(np.random.default_rng(1), S, A, zeros)
    assert P.shape == (S, A, S)
    assert R.shape == (S, A)
    assert np.all((P == 0).sum(-1) == zeros)
    assert np.all(P >= 0)
    np.testing.assert_allclose(P.sum(-1), 1, rtol=0, atol=1e-14)
    assert np.all((R >= 0) & (R < 1))


def test_random_chain_is_reproducible_and_follows_its_generator():
    P, R = random_chain_mdp(np.random.default_rng(2), 6, 2, 3)
    P_again, R_again = random_chain_mdp(np.random.default_rng(2), 6, 2, 3)
    P_other, R_other = random_chain_mdp(np.random.default_rng(3), 6, 2, 3)
    assert np.array_equal(P, P_again)
    assert np.array_equal(R, R_again)
    assert not np.array_equal(P, P_other)
    assert not np.array_equal(R, R_other)


@pytest.mark.parametrize("zeros", [-1, 5, 6])
def test_random_chain_refuses_so_many_zeros(zeros: int):
    with pytest.raises(ValueError, match=rf"zeros={zeros}: of 5 states .* at most 4"):
        random_chain_mdp(np.random.default_rng(0), 5, 2, zeros)


def test_zeros_fall_on_all_states_alike():
    S, A, zeros, draws = 5, 20, 2, 200
    rng = np.random.default_rng(4)
    zero = np.concatenate([random_chain_mdp(rng, S, A, zeros)[0] == 0 for _ in range(draws)]).mean((0, 1))
    rows = draws * S * A
    np.testing.assert_allclose(zero, zeros / S, rtol=0, atol=5 * np.sqrt(0.25 / rows))


def test_weights_are_uniform_before_they_are_normalised():
    """The share u / (u + w) of two uniform weights u and w is at most x < 1/2 with probability x / (2 (1 - x))."""
    rng = np.random.default_rng(5)
    p = np.concatenate([random_chain_mdp(rng, 2, 10, 0)[0][..., 0].ravel() for _ in range(200)])

    def distribution(x):
        least = np.minimum(x, 1 - x)
        below = least / (2 * (1 - least))
        return np.where(x < 0.5, below, 1 - below)

    assert kstest(p, distribution).pvalue > 1e-3


def test_rewards_are_uniform():
    rng = np.random.default_rng(6)
    R = np.concatenate([random_chain_mdp(rng, 5, 10, 2)[1].ravel() for _ in range(100)])
    assert kstest(R, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.9])
def test_value_is_the_sum_of_discounted_rewards(gamma: float):
    rng = np.random.default_rng(7)
    P, R = random_models(rng, 1, 6, 3, 2)
    policy = rng.integers(3, size=6)
    P_pi, R_pi = P[0, np.arange(6), policy], R[0, np.arange(6), policy]
    expected, V = R_pi, np.zeros(6)
    for power in range(500):
        V += gamma**power * expected
        expected = P_pi @ expected
    np.testing.assert_allclose(policy_value(P[0], R[0], policy, gamma), V, rtol=1e-13)


def test_leading_axes_broadcast():
    rng = np.random.default_rng(8)
    S, A, M, G = 4, 3, 5, 6
    P, R = random_models(rng, M, S, A)
    policy, gamma = rng.integers(A, size=(1, G, S)), rng.uniform(0, 0.99, (M, G))
    V = policy_value(P[:, None], R[:, None], policy, gamma)
    assert V.shape == (M, G, S)
    for i in range(M):
        for g in range(G):
            np.testing.assert_allclose(V[i, g], value_of(P[i], R[i], policy[0, g], gamma[i, g]), rtol=1e-12)


@pytest.mark.parametrize("S", [2, 3, 5])
def test_as_many_models_as_states_are_no_special_case(S: int):
    rng = np.random.default_rng(9)
    P, R = random_models(rng, S, S, 2)
    policy = rng.integers(2, size=(S, S))
    one_by_one = [policy_value(P[i], R[i], policy[i], 0.9) for i in range(S)]
    assert np.array_equal(policy_value(P, R, policy, 0.9), one_by_one)


@pytest.mark.parametrize("gamma", [0.0, 0.9, 0.9999])
def test_optimal_value_is_that_of_the_best_policy(gamma: float):
    P, R = random_models(np.random.default_rng(10), 8, 5, 3)
    for V, P_i, R_i in zip(optimal_value(P, R, gamma), P, R, strict=True):
        assert (1 - gamma) * np.abs(V - brute_force_value(P_i, R_i, gamma)).max() <= 1e-12


@pytest.mark.parametrize("gamma_eval", [0.0, 0.5, 0.99])
def test_loss_is_the_largest_difference_of_values_over_states(gamma_eval: float):
    P, R = random_models(np.random.default_rng(11), 4, 4, 3)
    policies = all_policies(4, 3)
    loss = planning_loss(P, R, np.tile(policies, (4, 1, 1)), gamma_eval)
    assert loss.shape == (4, 81)
    for i in range(4):
        expected = np.abs(brute_force_value(P[i], R[i], gamma_eval) - value_of(P[i], R[i], policies, gamma_eval)).max(1)
        np.testing.assert_allclose(loss[i], expected, rtol=1e-9, atol=1e-12 / (1 - gamma_eval))
        assert loss[i].max() > 0.1


@pytest.mark.parametrize("gamma_eval", [0.0, 0.5, 0.99, 0.9999])
def test_loss_is_not_negative_and_zero_for_optimal_policies_only(gamma_eval: float):
    P, R = random_models(np.random.default_rng(12), 6, 4, 2)
    policies = np.tile(all_policies(4, 2), (6, 1, 1))
    loss = planning_loss(P, R, policies, gamma_eval)
    assert np.all(loss >= 0)
    assert np.all((loss == 0).sum(1) == 1)
    assert np.all(planning_loss(P, R, PolicyIteration().plan(P, R, np.array([gamma_eval])), gamma_eval) == 0)


def test_loss_is_zero_for_tied_optimal_policies_too():
    rng = np.random.default_rng(13)
    P, R = models_with_equal_actions(rng, 10, 5, 3)
    optimal = PolicyIteration().plan(P, R, np.array([0.99]))
    tied = np.where(optimal == 0, 2, np.where(optimal == 2, 0, optimal))
    assert not np.array_equal(optimal, tied)
    assert np.all(planning_loss(P, R, tied, 0.99) == 0)


@pytest.mark.parametrize("gamma_eval", [0.5, 0.99])
def test_loss_is_the_same_with_the_optimal_value_given(gamma_eval: float):
    rng = np.random.default_rng(15)
    P, R = sampled_models(rng, 9, 6, 2, 5)
    policy = rng.integers(2, size=(9, 7, 6))
    V_star = optimal_value(P, R, gamma_eval)
    assert np.array_equal(planning_loss(P, R, policy, gamma_eval), planning_loss(P, R, policy, gamma_eval, V_star))


def test_loss_of_a_policy_does_not_depend_on_its_neighbours():
    rng = np.random.default_rng(16)
    P, R = random_models(rng, 5, 4, 2)
    few = rng.integers(2, size=(5, 3, 4))
    policy = few[:, [0, 0, 1, 0, 1, 1, 2, 2, 0]]
    each = np.stack([planning_loss(P, R, policy[:, [g]], 0.9)[:, 0] for g in range(9)], axis=1)
    assert np.array_equal(planning_loss(P, R, policy, 0.9), each)


@pytest.mark.parametrize("gamma_eval", [1.0, -0.1, np.nan])
def test_loss_refuses_a_gamma_that_is_none(gamma_eval: float):
    P, R = random_models(np.random.default_rng(17), 2, 3, 2)
    with pytest.raises(ValueError, match="gamma"):
        planning_loss(P, R, np.zeros((2, 1, 3), int), gamma_eval, np.zeros((2, 3)))


def test_loss_refuses_models_that_are_none():
    P, R = random_models(np.random.default_rng(18), 2, 3, 2)
    P[1, 2, 0] = 0
    with pytest.raises(ValueError, match=r"P\[1, 2, 0\]"):
        planning_loss(P, R, np.zeros((2, 1, 3), int), 0.9)
