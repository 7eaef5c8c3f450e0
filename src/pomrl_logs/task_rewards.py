"""What the rewards of a log say of each task: a normal model whose variances are estimated.

A reward in task k for the transition from (s, a) to s' is

    r  =  θ(s, a, s') + ε(k, s, a) + noise,    θ(s, a, s') = μ + ν(s, a) + δ(s, a, s'),

where ν, δ, ε and the noise are normal with a variance each, which moments of the log estimate. So the rewards of other
tasks are a prior for those of a task, as far as tasks have been alike. Pairs are independent of each other.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

LEAST = 1e-9
"""The least variance, in units of the variance of all rewards, so that no matrix is singular."""

SMALLEST = 1e-12
"""The same, in units of the squared mean of rewards, of whose variance rounding leaves no more."""

Sums = Float[np.ndarray, "K S A S"]
"""A sum over the transitions of each task."""


@dataclass(frozen=True)
class Variances:
    """The variances of rewards."""

    of_pairs: float
    """That of ν, the means of pairs."""
    of_successors: float
    """That of δ, by which next states change the reward."""
    of_tasks: float
    """That of ε, by which tasks differ."""
    of_noise: float
    """That of a reward given its task, pair and next state."""


@dataclass(frozen=True, eq=False)
class KnownRewards:
    """Rewards that the user knows."""

    R: Float[np.ndarray, "#K S A S"]
    """R(s, a, s') of each task, or of all."""

    @property
    def theta(self) -> Float[np.ndarray, "S A S"]:
        """What a transition pays in a task that the log does not have."""
        return self.R.mean(0)

    def mean(self, task: int, P: Float[np.ndarray, "S A S"]) -> Float[np.ndarray, "S A"]:
        """Return the expected rewards of pairs of a task in this model."""
        return (P * self.R[task % len(self.R)]).sum(-1)


@dataclass(frozen=True, eq=False)
class LearnedRewards:
    """The posterior of rewards: ν and δ of a pair are normal together, and given them so is ε of each task."""

    places: Int[np.ndarray, "S A D"]
    """The states that have followed each pair, and others where fewer than D have."""
    visits: Float[np.ndarray, "K S A D"]
    """The number of transitions to these states."""
    total: Float[np.ndarray, "K S A D"]
    """The sums of their rewards, less the average."""
    variances: Variances
    average: float
    """μ, the mean of all rewards."""

    @cached_property
    def _shared(self) -> Float[np.ndarray, "K S A"]:
        """The visits of pairs, and those that the prior of ε is worth."""
        return self.visits.sum(-1) + self.variances.of_noise / self.variances.of_tasks

    @cached_property
    def _precision(self) -> Float[np.ndarray, "S A E E"]:
        """The precision of ν and δ, with ε integrated out."""
        n, v = self.visits, self.variances
        crossed = np.einsum("ksai,ksaj->saij", n / self._shared[..., None], n, optimize=True)
        of_theta = (np.eye(n.shape[-1]) * n.sum(0)[..., None, :] - crossed) / v.of_noise
        prior = np.diag([1.0 / v.of_pairs, *[1.0 / v.of_successors] * n.shape[-1]])
        return prior + _with_total(_with_total(of_theta, -1), -2)

    @cached_property
    def _effects(self) -> Float[np.ndarray, "S A E"]:
        """The posterior means of ν and δ."""
        gap = self.total - self.visits * (self.total.sum(-1) / self._shared)[..., None]
        right = _with_total(gap.sum(0) / self.variances.of_noise, -1)
        return np.linalg.solve(self._precision, right[..., None])[..., 0]

    @cached_property
    def theta(self) -> Float[np.ndarray, "S A S"]:
        """The posterior mean of θ, what a transition pays in a task that the log does not have."""
        others = np.zeros((*self.places.shape[:-1], len(self.places)))
        np.put_along_axis(others, self.places, self._effects[..., 1:], -1)
        return self.average + self._effects[..., :1] + others

    def mean(self, task: int, P: Float[np.ndarray, "S A S"]) -> Float[np.ndarray, "S A"]:
        """Return the posterior mean of the expected rewards of pairs of a task in this model."""
        of_seen = np.take_along_axis(self.theta, self.places, -1) - self.average
        own = (self.total[task] - self.visits[task] * of_seen).sum(-1) / self._shared[task]
        return (P * self.theta).sum(-1) + own


def _with_total(values: Float[np.ndarray, "..."], axis: int) -> Float[np.ndarray, "..."]:
    """Return the values along an axis after their sum."""
    return np.concatenate([values.sum(axis, keepdims=True), values], axis)


def learn_rewards(counts: Int[np.ndarray, "K S A S"], total: Sums, squares: Sums) -> LearnedRewards:
    """Return what sums of rewards, and of their squares, say of the rewards of each task.

    Variances are those by which cells, tasks, successors and pairs differ beyond the errors of their means (DerSimonian
    and Laird, 1986). Where no cell has two rewards, what tasks differ by is taken for noise.
    """
    n = counts.astype(float)
    mean = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
    average = float(total.sum() / n.sum())
    scale = max(float(squares.sum() / n.sum()) - average**2, 0.0)
    least = LEAST * scale + SMALLEST * average**2 or SMALLEST  # of rewards that are all 0
    freedom = float((n - 1.0).clip(0).sum())
    noise = max(float((squares - n * mean**2).clip(0).sum()) / max(freedom, 1.0), least)
    tasks = between(mean, n / noise, 0)
    if not freedom:
        noise, tasks = max(tasks, least), 0.0
    weight = n / (noise + n * tasks)
    centre = _ratio((weight * mean).sum(0), weight.sum(0))
    successors = between(centre, weight.sum(0), -1)
    variances = Variances(scale + least, max(successors, least), max(tasks, least), noise)
    pooled = counts.sum(0)
    places = (-pooled).argsort(-1, kind="stable")[..., : int((pooled > 0).sum(-1).max())]
    visits, gaps = (np.take_along_axis(numbers, places[None], -1) for numbers in (n, total - n * average))
    return LearnedRewards(places, visits, gaps, variances, average)


def between(values: Float[np.ndarray, "..."], weight: Float[np.ndarray, "..."], axis: int) -> float:
    """Return the variance of values along an axis beyond their errors.

    Args:
        values: Numbers with errors.
        weight: The inverse of the variance of each error, 0 where there is no value.
        axis: The axis along which they are compared.
    """
    total = weight.sum(axis, keepdims=True)
    centre = _ratio((weight * values).sum(axis, keepdims=True), total)
    chi_square = float((weight * (values - centre) ** 2).sum())
    freedom = float(((weight > 0).sum(axis) - 1).clip(0).sum())
    spare = float((total - _ratio((weight**2).sum(axis, keepdims=True), total)).sum())
    return max(chi_square - freedom, 0.0) / spare if spare > 0 else 0.0


def _ratio(a: Float[np.ndarray, "..."], b: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
