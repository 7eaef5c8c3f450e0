"""Rewards that are not known: what is sampled, and what is made of it."""

import numpy as np
import pytest

from pomrl.science.data import Batch
from pomrl.science.estimators.reward_models import (
    RewardLearning,
    RewardMemory,
    RewardModel,
    sample_means,
)

SHAPE = (500, 1, 3, 2)
NOISE = 0.3


def estimates(model: RewardModel, R: np.ndarray, N: int, T: int, noise: float = NOISE) -> list[np.ndarray]:
    """The estimated rewards of T tasks whose rewards R have been sampled N times in each pair."""
    rng, memory, actual = np.random.default_rng(0), RewardMemory(), []
    for t in range(T):
        mean = R[t] + noise * rng.standard_normal(SHAPE) / np.sqrt(N)
        estimate, memory = RewardLearning(model, noise, 0.0, 1.0).estimate(memory, mean, np.full(SHAPE, float(N)))
        actual.append(estimate)
    return actual


def errors(spread: float, T: int = 12) -> dict[str, float]:
    """The root mean squared error in the last task of each model, where rewards vary over tasks by `spread`."""
    rng = np.random.default_rng(1)
    R = rng.random(SHAPE) + spread * rng.standard_normal((T, *SHAPE))
    models: tuple[RewardModel, ...] = ("own", "pooled", "shrunk")
    return {model: float(np.sqrt(np.mean((estimates(model, R, 5, T)[-1] - R[-1]) ** 2))) for model in models}


def test_reward_errors_are_those_of_means():
    equal = errors(0.0)
    assert equal["own"] == pytest.approx(NOISE / np.sqrt(5), rel=0.05)
    assert equal["pooled"] == pytest.approx(NOISE / np.sqrt(60), rel=0.05)


def test_shrunk_rewards_are_nearly_best():
    for spread in (0.0, 0.1, 0.5):
        actual = errors(spread)
        assert actual["shrunk"] < 1.1 * min(actual["own"], actual["pooled"])


def test_unsampled_pairs_use_prior_or_tasks():
    none, some = np.zeros(SHAPE), np.full(SHAPE, 5.0)
    expected: dict[RewardModel, float] = {"own": 4.0, "pooled": 0.9, "shrunk": 0.9}
    for model, later in expected.items():
        learning = RewardLearning(model, NOISE, -2.0, 10.0)
        first, memory = learning.estimate(RewardMemory(), np.full(SHAPE, 0.1), none)
        np.testing.assert_allclose(first, 4.0)
        for _ in range(200):
            _, memory = learning.estimate(memory, np.full(SHAPE, 0.9), some)
        last, _ = learning.estimate(memory, np.full(SHAPE, 0.1), none)
        np.testing.assert_allclose(last, later, atol=0.01)


def test_sampled_means_have_their_noise():
    batch = Batch.of_counts(np.full((2000, 1, 2, 1, 2), 4), 8)
    R = np.tile([[[0.2], [0.8]]], (2000, 1, 1))
    means = sample_means([np.random.default_rng(run) for run in range(2000)], NOISE, batch, R)
    np.testing.assert_allclose(means.mean(0)[0, :, 0], [0.2, 0.8], atol=0.01)
    assert means.std(0) == pytest.approx(NOISE / np.sqrt(8), rel=0.05)


def test_unknown_rewards_have_a_uniform_prior():
    draws = np.random.default_rng(0).uniform(-1.0, 3.0, 10**6)
    assert RewardLearning("own", NOISE, -1.0, 3.0).prior == pytest.approx((draws.mean(), draws.var()), rel=0.01)


def test_reward_estimates_scale_with_the_rewards():
    """Rewards, noise and prior times 40, less 7: estimates are so too."""
    mean, N = np.random.default_rng(0).random(SHAPE), np.random.default_rng(1).integers(0, 4, SHAPE).astype(float)
    models: tuple[RewardModel, ...] = ("own", "pooled", "shrunk")
    for model in models:
        memory = scaled = RewardMemory()
        for _ in range(3):
            estimate, memory = RewardLearning(model, NOISE, 0.0, 1.0).estimate(memory, mean, N)
            other, scaled = RewardLearning(model, 40 * NOISE, -7.0, 33.0).estimate(scaled, 40 * mean - 7, N)
            np.testing.assert_allclose(other, 40 * estimate - 7, atol=1e-9)


def test_the_spread_of_rewards_is_unbiased():
    rng, memory = np.random.default_rng(0), RewardMemory()
    for _ in range(3):
        N = rng.integers(0, 3, SHAPE).astype(float)
        error = NOISE * rng.standard_normal(SHAPE) / np.sqrt(np.maximum(N, 1.0))
        memory = memory.update(0.5 * rng.standard_normal(SHAPE) + error, N)
    assert memory.spread(NOISE, 0.0).mean() == pytest.approx(0.5**2, rel=0.05)


def test_shrunk_rewards_are_normal_posterior_means():
    samples = 0.5 + 0.3 * np.random.default_rng(0).standard_normal((4, *SHAPE))
    learning, memory, estimate = RewardLearning("shrunk", NOISE, 0.0, 1.0), RewardMemory(), samples[0]
    for mean in samples:
        estimate, memory = learning.estimate(memory, mean, np.full(SHAPE, 2.0))
    for run, spread in enumerate(memory.spread(NOISE, 0.0)[:9, 0, 0, 0]):
        covariance = 1 / 12 + (spread + NOISE**2 / 2) * np.eye(4)  # of samples; the mean of rewards is unknown
        weight = np.linalg.solve(covariance, 1 / 12 + spread * np.eye(4)[3])
        np.testing.assert_allclose(estimate[run], 0.5 + np.tensordot(weight, samples[:, run] - 0.5, 1))
