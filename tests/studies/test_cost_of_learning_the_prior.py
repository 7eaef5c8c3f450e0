"""The steps of the proof of Theorem E, section 10 of theory.md, in models with two states and uniform rewards.

Arrays of models have the shape [n or 1, S, A, S], of rewards [n, S, A], of policies [n or 1, S].
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom, qmc

from pomrl.configuration.studies import find

PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1)]
"""All pairs (s, a), and all policies."""

GAMMA = 0.9
P_O = np.array([[[[0.7, 0.3], [0.5, 0.5]], [[0.5, 0.5], [0.2, 0.8]]]])
"""The mean model in the settings with several tasks."""

PAGE = " ".join((find("pomrl2023").folder / "pages" / "theory.md").read_text(encoding="utf-8").split())


class Threshold(NamedTuple):
    """The rewards from which an action is optimal, with policies and values of the problem without it."""

    b: np.ndarray
    policy: np.ndarray
    values: np.ndarray


def quasi_random_rewards(log2_n: int) -> np.ndarray:
    points = qmc.Sobol(4, rng=np.random.default_rng(3)).random_base2(log2_n)
    return points.reshape(-1, 2, 2)


def rows(array: np.ndarray, policy: np.ndarray) -> np.ndarray:
    """Return the entries [n, S, ...] of the actions of a policy."""
    return array[np.arange(len(array))[:, None], np.arange(2), policy]


def occupancy(P: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    """Return (I - gamma P_pi)^-1."""
    return np.linalg.inv(np.eye(2) - gamma * rows(P, policy))


def apply(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("nst,nt->ns", matrices, vectors)


def value(P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    return apply(occupancy(P, policy, gamma), rows(R, policy))


def plan(P: np.ndarray, R: np.ndarray, gamma: float, without: tuple[int, int] | None = None) -> np.ndarray:
    """Return the optimal policies [n, S], in the problem without a pair (s, a)."""
    policies = [pi for pi in PAIRS if without is None or pi[without[0]] != without[1]]
    return np.array(policies)[np.argmax([value(P, R, np.array([pi]), gamma).sum(1) for pi in policies], axis=0)]


def loss(P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    return (value(P, R, plan(P, R, gamma), gamma) - value(P, R, policy, gamma)).max(1)


def threshold(Q: np.ndarray, R: np.ndarray, pair: tuple[int, int], gamma: float) -> Threshold:
    policy = plan(Q, R, gamma, without=pair)
    values = value(Q, R, policy, gamma)
    return Threshold(values[:, pair[0]] - gamma * (Q[:, *pair] * values).sum(1), policy, values)


def derivative(Q: np.ndarray, D: np.ndarray, point: Threshold, pair: tuple[int, int], gamma: float) -> np.ndarray:
    """Return the derivative of the threshold along D, with the policy held."""
    change = gamma * apply(occupancy(Q, point.policy, gamma) @ rows(D, point.policy), point.values)
    return change[:, pair[0]] - gamma * ((D[:, *pair] * point.values).sum(1) + (Q[:, *pair] * change).sum(1))


def is_a_reward(b: np.ndarray) -> np.ndarray:
    """Return the density of a uniform reward at b."""
    return (b > 0) & (b < 1)


def distance(D: np.ndarray) -> float:
    return 0.5 * np.abs(D).sum(-1).max()


def random_models(gamma: float, n: int) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Yield models Q, directions D with Q + D a model, and beta times the distance of the two."""
    rng = np.random.default_rng(5)
    for concentration in rng.choice([0.05, 0.5, 2.0], n):
        Q, other = rng.dirichlet([concentration] * 2, (2, 1, 2, 2))
        yield Q, other - Q, 2 * gamma / (1 - gamma) ** 2 * distance(other - Q)


def test_the_page_has_theorem_es_constant():
    beta = 2 * 0.99 / 0.01**2
    K = 20 * 100 * beta**2 * (20 / 2 + 2 * 1 / 0.01 + (2 - 0.99))
    assert rf"$K$ is about ${K / 1e14:.1f}\cdot10^{{14}}$" in PAGE


