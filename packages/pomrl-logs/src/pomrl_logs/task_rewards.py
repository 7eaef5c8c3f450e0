"""Learn the rewards of each task with a normal model and estimated variances.

A reward in task k for the transition from (s, a) to s' is

    r  =  θ(s, a, s') + ε(k, s, a) + noise,    θ(s, a, s') = μ + ν(s, a) + δ(s, a, s').

The effects ν, δ, ε and the noise are normal, with variances estimated by moments. Pairs (s, a) are independent.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

MIN_RELATIVE_VARIANCE = 1e-9
"""The smallest variance, in units of the variance of all rewards; it keeps matrices regular."""

MIN_VARIANCE_OF_MEAN = 1e-12
"""The smallest variance, in units of the squared mean of rewards, because of rounding."""

Sums = Float[np.ndarray, "K S A S"]
"""A sum over the transitions of each task."""


@dataclass(frozen=True)
class Variances:
    """The variances of rewards."""

    pair_variance: float
    """The variance of ν, the means of pairs."""
    successor_variance: float
    """The variance of δ, the effects of next states."""
    task_variance: float
    """The variance of ε, the effects of tasks."""
    noise_variance: float
    """The variance of rewards given task, pair and next state."""


@dataclass(frozen=True, eq=False)
class KnownRewards:
    """Exactly known rewards."""

    R: Float[np.ndarray, "#K S A S"]
    """R(s, a, s') of each task, or one array for all tasks."""

    @property
    def theta(self) -> Float[np.ndarray, "S A S"]:
        """The expected reward of each transition in a new task."""
        return self.R.mean(0)

    def mean(self, task: int, P: Float[np.ndarray, "S A S"]) -> Float[np.ndarray, "S A"]:
        """Return a task's expected rewards of pairs, given its model."""
        return (P * self.R[task % len(self.R)]).sum(-1)


@dataclass(frozen=True, eq=False)
class LearnedRewards:
    """The posterior of rewards, with normal effects ν, δ and ε."""

    indices: Int[np.ndarray, "S A D"]
    """The successors of each pair, padded to D with other states."""
    visits: Float[np.ndarray, "K S A D"]
    """The number of transitions to each successor."""
    total: Float[np.ndarray, "K S A D"]
    """The sum of (reward - average) over these transitions."""
    variances: Variances
    average: float
    """μ, the mean of all rewards."""

    @cached_property
    def _shared(self) -> Float[np.ndarray, "K S A"]:
        return self.visits.sum(-1) + self.variances.noise_variance / self.variances.task_variance

    @cached_property
    def _precision(self) -> Float[np.ndarray, "S A E E"]:
        """The precision of ν and δ, with ε integrated out."""
        n, v = self.visits, self.variances
        crossed = np.einsum("ksai,ksaj->saij", n / self._shared[..., None], n, optimize=True)
        information = (np.eye(n.shape[-1]) * n.sum(0)[..., None, :] - crossed) / v.noise_variance
        prior = np.diag([1.0 / v.pair_variance, *[1.0 / v.successor_variance] * n.shape[-1]])
        return prior + _with_total(_with_total(information, -1), -2)

    @cached_property
    def _effects(self) -> Float[np.ndarray, "S A E"]:
        """The posterior means of ν and δ."""
        gap = self.total - self.visits * (self.total.sum(-1) / self._shared)[..., None]
        right = _with_total(gap.sum(0) / self.variances.noise_variance, -1)
        return np.linalg.solve(self._precision, right[..., None])[..., 0]

    @cached_property
    def theta(self) -> Float[np.ndarray, "S A S"]:
        """The posterior mean of θ, the rewards of a new task."""
        successors = np.zeros((*self.indices.shape[:-1], len(self.indices)))
        np.put_along_axis(successors, self.indices, self._effects[..., 1:], -1)
        return self.average + self._effects[..., :1] + successors

    def mean(self, task: int, P: Float[np.ndarray, "S A S"]) -> Float[np.ndarray, "S A"]:
        expected = np.take_along_axis(self.theta, self.indices, -1) - self.average
        own = (self.total[task] - self.visits[task] * expected).sum(-1) / self._shared[task]
        return (P * self.theta).sum(-1) + own


def _with_total(values: Float[np.ndarray, "..."], axis: int) -> Float[np.ndarray, "..."]:
    return np.concatenate([values.sum(axis, keepdims=True), values], axis)


def learn_rewards(counts: Int[np.ndarray, "K S A S"], total: Sums, squares: Sums) -> LearnedRewards:
    """Learn the tasks' rewards from sums of rewards and squared rewards.

    Estimated variances exclude the sampling errors of means (DerSimonian and Laird, 1986). If no task has two rewards
    of one transition, the variance between tasks counts as noise.
    """
    n = counts.astype(float)
    mean = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
    average = float(total.sum() / n.sum())
    scale = max(float(squares.sum() / n.sum()) - average**2, 0.0)
    least = (
        MIN_RELATIVE_VARIANCE * scale + MIN_VARIANCE_OF_MEAN * average**2 or MIN_VARIANCE_OF_MEAN
    )  # if all rewards are 0
    freedom = float((n - 1.0).clip(0).sum())
    noise = max(float((squares - n * mean**2).clip(0).sum()) / max(freedom, 1.0), least)
    tasks = variance_between(mean, n / noise, 0)
    if not freedom:
        noise, tasks = max(tasks, least), 0.0
    weight = n / (noise + n * tasks)
    centre = _ratio((weight * mean).sum(0), weight.sum(0))
    successors = variance_between(centre, weight.sum(0), -1)
    variances = Variances(scale + least, max(successors, least), max(tasks, least), noise)
    pooled = counts.sum(0)
    successors_seen = (-pooled).argsort(-1, kind="stable")[..., : int((pooled > 0).sum(-1).max())]
    visits, gaps = (np.take_along_axis(numbers, successors_seen[None], -1) for numbers in (n, total - n * average))
    return LearnedRewards(successors_seen, visits, gaps, variances, average)


def variance_between(values: Float[np.ndarray, "..."], weight: Float[np.ndarray, "..."], axis: int) -> float:
    """Estimate the variance of values along an axis, without their errors.

    `weight` has the inverse variance of each error, or 0 for a missing value.
    """
    total = weight.sum(axis, keepdims=True)
    centre = _ratio((weight * values).sum(axis, keepdims=True), total)
    chi_square = float((weight * (values - centre) ** 2).sum())
    freedom = float(((weight > 0).sum(axis) - 1).clip(0).sum())
    spare = float((total - _ratio((weight**2).sum(axis, keepdims=True), total)).sum())
    return max(chi_square - freedom, 0.0) / spare if spare > 0 else 0.0


def _ratio(a: Float[np.ndarray, "..."], b: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
