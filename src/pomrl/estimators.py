"""Estimators of a task's transition model from its own batch and from the tasks before.

There is one formula, the closed form of regularised least squares (Eq. 4, App. B),

    P_hat_t = alpha_t h_t + (1 - alpha_t) P_bar_t,

with the frequencies P_bar_t of the task's own batch, a prior h_t and a mixing rate alpha_t. Estimators differ in where
the prior, the similarity sigma of the tasks and the mixing rate come from.
"""

from dataclasses import dataclass as plain_dataclass
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED

Models = Float[np.ndarray, "n S A S"]
"""A transition model for each of n runs."""

PerPair = Float[np.ndarray, "n #S #A"]
"""A number for each pair (s, a) of each of n runs, or one for all pairs of a run."""


@plain_dataclass(frozen=True)
class Truth:
    """What an estimator may know of the task distribution, for each of n runs."""

    P_o: Models
    variance: Models
    """Variance over tasks of each entry of the model."""


@plain_dataclass(frozen=True)
class Memory:
    """What is kept of the batches of the tasks before: their number, mean and spread, for each of n runs."""

    tasks: int
    P_o_hat: Models
    """The average of means (Eq. 5, App. C); uniform before the first task."""
    squares: Models
    """Sum of squared deviations of the frequencies from their mean (Welford)."""
    noise: Models
    """Sum of P_bar (1 - P_bar)."""

    @staticmethod
    def initial(n: int, S: int, A: int) -> "Memory":
        zero = np.zeros((n, S, A, S))
        return Memory(0, np.full((n, S, A, S), 1.0 / S), zero, zero)

    def update(self, P_bar: Models) -> "Memory":
        """The memory after one more batch, by Welford's algorithm (App. C)."""
        tasks = self.tasks + 1
        deviation = P_bar - (self.P_o_hat if self.tasks else P_bar)
        P_o_hat = (self.P_o_hat if self.tasks else P_bar) + deviation / tasks
        squares = self.squares + deviation * (P_bar - P_o_hat)
        return Memory(tasks, P_o_hat, squares, self.noise + P_bar * (1.0 - P_bar))

    def variance(self, kind: str) -> Models:
        """Variance of each entry over the batches: `sample` (over tasks - 1) or `population` (over tasks; A3)."""
        return self.squares / (self.tasks - (kind == "sample"))

    def sampling_variance(self, m: int) -> Models:
        """Unbiased estimate of E[p (1 - p)], the variance of one sampled transition; m has to be at least 2."""
        return self.noise / self.tasks * (m / (m - 1))


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Estimator:
    """P_hat_t = alpha_t h_t + (1 - alpha_t) P_bar_t (Eq. 4), and where its parts come from.

    Frozen: what changes from task to task is the `Memory`.

    A component of one's own overrides `prior_model`, `similarity_estimate` or `mixing_rate`.
    """

    mixing: Annotated[
        Literal["paper", "mse_bound", "mse_optimal"] | Annotated[float, Field(ge=0, le=1)],
        Field(description="the mixing rate alpha_t: the paper's, a minimiser of the mean squared error (E4), a number"),
    ]
    prior: Annotated[
        Literal["inclusive", "exclusive", "known"],
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
        """Refuse, with a ValueError, what cannot go with this number of samples."""
        learns = self.similarity in ("welford", "debiased")
        if m < 2 and (self.similarity == "debiased" or (learns and self.mixing == "mse_optimal")):
            raise ValueError(f"m={m}: the sampling noise cannot be estimated from one sample; m has to be at least 2")

    def prior_model(self, memory: Memory, P_bar: Models, truth: Truth) -> Models:
        """h_t, given the tasks before and the task's own batch P_bar."""
        if self.prior == "known":
            return truth.P_o
        return (memory.update(P_bar) if self.prior == "inclusive" else memory).P_o_hat

    def similarity_estimate(self, memory: Memory, m: int, truth: Truth) -> PerPair:
        """sigma, a standard deviation: of each pair (s, a), or with scope `max` the largest; NaN where none is used.

        With Welford's estimate sigma_1 rules the first two tasks, of which no variance is known.
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
        """alpha_t in [0, 1], the weight of the prior in task t. A prior that is learned has none in task 1 (Alg. 1)."""
        if not isinstance(self.mixing, str):
            return np.full_like(sigma, self.mixing)
        if t == 1 and self.prior != "known":
            return np.zeros_like(sigma)
        x = m * (sigma**2 if self.plug == "variance" else sigma**4)
        if self.mixing == "paper":
            return 1.0 / (x * (1.0 + 1.0 / (t if self.index == "text" else max(t - 1, 1))) + 1.0)
        v = np.ones_like(x) if self.mixing == "mse_bound" else self._transition_variance(m, memory, truth)
        unseen = (t - 1) / t if self.prior == "exclusive" else 1.0
        return unseen * np.divide(v, v + x, out=np.ones_like(v + x), where=v + x > 0)

    def _transition_variance(self, m: int, memory: Memory, truth: Truth) -> PerPair:
        """v = E[p (1 - p)] of E4: the true one where the similarity is known, else estimated; 1/4 before any batch."""
        if self.similarity == "known":
            return self._scoped(np.maximum(truth.P_o * (1.0 - truth.P_o) - truth.variance, 0.0))
        if memory.tasks == 0:
            return np.full((len(truth.P_o), 1, 1), 0.25)
        return self._scoped(memory.sampling_variance(m))

    def _scoped(self, values: Models) -> PerPair:
        return values.max((-3, -2, -1))[:, None, None] if self.scope == "max" else values.max(-1)