def formula_14(P: np.ndarray, Q: np.ndarray, D: np.ndarray, R: np.ndarray, gammas: tuple[float, float]) -> float:
    total = 0.0
    for pair in PAIRS:
        point, tied = threshold(Q, R, pair, gammas[0]), R.copy()
        tied[:, *pair] = point.b
        lost = loss(P, tied, point.policy, gammas[1])
        total += (is_a_reward(point.b) * derivative(Q, D, point, pair, gammas[0]) * lost).mean()
    return total


@pytest.mark.parametrize("seed", [2, 3, 4, 5])
def test_formula_14_is_the_mean_derivative(seed: int):
    P, Q, other = np.random.default_rng(seed).dirichlet([1.0, 1.0], (3, 1, 2, 2))
    R, Q = quasi_random_rewards(15), 0.6 * Q + 0.2
    below, above = (loss(P, R, plan(Q + step * (other - Q), R, 0.7), 0.8).mean() for step in (-0.1, 0.1))
    formula = formula_14(P, Q, other - Q, R, (0.7, 0.8))
    assert formula == pytest.approx((above - below) / 0.2, abs=0.005)


@pytest.mark.parametrize(("gamma", "attained"), [(0.3, 0.8), (0.9, 0.15), (0.99, 0.004)])
def test_threshold_changes_respect_bounds_i_and_ii(gamma: float, attained: float):
    R, shares = quasi_random_rewards(6).round(), []
    for Q, D, beta_d in random_models(gamma, 300):
        first, middle, last = (threshold(Q + step * D, R, (0, 1), gamma) for step in (0, 0.05, 0.1))
        same = (first.policy == middle.policy).all(1) & (first.policy == last.policy).all(1)
        bend = (last.b - 2 * middle.b + first.b)[same] / (2 * (1 - gamma) * (0.05 * beta_d) ** 2)
        shares.append([np.abs(last.b - first.b).max() / (0.1 * beta_d), np.abs(bend).max(initial=0)])
    largest = np.max(shares, axis=0)
    assert largest == pytest.approx(np.clip(largest, attained, 1))


@pytest.mark.parametrize(("gamma", "attained"), [(0.3, 0.1), (0.9, 0.004)])
def test_policy_switches_respect_bound_iii(gamma: float, attained: float):
    R, shares = quasi_random_rewards(12), []
    for Q, D, beta_d in random_models(gamma, 60):
        switched = (plan(Q, R, gamma) != plan(Q + 0.1 * D, R, gamma)).any(1)
        shares.append(switched.mean() / (2 * 0.1 * beta_d))
    assert attained < max(shares) <= 1


@pytest.mark.parametrize("gamma", [0.3, 0.9, 0.99])
def test_threshold_rises_respect_bound_iv(gamma: float):
    R, rises = quasi_random_rewards(6) * 0.9, []
    raised = R + 0.1 * np.array([[1, 0], [0, 0]])
    for Q, _, _ in random_models(gamma, 300):
        rises += [*(threshold(Q, raised, (0, 1), gamma).b - threshold(Q, R, (0, 1), gamma).b)]
    assert min(rises) == pytest.approx(0.1 * (1 - gamma))  # attained


def terms_of_pair(R: np.ndarray, pair: tuple[int, int]) -> tuple[float, float]:
    """Return the terms of a pair in (16), and its lower bound (15)."""
    point, (s, a) = threshold(P_O, R, pair, GAMMA), pair
    entries = [np.array([-1.0, 1.0]) * (np.eye(4)[k].reshape(1, 2, 2, 1)) for k in range(4)]
    noise = (P_O[..., 0] * P_O[..., 1]).ravel()
    variance = sum(v * derivative(P_O, D, point, pair, GAMMA) ** 2 for v, D in zip(noise, entries, strict=True))
    with_a = np.where(np.arange(2) == s, a, point.policy)
    limit = is_a_reward(point.b) * variance * occupancy(P_O, with_a, GAMMA)[:, s, s] / 4
    lower = is_a_reward(point.b) * GAMMA**2 / 2 * P_O[0, s, a].prod() * (point.values[:, 1] - point.values[:, 0]) ** 2
    return limit.mean(), lower.mean()


