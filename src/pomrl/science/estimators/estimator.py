"""Estimators of the transition model of a task.

An estimator returns the prior h_t and the mixing rate α_t of Algorithm 1,

    P_hat_t = α_t h_t + (1 - α_t) P_bar_t,

with the frequencies P_bar_t of the task's batch.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float

from pomrl.base import Component
from pomrl.science.data import Batch
from pomrl.science.estimators.memory import Memory, Models, PerPair

MemoryT = TypeVar("MemoryT")
"""An estimator's memory of batches: any immutable value."""


@dataclass(frozen=True)
class Truth:
    """The true moments of the task distribution in n runs."""

    P_o: Models
    """Mean over tasks of each entry of the model."""
    variance: Models
    """Variance over tasks of each entry of the model."""
    unsmoothed: Models | None = None
    """Mean model before `task_distribution.smoothing`; None without smoothing."""
    candidates: Float[np.ndarray, "k S A S"] | None = None
    """The k equally likely models of a task; None if there are infinitely many."""


class Estimate(NamedTuple):
    """The output of an estimator for a task in n runs."""

    h: Models | Callable[[Batch], Models]
    """Prior h_t with rows that are distributions, or a function of a trial's batch."""
    alpha: PerPair | Callable[[Any], PerPair]
    """Mixing rate α_t in [0, 1], the weight of the prior, or a function of the number N of transitions from each pair.
    """
    deviation: PerPair
    """Similarity of the tasks as a standard deviation; NaN everywhere without one."""


@dataclass(frozen=True, eq=False)
class Belief:
    """A Dirichlet belief about each pair (s, a) of a task in n runs."""

    P_hat: Models
    """Mean of the belief, the estimated model."""
    concentration: PerPair
    """Concentration around the mean, in transitions."""


class Estimator(Component, Generic[MemoryT]):
    """Base class of estimators.

    Estimators are stateless. All methods work on n runs, which must not influence one another.
    """

    needs_candidates: ClassVar[bool] = False
    """Whether tasks must have finitely many models (`Truth.candidates`)."""

    @property
    def relative_time(self) -> float:
        """The time to learn from a task, relative to POMRL."""
        return 1.0

    @property
    def has_similarity(self) -> bool:
        """Return whether the estimator has a similarity; some schedules need one."""
        return True

    def check(self, m: int) -> None:
        """Raise a ValueError if m transitions per pair are too few."""

    @abstractmethod
    def initial_memory(self, n: int, S: int, A: int) -> MemoryT:
        """Return the memory of n runs before the first task."""

    @abstractmethod
    def learn(self, memory: MemoryT, batch: Batch) -> MemoryT:
        """Return the memory after one more task."""

    @abstractmethod
    def assess(self, t: int, batch: Batch, before: MemoryT, after: MemoryT, truth: Truth) -> Estimate:
        """Return the prior, the mixing rate and the similarity of task t >= 1.

        `before` and `after` are the memories before and after `learn`.
        """


class ModelEstimator(Estimator[Memory]):
    """Base class of estimators without a mixing rate, with one method, `estimate`.

    The estimate is a prior of weight 1; there is no similarity.
    """

    @property
    def has_similarity(self) -> bool:
        return False

    def initial_memory(self, n: int, S: int, A: int) -> Memory:
        return Memory.initial(n, S, A)

    def learn(self, memory: Memory, batch: Batch) -> Memory:
        return memory.update(batch)

    @abstractmethod
    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        """Return the model of a task from memory, batch and true moments.

        `memory` has the earlier tasks, `batch` the transitions of this task or trial.
        """

    def assess(self, t: int, batch: Batch, before: Memory, after: Memory, truth: Truth) -> Estimate:
        ones = np.ones((len(batch.P_bar), 1, 1))
        return Estimate(lambda own: self.estimate(before, own, truth), ones, np.nan * ones)
