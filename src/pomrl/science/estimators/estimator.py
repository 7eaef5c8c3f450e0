"""Estimators of a task's transition model, which learn from the batches of the task and of those before it.

A `ModelEstimator` returns the model of the task by one method. Any other returns the parts of Algorithm 1, P_hat_t =
α_t h_t + (1 - α_t) P_bar_t with the frequencies P_bar_t of the task's batch: the prior h_t and the mixing rate α_t.
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
"""What an estimator keeps of the batches of tasks: any immutable value."""


@dataclass(frozen=True)
class Truth:
    """The true moments of the task distribution in each of n runs, for estimators that are told."""

    P_o: Models
    """Mean over tasks of each entry of the model."""
    variance: Models
    """Variance over tasks of each entry of the model."""
    unsmoothed: Models | None = None
    """The mean model before `task_distribution.smoothing`; None where there is no smoothing."""
    candidates: Float[np.ndarray, "k S A S"] | None = None
    """The k models that each task has with the same chance; None if there are infinitely many."""


class Estimate(NamedTuple):
    """What an estimator returns for a task, in each of n runs."""

    h: Models | Callable[[Batch], Models]
    """The prior h_t, whose rows are distributions, or its function of the batch of a trial."""
    alpha: PerPair | Callable[[Any], PerPair]
    """The mixing rate α_t in [0, 1], the weight of the prior, or its function of the number N of transitions from each
    pair.
    """
    deviation: PerPair
    """The similarity of the tasks, a standard deviation; NaN everywhere if there is none."""


@dataclass(frozen=True, eq=False)
class Belief:
    """What a learner knows of a task's model, in each of n runs: a Dirichlet distribution in each pair (s, a)."""

    P_hat: Models
    """The estimate of the model, which is the mean."""
    concentration: PerPair
    """The concentration around it."""


class Estimator(Component, Generic[MemoryT]):
    """Base class of estimators. Its type parameter says what an estimator keeps from task to task.

    An estimator has no state: the loop over tasks carries its memory along. All methods work on n independent runs,
    which must not influence one another.
    """

    needs_candidates: ClassVar[bool] = False
    """Whether tasks must have one of finitely many models, which it is told (`Truth.candidates`)."""

    @property
    def relative_time(self) -> float:
        """The time to learn from a task in units of POMRL's, for estimates of time."""
        return 1.0

    @property
    def has_similarity(self) -> bool:
        """Return whether there is a similarity of the tasks, which some schedules need."""
        return True

    def check(self, m: int) -> None:
        """Raise a ValueError unless it can be used with at most m transitions from a pair in a batch."""

    @abstractmethod
    def initial_memory(self, n: int, S: int, A: int) -> MemoryT:
        """Return the memory before the first task, for n runs with S states and A actions."""

    @abstractmethod
    def learn(self, memory: MemoryT, batch: Batch) -> MemoryT:
        """Return the memory after one more task with this batch."""

    @abstractmethod
    def assess(self, t: int, batch: Batch, before: MemoryT, after: MemoryT, truth: Truth) -> Estimate:
        """Return the prior, the mixing rate and the similarity of a task.

        Args:
            t: Number of the task, from 1.
            batch: The task's batch.
            before: What is known from the tasks before.
            after: The same with this batch, as `learn` returns it.
            truth: The true moments of the task distribution.
        """


class ModelEstimator(Estimator[Memory]):
    """Base class of estimators that return the model of a task; a subclass implements `estimate`.

    In tables the mixing rate is 1, because the task's own batch is in the model, and there is no similarity.
    """

    @property
    def has_similarity(self) -> bool:
        return False

    def initial_memory(self, n: int, S: int, A: int) -> Memory:
        """Return the memory before the first task, whose mean model is uniform."""
        return Memory.initial(n, S, A)

    def learn(self, memory: Memory, batch: Batch) -> Memory:
        """Return the memory after one more task with this batch."""
        return memory.update(batch)

    @abstractmethod
    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        """Return the model of a task, [n, S, A, S].

        Args:
            memory: The tasks before: their number, and the mean `P_o_hat` and spread of their frequencies.
            batch: The task's batch: `counts`, frequencies `P_bar`, and transitions from each pair, `visits`.
            truth: The true moments of the task distribution.
        """

    def assess(self, t: int, batch: Batch, before: Memory, after: Memory, truth: Truth) -> Estimate:
        """Return the model as a prior with weight 1, for the batch of each trial."""
        one = np.ones((len(batch.P_bar), 1, 1))
        return Estimate(lambda own: self.estimate(before, own, truth), one, np.nan * one)
