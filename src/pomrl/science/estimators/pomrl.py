"""Estimators of the paper: least squares regularised towards a prior (Eq. 4, App. B)."""

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float, Num
from pydantic import Field, model_validator

from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Estimate, Estimator, Truth
from pomrl.science.estimators.memory import Forgetting, Memory, Models, PerPair, learn_and_forget

Prior = Literal["inclusive", "exclusive", "known", "unsmoothed", "uniform"]
"""A prior learned from all batches, or from all except the task's own (R2). Or a given one: the true mean model, with
or without `task_distribution.smoothing`, or the uniform model."""

LEARNED = ("inclusive", "exclusive")


class RegularisedLeastSquares(Estimator[Memory]):
    """The estimate P_hat_t = alpha_t h_t + (1 - alpha_t) P_bar_t of a task's model (Eq. 4).

    Subclasses can override `prior_model`, `similarity_estimate` and `mixing_rate`. Other formulas need a subclass of
    `Estimator`.
    """

    mixing: Literal["paper", "mse_bound", "mse_optimal"] | Annotated[float, Field(ge=0, le=1)]
    """Mixing rate alpha_t: the paper's, a minimiser of the mean squared error (E4), or a number."""
    prior: Prior = "inclusive"
    """Prior: mean of batches with or without the task's own (R2), the true P_o, P_o before task_distribution.smoothing,
    or uniform."""
    similarity: Literal["known", "welford", "debiased"] | None = None
    """Variance over tasks: the true value, Welford's estimate, or Welford's estimate minus the sampling noise (E5)."""
    index: Literal["text", "algorithm"] = "text"
    """1 + 1/t (Sec. 3.2) or 1 + 1/(t-1) (Alg. 1) in the paper's rate of task t (R17)."""
    plug: Literal["variance", "squared"] = "variance"
    """Value in place of sigma^2: the variance, or its square (R16)."""
    scope: Literal["max", "per_pair"] = "max"
    """One mixing rate, from the largest deviation, or one per (s,a) (R5)."""
    variance: Literal["sample", "population"] = "sample"
    """Welford's variance of n tasks, with divisor n - 1 (sample) or n (population) (R3)."""
    start_deviation: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Similarity in tasks 1 and 2, a standard deviation (R4)."""
    v2: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Bound on the variance p(1-p) of a transition, in the paper's rate and mse_bound."""
    samples: Literal["visits", "m"] = "visits"
    """Transitions in the mixing rate: the pair's own number in the batch, or the key m."""
    first_task: Literal["alone", "mix"] | None = None
    """Task 1: alpha_1 = 0, or as in later tasks; null: mix if the prior is given or mixing is a number, otherwise
    alone."""
    first_batch: Literal["use", "skip"] = "use"
    """Whether later tasks learn from the batch of task 1."""
    start_weight: Annotated[float, Field(ge=0)] = 0.0
    """Weight, in tasks, of the initial values (uniform model, `start_deviation`) in learned averages."""
    lag: Annotated[int, Field(ge=0)] = 0
    """Delay, in tasks, of the memory used for similarity and mixing rate."""

    forgetting: Forgetting = 1.0
    """Factor on the weights of past tasks after each task; learned: chosen by the likelihood of past batches."""

    weights: Literal["tasks", "transitions"] = "tasks"
    """Weights in averages and variances over tasks: equal for all tasks, or for all transitions from the pair."""

    @model_validator(mode="after")
    def _consistent(self) -> "RegularisedLeastSquares":
        if self.similarity is None and isinstance(self.mixing, str):
            raise ValueError(f"similarity must be known, welford or debiased with mixing={self.mixing}, got null")
        if self.start_weight and self.forgetting != 1.0:
            raise ValueError(f"start_weight must be 0 unless forgetting is 1, got {self.start_weight}")
        return self

    @property
    def has_similarity(self) -> bool:
        return self.similarity is not None

    def check(self, m: int) -> None:
        learns = self.similarity in ("welford", "debiased")
        if m < 2 and (self.similarity == "debiased" or (learns and self.mixing == "mse_optimal")):
            raise ValueError(f"m must be at least 2 to estimate the sampling noise, got {m}")

    def initial_memory(self, n: int, S: int, A: int) -> Memory:
        memory = Memory.initial(n, S, A, self.start_weight, self.start_deviation**2)
        return replace(memory, by_transitions=self.weights == "transitions")

    def learn(self, memory: Memory, batch: Batch) -> Memory:
        if self.first_batch == "skip" and memory.tasks == 0:
            learned = memory.skip()
        else:
            learned = learn_and_forget(memory, batch, self.forgetting)
        return learned.following(memory, self.lag)

    def assess(self, t: int, batch: Batch, before: Memory, after: Memory, truth: Truth) -> Estimate:
        """Return the estimate; a lag delays similarity and mixing rate."""
        lagged = before.earlier[0] if before.earlier else before
        deviation = self.similarity_estimate(lagged, batch.m, truth)

        def rate(N: int | PerPair) -> PerPair:
            return self.mixing_rate(t, N, deviation, lagged, truth)

        alpha = rate(batch.m) if self.samples == "m" else rate
        return Estimate(self.prior_model(before, after, truth), alpha, deviation)

    def prior_model(self, before: Memory, after: Memory, truth: Truth) -> Models:
        """Return the prior h_t."""
        if self.prior == "uniform":
            return np.full_like(truth.P_o, 1.0 / truth.P_o.shape[-1])
        if self.prior == "unsmoothed" and truth.unsmoothed is not None:
            return truth.unsmoothed
        if self.prior in ("known", "unsmoothed"):
            return truth.P_o
        return (after if self.prior == "inclusive" else before).P_o_hat

    def similarity_estimate(self, memory: Memory, m: int, truth: Truth) -> PerPair:
        """Return the similarity sigma of the tasks, a standard deviation; NaN without one.

        It is a number per pair (s, a), or the largest for the scope `max`. An estimate needs two counted tasks,
        including `start_weight`; otherwise it is `start_deviation`.
        """
        n = len(memory.P_o_hat)
        if self.similarity is None:
            return np.full((n, 1, 1), np.nan)
        if self.similarity == "known":
            return np.sqrt(self._over_scope(truth.variance))
        is_sufficient = memory.start + memory.counted >= 2.0
        if not is_sufficient.any():
            return np.full((n, 1, 1), self.start_deviation)
        variance = memory.variance(self.variance)
        if self.similarity == "debiased":
            variance = np.maximum(variance - memory.sampling_noise(), 0.0)
        if is_sufficient.all():
            return np.sqrt(self._over_scope(variance))
        if self.scope == "per_pair":
            return np.where(is_sufficient, np.sqrt(self._over_scope(variance)), self.start_deviation)
        largest = np.sqrt(self._over_scope(np.where(is_sufficient[..., None], variance, 0.0)))
        return np.where(is_sufficient.any((1, 2), keepdims=True), largest, self.start_deviation)

    def mixing_rate(self, t: int, m: int | PerPair, deviation: PerPair, memory: Memory, truth: Truth) -> PerPair:
        """Return alpha_t in [0, 1], the weight of the prior.

        In task 1, `first_task` can make it 0 (Alg. 1). m is the number of transitions from each pair, or one number for
        all.
        """
        if t == 1 and self._first_task() == "alone":
            return np.zeros_like(deviation)
        if not isinstance(self.mixing, str):
            return np.full_like(deviation, self.mixing)
        task_number = t if self.forgetting == 1.0 else 1.0 + memory.effective_tasks
        x = m * (deviation**2 if self.plug == "variance" else (deviation**2) ** 2)
        if self.mixing == "paper":
            tasks = task_number if self.index == "text" else np.asarray(np.maximum(task_number - 1, 1))
            return np.asarray(paper_mixing_rate(x, tasks, self.v2))
        v = np.full_like(x, self.v2) if self.mixing == "mse_bound" else self._transition_variance(memory, truth)
        return squared_error_mixing_rate(x, v, task_number, self.prior)

    def _first_task(self) -> str:
        mixes = self.prior not in LEARNED or not isinstance(self.mixing, str)
        return self.first_task or ("mix" if mixes else "alone")

    def _transition_variance(self, memory: Memory, truth: Truth) -> PerPair:
        """Return E[p (1 - p)], true for a known similarity, otherwise estimated (E4)."""
        if self.similarity == "known":
            return self._over_scope(np.maximum(truth.P_o * (1.0 - truth.P_o) - truth.variance, 0.0))
        if memory.tasks == 0:
            return np.full((len(truth.P_o), 1, 1), 0.25)
        return self._over_scope(memory.sampling_variance())

    def _over_scope(self, values: Models) -> PerPair:
        """Return the largest value per pair (s, a), or per run."""
        return values.max((-3, -2, -1))[:, None, None] if self.scope == "max" else values.max(-1)


def paper_mixing_rate(
    x: Float[np.ndarray, "..."] | float, t: Num[np.ndarray, "..."] | int, v2: float = 1.0
) -> Float[np.ndarray, "..."] | float:
    """Return the mixing rate of the paper (Sec. 3.2).

        α_t = v² / (x (1 + 1/t) + v²)    with x = m σ²

    Arguments broadcast. v² bounds the variance p (1 - p) of a transition: 1 in the text, at least 1/4.
    """
    return v2 / (x * (1.0 + 1.0 / t) + v2)


def squared_error_mixing_rate(x: PerPair, v: PerPair, t: int | PerPair, prior: Prior) -> PerPair:
    """Return the mixing rate with the least mean squared error in task t (E4).

    It is v / (v + x) with x = m σ² and v = E[p (1 - p)], the variance of a transition; 1 if both are 0. For an
    exclusive prior this is multiplied by (t - 1) / t. With forgetting, t is 1 plus the effective number of past tasks.
    """
    factor = (t - 1) / t if prior == "exclusive" else 1.0
    return factor * np.divide(v, v + x, out=np.ones_like(v + x), where=v + x > 0)