def losses_after(n: int, R: np.ndarray) -> np.ndarray:
    """Return the losses after n tasks that are equal, with one transition from each pair in each."""
    frequency = np.random.default_rng(9).binomial(n, P_O[..., 1], R.shape) / n
    return loss(P_O, R, plan(np.stack([1 - frequency, frequency], -1), R, GAMMA), GAMMA)


def test_the_loss_tends_to_limit_16():
    terms, lower = np.transpose([terms_of_pair(quasi_random_rewards(15), pair) for pair in PAIRS])
    losses = 64 * losses_after(64, np.random.default_rng(8).random((200_000, 2, 2)))
    mean, half_width = losses.mean(), 1.96 * losses.std() / len(losses) ** 0.5
    assert mean - half_width > lower.max()
    assert mean == pytest.approx(terms.sum(), abs=2 * half_width)
    limit, simulated = f"(16) is {terms.sum():.2f}. Simulated, ", f"is ${mean:.2f}\\pm{half_width:.2f}$ at $t-1=64$"
    assert limit + r"$(t-1)\,\mathbb E\mathcal L_t$ " + simulated in PAGE


def with_row(q: float) -> np.ndarray:
    """Return the mean model with q for the probability of the only row that differs among tasks."""
    P = P_O.copy()
    P[0, 0, 1] = [1 - q, q]
    return P


def losses_of_policies(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return the losses of the four policies [n, action in state 0, action in state 1]."""
    return np.stack([loss(P, R, np.array([policy]), GAMMA) for policy in PAIRS], axis=1).reshape(-1, 2, 2)


def excess_given_rewards(R: np.ndarray, n: int, sigma: float = 0.3, w: float = 0.5) -> np.ndarray:
    """Return the loss less that of the told learner, after n tasks at .5 +- sigma; m = 1."""
    total = np.zeros(len(R))
    up, down = (losses_of_policies(with_row(q), R) for q in (0.5 + sigma, 0.5 - sigma))
    for own, sign in ((1, 1), (0, -1)):
        expected = (0.5 + sign * sigma) * up + (0.5 - sign * sigma) * down
        for count, weight in [*enumerate(binom.pmf(np.arange(n + 1), n, 0.5)), (n / 2, -1.0)]:
            policy = plan(with_row(w * count / n + (1 - w) * own), R, GAMMA)
            total += 0.5 * weight * expected[np.arange(len(R)), policy[:, 0], policy[:, 1]]
    return total


def numbers_of_page(sentence: str) -> list[float]:
    """Return the numbers for each # in a sentence of the page."""
    printed = re.search(re.escape(sentence).replace(r"\#", r"(\d+\.\d+)"), PAGE)
    return [float(number) for number in printed.groups()] if printed else []


def test_mean_excess_falls_faster_than_size():
    few, many = (excess_given_rewards(quasi_random_rewards(14), n) for n in (16, 64))
    ratios = [few.mean() / many.mean(), np.abs(few).mean() / np.abs(many).mean()]
    page = numbers_of_page("mean excess falls by a factor of #, its mean size given $R$ by #.")
    assert ratios == pytest.approx(page, rel=0.05)


def test_the_sum_spreads_more_than_its_mean():
    R = quasi_random_rewards(11)
    total = np.sum([excess_given_rewards(R, n) for n in range(1, 33)], axis=0)
    page = numbers_of_page("The sum over tasks 2 to 33 has the mean # and the standard deviation #.")
    assert [total.mean(), total.std()] == pytest.approx(page, rel=0.05)
