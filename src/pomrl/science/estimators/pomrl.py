"""The paper's estimators: regularised least squares around a prior, with a choice of its parts.

The closed form (Eq. 4, App. B) is

    P_hat_t = α_t h_t + (1 - α_t) P_bar_t,

with the frequencies P_bar_t of the task's batch, a prior h_t and a mixing rate α_t. Estimators differ in where the
prior, the similarity σ of the tasks and the mixing rate come from.
"""

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float, Num
from pydantic import Field, model_validator

from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Estimate, Estimator, Truth
from pomrl.science.estimators.memory import Forgetting, Memory, Models, PerPair, learn_and_forget

Prior = Literal["inclusive", "exclusive", "known", "unsmoothed", "uniform"]
"""A prior that is learned from the batches of all tasks, or of all but the task's own (R2); or a model that is given:
the true mean model, that model before `task_distribution.smoothing`, or the uniform model."""

LEARNED = ("inclusive", "exclusive")
"""The priors that are learned from the batches of tasks."""


class RegularisedLeastSquares(Estimator[Memory]):
    """The estimate P_hat_t = alpha_t h_t + (1 - alpha_t) P_bar_t of a task's model (Eq. 4), with a choice of its parts.

    The three parts are `prior_model`, `similarity_estimate` and `mixing_rate`, and a variation of it is a subclass that
    overrides one of them; an estimator with another formula, or with other keys, is a subclass of `Estimator`.
    """

    mixing: Literal["paper", "mse_bound", "mse_optimal"] | Annotated[float, Field(ge=0, le=1)]
    """The mixing rate alpha_t: the paper's, a minimiser of the mean squared error (E4), a number."""
    prior: Prior = "inclusive"
    """The prior: average of means with or without the task's own batch (R2), the true P_o, the mean model before
    task_distribution.smoothing, or the uniform model."""
    similarity: Literal["known", "welford", "debiased"] | None = None
    """Sigma^2: the true one, Welford's estimate, or that less the sampling noise (E5)."""
    index: Literal["text", "algorithm"] = "text"
    """1 + 1/t (Sec. 3.2) or 1 + 1/(t-1) (Alg. 1) in the paper's rate of task t (R17)."""
    plug: Literal["variance", "squared"] = "variance"
    """What stands for sigma^2: the variance, or its square (R16)."""
    scope: Literal["max", "per_pair"] = "max"
    """One mixing rate, from the largest deviation, or one per (s,a) (R5)."""
    variance: Literal["sample", "population"] = "sample"
    """The variance of Welford (R3)."""
    start_deviation: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Similarity in tasks 1 and 2, a standard deviation (R4)."""
    v2: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Bound on the variance p(1-p) of a transition, in the paper's rate and mse_bound."""
    samples: Literal["visits", "m"] = "visits"
    """Number of transitions in the mixing rate: the pair's own number in the batch, or the key m."""
    first_task: Literal["alone", "mix"] | None = None
    """Task 1: alpha_1 = 0, or as any other task; null: mix with a given prior or a number as mixing."""
    first_batch: Literal["use", "skip"] = "use"
    """Whether later tasks learn from the batch of task 1."""
    start_weight: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the start (uniform model, `start_deviation`) in learned averages: it counts as so many tasks."""
    lag: Annotated[int, Field(ge=0)] = 0
    """Tasks by which what is learned comes late to similarity and mixing rate."""

    forgetting: Forgetting = 1.0
    """Factor by which a past task counts less with each further task; learned: by how likely past batches made the
    next."""

    weights: Literal["tasks", "transitions"] = "tasks"
    """What counts equally in averages and variances over tasks: each task, or each transition from the pair."""

    @model_validator(mode="after")
    def _consistent(self) -> "RegularisedLeastSquares":
        if self.similarity is None and isinstance(self.mixing, str):
            raise ValueError(f"mixing={self.mixing} needs a similarity: known, welford or debiased")
        if self.start_weight and self.forgetting != 1.0:
            raise ValueError(f"start_weight={self.start_weight}: it has to be 0 where tasks are forgotten (forgetting)")
        return self

    @property
    def has_similarity(self) -> bool:
        return self.similarity is not None

    def check(self, m: int) -> None:
        learns = self.similarity in ("welford", "debiased")
        if m < 2 and (self.similarity == "debiased" or (learns and self.mixing == "mse_optimal")):
            raise ValueError(f"m={m}: the sampling noise cannot be estimated from one sample; m has to be at least 2")

    def initial_memory(self, n: int, S: int, A: int) -> Memory:
        """Return the memory before the first task."""
        memory = Memory.initial(n, S, A, self.start_weight, self.start_deviation**2)
        return replace(memory, by_transitions=self.weights == "transitions")

    def learn(self, memory: Memory, batch: Batch) -> Memory:
        """Return the memory after one more task with this batch."""
        if self.first_batch == "skip" and memory.tasks == 0:
            learned = memory.skip()
        else:
            learned = learn_and_forget(memory, batch, self.forgetting)
        return learned.following(memory, self.lag)

    def assess(self, t: int, batch: Batch, before: Memory, after: Memory, truth: Truth) -> Estimate:
        """Return the parts of the estimate; similarity and rate may see an earlier memory."""
        late = before.earlier[0] if before.earlier else before
        deviation = self.similarity_estimate(late, batch.m, truth)

        def rate(N: int | PerPair) -> PerPair:
            return self.mixing_rate(t, N, deviation, late, truth)

        alpha = rate(batch.m) if self.samples == "m" else rate  # alpha_1 = 0
        return Estimate(self.prior_model(before, after, truth), alpha, deviation)

    def prior_model(self, before: Memory, after: Memory, truth: Truth) -> Models:
        """Return the prior h_t, from what is known before the task and after it."""
        if self.prior == "uniform":
            return np.full_like(truth.P_o, 1.0 / truth.P_o.shape[-1])
        if self.prior == "unsmoothed" and truth.unsmoothed is not None:
            return truth.unsmoothed
        if self.prior in ("known", "unsmoothed"):
            return truth.P_o
        return (after if self.prior == "inclusive" else before).P_o_hat

    def similarity_estimate(self, memory: Memory, m: int, truth: Truth) -> PerPair:
        """Return the similarity sigma of the tasks, a standard deviation.

        It is that of each pair (s, a), or the largest one if `scope` is `max`; NaN if there is none. An estimate is
        `start_deviation` for pairs that fewer than two tasks count for.
        """
        n = len(memory.P_o_hat)
        if self.similarity is None:
            return np.full((n, 1, 1), np.nan)
        if self.similarity == "known":
            return np.sqrt(self._over_scope(truth.variance))
        enough = memory.start + memory.counted >= 2.0
        if not enough.any():
            return np.full((n, 1, 1), self.start_deviation)
        variance = memory.variance(self.variance)
        if self.similarity == "debiased":
            variance = np.maximum(variance - memory.sampling_noise(), 0.0)
        if enough.all():
            return np.sqrt(self._over_scope(variance))
        if self.scope == "per_pair":
            return np.where(enough, np.sqrt(self._over_scope(variance)), self.start_deviation)
        largest = np.sqrt(self._over_scope(np.where(enough[..., None], variance, 0.0)))
        return np.where(enough.any((1, 2), keepdims=True), largest, self.start_deviation)

    def mixing_rate(self, t: int, m: int | PerPair, deviation: PerPair, memory: Memory, truth: Truth) -> PerPair:
        """Return alpha_t in [0, 1], the weight of the prior in task t; a learned prior has none in task 1 (Alg. 1).

        Args:
            t: Number of the task, from 1.
            m: Transitions from each pair (s, a) in the task's batch, one number if all have the same.
            deviation: Similarity of the tasks (`similarity_estimate`).
            memory: The tasks before.
            truth: The true moments of the task distribution.
        """
        if t == 1 and self._first_task() == "alone":
            return np.zeros_like(deviation)
        if not isinstance(self.mixing, str):
            return np.full_like(deviation, self.mixing)
        seen = t if self.forgetting == 1.0 else 1.0 + memory.effective_tasks
        x = m * (deviation**2 if self.plug == "variance" else deviation**4)
        if self.mixing == "paper":
            tasks = seen if self.index == "text" else np.asarray(np.maximum(seen - 1, 1))
            return np.asarray(paper_mixing_rate(x, tasks, self.v2))
        v = np.full_like(x, self.v2) if self.mixing == "mse_bound" else self._transition_variance(memory, truth)
        return squared_error_mixing_rate(x, v, seen, self.prior)

    def _first_task(self) -> str:
        """Return how task 1 is estimated, where `first_task` leaves it open."""
        mixes = self.prior not in LEARNED or not isinstance(self.mixing, str)
        return self.first_task or ("mix" if mixes else "alone")

    def _transition_variance(self, memory: Memory, truth: Truth) -> PerPair:
        """Return E[p (1 - p)], true if the similarity is known, else estimated (E4)."""
        if self.similarity == "known":
            return self._over_scope(np.maximum(truth.P_o * (1.0 - truth.P_o) - truth.variance, 0.0))
        if memory.tasks == 0:
            return np.full((len(truth.P_o), 1, 1), 0.25)
        return self._over_scope(memory.sampling_variance())

    def _over_scope(self, values: Models) -> PerPair:
        """Return the largest value of each pair (s, a), or of each run."""
        return values.max((-3, -2, -1))[:, None, None] if self.scope == "max" else values.max(-1)


def paper_mixing_rate(
    x: Float[np.ndarray, "..."] | float, t: Num[np.ndarray, "..."] | int, v2: float = 1.0
) -> Float[np.ndarray, "..."] | float:
    """Return the mixing rate of Sec. 3.2, α_t = v² / (x (1 + 1/t) + v²) with x = m σ²; arguments broadcast.

    The text bounds the variance p (1 - p) of a transition by v² = 1; the smallest bound is 1/4. The rate is 1 for x =
    0, where tasks are equal, and 0 for an infinite x.
    """
    return v2 / (x * (1.0 + 1.0 / t) + v2)


def squared_error_mixing_rate(x: PerPair, v: PerPair, t: int | PerPair, prior: Prior) -> PerPair:
    """Return the mixing rate that minimises the mean squared error of the estimate in task t (E4).

    It is v / (v + x) with x = m σ², and 1 if both are 0. An exclusive prior has (t - 1) / t of that.

    Args:
        x: Variance of the tasks, times the number m of sampled transitions.
        v: Variance E[p (1 - p)] of a single sampled transition, or 1 as its bound.
        t: Number of the task, from 1; where past tasks are forgotten, 1 more than they count as.
        prior: What the prior contains.
    """
    unseen = (t - 1) / t if prior == "exclusive" else 1.0
    return unseen * np.divide(v, v + x, out=np.ones_like(v + x), where=v + x > 0)
