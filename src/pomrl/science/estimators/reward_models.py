"""Estimates of rewards; the paper takes rewards as known (Sec. 2).

Sampled rewards have normal noise. Losses always use the true rewards.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from pomrl.science.data import Batch
from pomrl.science.mdp import Rewards, expected_rewards
from pomrl.science.randomness import Generators

RewardModel = Literal["known", "own", "pooled", "shrunk"]
"""Known rewards, or estimates: means of the task's own samples, of all samples, or empirical Bayes between the two."""

Broadcast = Float[np.ndarray, "..."] | float
"""Numbers that broadcast with `PairValues`."""

PairValues = Float[np.ndarray, "n K S A"]
"""A number for each pair (s, a) in each trial of each run."""


@dataclass(frozen=True)
class RewardMemory:
    """The sums over past tasks with samples of a pair."""

    tasks: PairValues | float = 0.0
    visits: PairValues | float = 0.0
    """Number of samples."""
    rewards: PairValues | float = 0.0
    """Sum of all sampled rewards."""
    means: PairValues | float = 0.0
    """Sum of the means of tasks."""
    squares: PairValues | float = 0.0
    """Sum of the squares of the means of tasks."""
    inverse: PairValues | float = 0.0
    """Sum over tasks of 1 / N with the number N of samples."""

    def update(self, mean: PairValues, N: PairValues) -> "RewardMemory":
        is_sampled = (N > 0).astype(float)
        return RewardMemory(
            tasks=self.tasks + is_sampled,
            visits=self.visits + N,
            rewards=self.rewards + N * mean,
            means=self.means + is_sampled * mean,
            squares=self.squares + is_sampled * mean**2,
            inverse=self.inverse + _ratio(is_sampled, N),
        )

    def spread(self, noise: float, otherwise: float) -> Float[np.ndarray, "n K 1 1"]:
        """Return the variance of rewards over tasks, averaged over pairs.

        Only pairs with samples in two or more tasks count; without any, the result is `otherwise`.
        """
        tasks = np.asarray(self.tasks)
        mean_variance = _ratio(self.squares - _ratio(self.means**2, tasks), tasks - 1.0)
        variance = mean_variance - noise**2 * _ratio(self.inverse, tasks)
        is_sufficient = tasks >= 2
        pairs = is_sufficient.sum((-2, -1), dtype=float, keepdims=True)
        total = np.where(is_sufficient, variance, 0.0).sum((-2, -1), keepdims=True)
        return np.where(pairs > 0, np.maximum(_ratio(total, pairs), 0.0), otherwise)


def sample_means(rngs: Generators, noise: float, own: Batch, R: Rewards) -> Float[np.ndarray, "n K S A"]:
    """Draw the mean sampled reward of each pair in a task.

    R has the true rewards of each run; `noise` is the standard deviation of one reward. Numbers of
    pairs without samples have no meaning.
    """
    means = expected_rewards(np.repeat(R[:, None], own.P_bar.shape[1], axis=1), own.P_bar)
    deviates = np.stack([rng.standard_normal(own.P_bar.shape[1:-1]) for rng in rngs])
    return means + noise * deviates / np.sqrt(np.maximum(own.visits, 1.0))


@dataclass(frozen=True)
class RewardLearning:
    """The settings for estimating rewards."""

    model: RewardModel
    noise: float
    """Standard deviation of a reward's noise."""
    low: float
    high: float
    """An unknown reward is uniform in [low, high], in the paper [0, 1]."""

    @property
    def prior(self) -> tuple[float, float]:
        """The mean and variance of an unknown reward."""
        return (self.low + self.high) / 2.0, (self.high - self.low) ** 2 / 12.0

    def estimate(self, memory: RewardMemory, mean: PairValues, N: PairValues) -> tuple[PairValues, RewardMemory]:
        """Return the rewards to plan with, and the next memory.

        `mean` is over N samples. A pair without samples has the prior mean, unless the model uses other tasks.
        """
        learned, (prior_mean, prior_variance) = memory.update(mean, N), self.prior
        if self.model == "own":
            return np.where(N > 0, mean, prior_mean), learned
        if self.model == "pooled":
            return np.where(learned.visits > 0, _ratio(learned.rewards, learned.visits), prior_mean), learned
        spread, error = learned.spread(self.noise, prior_variance), self.noise**2
        tasks = np.broadcast_to(memory.tasks, mean.shape)
        mean_error = _ratio(spread + error * _ratio(memory.inverse, tasks), tasks)
        centre, variance = _posterior(prior_mean, prior_variance, _ratio(memory.means, tasks), mean_error, tasks > 0)
        return _posterior(centre, variance + spread, mean, error * _ratio(1.0, N), N > 0)[0], learned


def _posterior(
    mean: Broadcast, variance: Broadcast, observed: Broadcast, error: Broadcast, is_observed: Bool[np.ndarray, "..."]
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    weight = np.where(is_observed, _ratio(variance, variance + error, 1.0), 0.0)
    return mean + weight * (observed - mean), (1.0 - weight) * variance


def _ratio(a: Broadcast, b: Broadcast, otherwise: float = 0.0) -> Float[np.ndarray, "..."]:
    """Return a / b, and `otherwise` where b <= 0."""
    a, b = np.broadcast_arrays(np.asarray(a, float), np.asarray(b, float))
    return np.divide(a, b, out=np.full(a.shape, otherwise), where=b > 0)
