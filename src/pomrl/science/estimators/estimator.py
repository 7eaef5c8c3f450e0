"""Estimators of a task's transition model, from its batch and earlier ones.

A `ModelEstimator` returns the model by one method. Any other estimator returns the prior h_t and the mixing rate α_t of
P_hat_t = α_t h_t + (1 - α_t) P_bar_t, with the frequencies P_bar_t of the task's batch (Algorithm 1).
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
    """True moments of the task distribution in each of n runs."""

    P_o: Models
    """Mean over tasks of each entry of the model."""
    variance: Models
    """Variance over tasks of each entry of the model."""
    unsmoothed: Models | None = None
    """Mean model before `task_distribution.smoothing`; None without smoothing."""
    candidates: Float[np.ndarray, "k S A S"] | None = None
    """The k equally likely models of a task; None if there are infinitely many."""


class Estimate(NamedTuple):
    """An estimator's output for a task, in each of n runs."""

    h: Models | Callable[[Batch], Models]
    """Prior h_t with rows that are distributions, or a function of a trial's batch."""
    alpha: PerPair | Callable[[Any], PerPair]
    """Mixing rate α_t in [0, 1], the weight of the prior, or a function of the number N of transitions from each pair.
    """
    deviation: PerPair
    """Similarity of the tasks, a standard deviation; NaN everywhere if there is none."""


@dataclass(frozen=True, eq=False)
class Belief:
    """Belief about a task's model in n runs: a Dirichlet for each pair (s, a)."""

    P_hat: Models
    """Estimate of the model, the mean."""
    concentration: PerPair
    """Concentration around the mean."""


class Estimator(Component, Generic[MemoryT]):
    """Base class of estimators. The type parameter is the type of their memory.

    Estimators are stateless. All methods work on n independent runs, which must not influence one another.
    """

    needs_candidates: ClassVar[bool] = False
    """Whether tasks must have finitely many models (`Truth.candidates`)."""

    @property
    def relative_time(self) -> float:
        """Time to learn from a task, in units of POMRL's."""
        return 1.0

    @property
    def has_similarity(self) -> bool:
        """Return whether there is a similarity, as some schedules need."""
        return True

    def check(self, m: int) -> None:
        """Raise a ValueError unless m transitions from a pair in a batch are possible."""

    @abstractmethod
    def initial_memory(self, n: int, S: int, A: int) -> MemoryT:
        """Return the memory before the first task, for n runs."""

    @abstractmethod
    def learn(self, memory: MemoryT, batch: Batch) -> MemoryT:
        """Return the memory after one more task."""

    @abstractmethod
    def assess(self, t: int, batch: Batch, before: MemoryT, after: MemoryT, truth: Truth) -> Estimate:
        """Return the prior, the mixing rate and the similarity of task t, from 1.

        `before` and `after` are the memories before and after `learn` of its batch.
        """


class ModelEstimator(Estimator[Memory]):
    """Base class of estimators of a model by one method, `estimate`.

    In tables the mixing rate is 1, because the model contains the task's own batch, and there is no similarity.
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
        """Return the model of a task, [n, S, A, S], from earlier tasks, its batch and the true moments."""

    def assess(self, t: int, batch: Batch, before: Memory, after: Memory, truth: Truth) -> Estimate:
        """Return the model as a prior of weight 1, for each trial."""
        ones = np.ones((len(batch.P_bar), 1, 1))
        return Estimate(lambda own: self.estimate(before, own, truth), ones, np.nan * ones)
