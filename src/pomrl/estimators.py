"""Estimators of a task's transition model from its own batch and from the batches of the tasks before.

There is one formula, the closed form of regularised least squares (Eq. 4, App. B),

    P_hat_t = α_t h_t + (1 - α_t) P_bar_t,

with the frequencies P_bar_t of the task's own batch, a prior h_t and a mixing rate α_t. Estimators differ in where the
prior, the similarity σ of the tasks and the mixing rate come from.
"""

from dataclasses import dataclass as plain_dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float, Num
from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED, read_only

Prior = Literal["inclusive", "exclusive", "known"]
"""A prior that is learned from the batches of all tasks, or of all but the task's own, or the true mean model (A2)."""

Models = Float[np.ndarray, "n S A S"]
"""A transition model for each of n runs."""

PerPair = Float[np.ndarray, "n #S #A"]
"""A number for each pair (s, a) of each of n runs, or one number for all pairs of a run."""


@plain_dataclass(frozen=True)
class Truth:
    """The true moments of the task distribution in each of n runs, which some estimators are told."""

    P_o: Models
    """Mean over tasks of each entry of the model."""
    variance: Models
    """Variance over tasks of each entry of the model."""


@plain_dataclass(frozen=True)
class Memory:
    """Sufficient statistics of the batches of all tasks so far, for each of n runs."""

    tasks: int
    """Number of tasks so far."""
    P_o_hat: Models
    """Average of the frequencies P_bar over tasks (Eq. 5, App. C); uniform before the first task."""
    squares: Models
    """Sum over tasks of the squared deviations of P_bar from its average (Welford)."""
    noise: Models
    """Sum over tasks of P_bar (1 - P_bar)."""

    def __post_init__(self) -> None:
        read_only(self.P_o_hat, self.squares, self.noise)

    @staticmethod
    def initial(n: int, S: int, A: int) -> "Memory":
        """Return the memory before the first task."""
        zero = np.zeros((n, S, A, S))
        return Memory(0, np.full((n, S, A, S), 1.0 / S), zero, zero)

    def update(self, P_bar: Models) -> "Memory":
        """Return the memory after one more task with the frequencies P_bar, by Welford's algorithm (App. C)."""
        tasks = self.tasks + 1
        deviation = P_bar - (self.P_o_hat if self.tasks else P_bar)
        P_o_hat = (self.P_o_hat if self.tasks else P_bar) + deviation / tasks
        squares = self.squares + deviation * (P_bar - P_o_hat)
        return Memory(tasks, P_o_hat, squares, self.noise + P_bar * (1.0 - P_bar))

    def variance(self, kind: str) -> Models:
        """Return the variance over tasks of each entry of P_bar.

        The kind is `sample`, which divides by the number of tasks - 1, or `population`, which divides by their number
        (A3).
        """
        return self.squares / (self.tasks - (kind == "sample"))

    def sampling_variance(self, m: int) -> Models:
        """Return an unbiased estimate of E[p (1 - p)], the variance of a single sampled transition, for m >= 2."""
        return self.noise / self.tasks * (m / (m - 1))


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Estimator:
    """The estimate P_hat_t = alpha_t h_t + (1 - alpha_t) P_bar_t of a task's model (Eq. 4), with a choice of its parts.

    An estimator has no state; what it learns from task to task is in the `Memory`. Other estimators are subclasses that
    override `prior_model`, `similarity_estimate` or `mixing_rate`.
    """

    mixing: Annotated[
        Literal["paper", "mse_bound", "mse_optimal"] | Annotated[float, Field(ge=0, le=1)],
        Field(description="the mixing rate alpha_t: the paper's, a minimiser of the mean squared error (E4), a number"),
    ]
    prior: Annotated[
        Prior,
        Field(description="the prior: average of means with or without the task's own batch (A2), or the true P_o"),
    ] = "inclusive"
    similarity: Annotated[
        Literal["known", "welford", "debiased"] | None,
        Field(description="sigma^2: the true one, Welford's estimate, or that less the sampling noise (E5)"),
    ] = None
    index: Annotated[
        Literal["text", "algorithm"],
        Field(description="1 + 1/t (Sec. 3.2) or 1 + 1/(t-1) (Alg. 1) in the paper's rate of task t (A17)"),
    ] = "text"
    plug: Annotated[
        Literal["variance", "squared"], Field(description="what stands for sigma^2: the variance, or its square (A16)")
    ] = "variance"
    scope: Annotated[
        Literal["max", "per_pair"], Field(description="one mixing rate, from the largest sigma, or one per (s,a) (A5)")
    ] = "max"
    variance: Annotated[Literal["sample", "population"], Field(description="the variance of Welford (A3)")] = "sample"
    sigma_1: Annotated[
        float, Field(ge=0, le=1, description="similarity in tasks 1 and 2, a standard deviation (A4)")
    ] = 0.5

    @model_validator(mode="after")
    def _consistent(self) -> "Estimator":
        if self.similarity is None and isinstance(self.mixing, str):
            raise ValueError(f"mixing={self.mixing} needs a similarity: known, welford or debiased")
        return self

    def check(self, m: int) -> None:
        """Raise a ValueError if the estimator cannot be used with m sampled transitions for each pair (s, a)."""
        learns = self.similarity in ("welford", "debiased")
        if m < 2 and (self.similarity == "debiased" or (learns and self.mixing == "mse_optimal")):
            raise ValueError(f"m={m}: the sampling noise cannot be estimated from one sample; m has to be at least 2")

    def prior_model(self, memory: Memory, P_bar: Models, truth: Truth) -> Models:
        """Return the prior h_t of the task with the frequencies P_bar; `memory` holds the tasks before it."""
        if self.prior == "known":
            return truth.P_o
        return (memory.update(P_bar) if self.prior == "inclusive" else memory).P_o_hat

    def similarity_estimate(self, memory: Memory, m: int, truth: Truth) -> PerPair:
        """Return the similarity sigma of the tasks, as a standard deviation.

        It is that of each pair (s, a), or the largest one if `scope` is `max`, and NaN if there is no similarity. Where
        it is estimated it is `sigma_1` in the first two tasks, before which there are too few tasks for a variance.
        """
        n = len(memory.P_o_hat)
        if self.similarity is None:
            return np.full((n, 1, 1), np.nan)
        if self.similarity == "known":
            return np.sqrt(self._scoped(truth.variance))
        if memory.tasks < 2:
            return np.full((n, 1, 1), self.sigma_1)
        variance = memory.variance(self.variance)
        if self.similarity == "debiased":
            variance = np.maximum(variance - memory.sampling_variance(m) / m, 0.0)
        return np.sqrt(self._scoped(variance))

    def mixing_rate(self, t: int, m: int, sigma: PerPair, memory: Memory, truth: Truth) -> PerPair:
        """Return alpha_t in [0, 1], the weight of the prior in task t; a learned prior has none in task 1 (Alg. 1).

        Args:
            t: Number of the task, from 1.
            m: Number of transitions sampled for each pair (s, a) in each task.
            sigma: Similarity of the tasks, as a standard deviation (`similarity_estimate`).
            memory: The tasks before.
            truth: The true moments of the task distribution, for estimators that are told.
        """
        if not isinstance(self.mixing, str):
            return np.full_like(sigma, self.mixing)
        if t == 1 and self.prior != "known":
            return np.zeros_like(sigma)
        x = m * (sigma**2 if self.plug == "variance" else sigma**4)
        if self.mixing == "paper":
            return np.asarray(paper_mixing_rate(x, t if self.index == "text" else max(t - 1, 1)))
        v = np.ones_like(x) if self.mixing == "mse_bound" else self._transition_variance(m, memory, truth)
        return squared_error_mixing_rate(x, v, t, self.prior)

    def _transition_variance(self, m: int, memory: Memory, truth: Truth) -> PerPair:
        """Return E[p (1 - p)], true if the similarity is known, else estimated; 1/4 before any batch (E4)."""
        if self.similarity == "known":
            return self._scoped(np.maximum(truth.P_o * (1.0 - truth.P_o) - truth.variance, 0.0))
        if memory.tasks == 0:
            return np.full((len(truth.P_o), 1, 1), 0.25)
        return self._scoped(memory.sampling_variance(m))

    def _scoped(self, values: Models) -> PerPair:
        """Return the largest value of each pair (s, a), or of each run if `scope` is `max`."""
        return values.max((-3, -2, -1))[:, None, None] if self.scope == "max" else values.max(-1)


def paper_mixing_rate(
    x: Float[np.ndarray, "..."] | float, t: Num[np.ndarray, "..."] | int
) -> Float[np.ndarray, "..."] | float:
    """Return the mixing rate of Sec. 3.2, α_t = 1 / (x (1 + 1/t) + 1) with x = m σ², in task t; arguments broadcast.

    It lies in [0, 1]: it is 1 for x = 0, where tasks are equal, and 0 for an infinite x.
    """
    return 1.0 / (x * (1.0 + 1.0 / t) + 1.0)


def squared_error_mixing_rate(x: PerPair, v: PerPair, t: int, prior: Prior) -> PerPair:
    """Return the mixing rate that minimises the mean squared error of the estimate in task t (E4).

    It is v / (v + x) with x = m σ², and 1 if both are 0. An exclusive prior, which lacks the task's own batch, has
    (t - 1) / t of that.

    Args:
        x: Variance of the tasks, times the number m of sampled transitions.
        v: Variance E[p (1 - p)] of a single sampled transition, or 1 as an upper bound of it.
        t: Number of the task, from 1.
        prior: What the prior contains.
    """
    unseen = (t - 1) / t if prior == "exclusive" else 1.0
    return unseen * np.divide(v, v + x, out=np.ones_like(v + x), where=v + x > 0)
