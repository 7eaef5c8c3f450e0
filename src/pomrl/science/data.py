"""Transitions sampled in a task, and ways to sample them (Sec. 3.2).

Counts travel through the loop, because pairs (s, a) may be visited unequally often.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float, Num
from pydantic import Field

from pomrl.base import Component, make_read_only
from pomrl.science.randomness import Generators, task_keys
from pomrl.science.sampling import draws
from pomrl.science.sampling.reference import Pooled

MOST_TRANSITIONS = 10**6
"""Most transitions in a batch of trajectories."""

Counts = Num[np.ndarray, "*n S A S"]
"""Number of transitions from s to s' under a, N(s, a, s')."""

TaskModels = Float[np.ndarray, "T n S A S"]
"""Transition models of T tasks in each of n runs."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Transitions of one task in n runs; more axes may precede the pairs (s, a)."""

    counts: Counts
    """Number of transitions N(s, a, s')."""
    P_bar: Float[np.ndarray, "*n S A S"]
    """Frequencies of next states; uniform for a pair without transitions."""
    visits: Float[np.ndarray, "*n #S #A"]
    """Number of transitions from each pair (s, a), or one number for all pairs."""
    counted: Bool[np.ndarray, "*n #S #A"]
    """Mask of the (s, a) rows in the meta-learner's averages."""
    m: int

    def __post_init__(self) -> None:
        make_read_only(*self._arrays)

    @property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.counts, self.P_bar, self.visits, self.counted

    @staticmethod
    def of_counts(counts: Counts, m: int, *, equal: bool = False) -> "Batch":
        """Return the batch with N(s, a, s'); pairs with transitions are counted.

        `equal` states that all pairs (s, a) have the same number of transitions.
        """
        visits = (counts[..., :1, :1, :] if equal else counts).sum(-1, dtype=float)
        P_bar = counts / np.maximum(visits, 1.0)[..., None]
        if not visits.all():
            P_bar[np.broadcast_to(visits == 0, P_bar.shape[:-1])] = 1.0 / counts.shape[-1]
        return Batch(counts, P_bar, visits, visits > 0, m)

    @property
    def is_equal(self) -> bool:
        """Return whether all pairs (s, a) share one number of transitions."""
        return self.visits.shape[-2:] == (1, 1)

    @cached_property
    def noise(self) -> Float[np.ndarray, "*n S A S"]:
        """Sum of P_bar (1 - P_bar) over the N transitions from each pair, over m."""
        noise = self.P_bar * (1.0 - self.P_bar) * (self.visits / max(self.m, 2))[..., None]
        make_read_only(noise)
        return noise

    def reshape(self, *axes: int) -> "Batch":
        """Return the batch with other axes before the pairs (s, a)."""
        front = self.counts.ndim - 3
        return Batch(*(array.reshape(*axes, *array.shape[front:]) for array in self._arrays), m=self.m)

    def of_runs(self, index: Num[np.ndarray, " k"]) -> "Batch":
        """Return the batch at these indices of the first axis."""
        return Batch(*(array[index] for array in self._arrays), m=self.m)

    @property
    def numbers(self) -> "Sequence[int | Float[np.ndarray, '*n #S #A']]":
        """Number of transitions of each trial; one number m if equal."""
        return [self.m] if self.is_equal else list(self.visits.swapaxes(0, 1))

    @property
    def trials(self) -> "list[Batch]":
        """The batch of each trial, the second axis."""
        return [Batch(*(array[:, k] for array in self._arrays), m=self.m) for k in range(self.counts.shape[1])]

    def __iter__(self) -> Iterator["Batch"]:
        """Yield the batch at each index of the first axis."""
        for arrays in zip(*self._arrays, strict=True):
            yield Batch(*arrays, self.m)


@dataclass(frozen=True, eq=False)
class Batches:
    """One task's data, for its own estimate and for later tasks."""

    own: Batch
    """Batch of the task's estimate, [n, K, S, A, S] for n runs and K trials."""
    meta: Batch
    """Batch for the meta-learner's memory, [n, S, A, S]."""

    @staticmethod
    def same(batch: Batch) -> "Batches":
        """Return one batch of each run, [n, S, A, S], for both uses."""
        return Batches(batch.reshape(len(batch.P_bar), 1), batch)

    def collect(self, learner: object) -> "Batches":
        """Return these batches (`algorithm.Task`)."""
        return self


class Data(Component):
    """Base class of sampling schemes. Subclasses implement `draw` and `most_visits`."""

    is_equal: ClassVar[bool] = False
    """Whether all pairs (s, a) have the same number of transitions in every batch."""

    @property
    def is_adaptive(self) -> bool:
        """Return whether sampling depends on the learner; `draw` is then unused."""
        return False

    def check(self, m: int) -> None:
        """Raise a ValueError if batches cannot be drawn with this m."""

    @abstractmethod
    def draw(self, rngs: Generators, P: TaskModels, m: int, batches: int) -> Counts:
        """Draw transitions N(s, a, s') of independent batches, [T, n, batches, S, A, S].

        There are T tasks in n runs, each with a generator for this alone. Tasks are drawn in their order: splitting a
        call in two draws the same.
        """

    def draw_pooled(self, rngs: Generators, P: TaskModels, m: int, batches: int) -> Pooled:
        """Draw the batches of `draw`; return their sums, [T, n, ...]."""
        counts = self.draw(rngs, P, m, batches)
        visits = counts.sum(-1, keepdims=True)
        return Pooled(counts.sum(2), (counts / np.maximum(visits, 1)).sum(2), (visits[..., 0] > 0).sum(2))

    @abstractmethod
    def most_visits(self, m: int) -> int:
        """Return the largest possible number of transitions from a pair in a batch."""


class Generative(Data):
    """A generative model: m independent transitions from each pair (s, a) (Sec. 3.2)."""

    is_equal: ClassVar[bool] = True

    def draw(self, rngs: Generators, P: TaskModels, m: int, batches: int) -> Counts:
        T, n, *model, S = P.shape
        counts = draws.transitions(task_keys(rngs, T).ravel(), P.reshape(T * n, -1, S), batches, m)
        return counts.reshape(T, n, batches, *model, S)

    def most_visits(self, m: int) -> int:
        return m


class Unequal(Data):
    """A generative model with random numbers of transitions from each pair, m on average."""

    numbers: Literal["extremes", "geometric"] = "extremes"
    """Numbers of transitions: 1 or 2m - 1, equally likely; or geometric from 0 on (none in one pair of m + 1), cut at
    20m."""

    def draw(self, rngs: Generators, P: TaskModels, m: int, batches: int) -> Counts:
        T, n, *model = P.shape
        counts = np.empty((T, n, batches, *model), np.int64)
        for i, rng in enumerate(rngs):
            for t in range(T):
                visits = self._visits(rng, (batches, *model[:2]), m)
                counts[t, i] = rng.multinomial(visits, np.broadcast_to(P[t, i], (batches, *model)))
        return counts

    def _visits(self, rng: np.random.Generator, shape: tuple[int, ...], m: int) -> Num[np.ndarray, "..."]:
        if self.numbers == "extremes":
            return np.where(rng.random(shape) < 0.5, 1, 2 * m - 1)
        return np.minimum(rng.geometric(1.0 / (m + 1.0), shape) - 1, self.most_visits(m))

    def most_visits(self, m: int) -> int:
        return 2 * m - 1 if self.numbers == "extremes" else 20 * m


class Trajectories(Data):
    """m trajectories with uniform start states, so that pairs are visited unequally.

    Actions are uniform, or follow a policy that the learner makes before each trajectory (`pomrl.science.exploration`).
    """

    length: Annotated[int, Field(ge=1, le=10**6)] = 10
    """Transitions of a trajectory."""
    behaviour: Literal["uniform", "epsilon_greedy", "posterior_sampling"] = "uniform"
    """Actions: uniform; the best policy in the learner's estimate; or that in a model drawn from the learner's belief.
    """
    epsilon: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Probability of a uniform action, for behaviour=epsilon_greedy alone."""

    @property
    def is_adaptive(self) -> bool:
        return self.behaviour != "uniform"

    def check(self, m: int) -> None:
        if m * self.length > MOST_TRANSITIONS:
            raise ValueError(
                f"m={m}: a batch of so many trajectories of length {self.length} has more than {MOST_TRANSITIONS} "
                "transitions, and each is simulated"
            )

    def draw(self, rngs: Generators, P: TaskModels, m: int, batches: int) -> Counts:
        keys = task_keys(rngs, len(P)).ravel()
        counts = draws.trajectories(keys, P.reshape(-1, *P.shape[2:]), batches, m, self.length)
        return counts.reshape(*P.shape[:2], batches, *P.shape[2:])

    def draw_pooled(self, rngs: Generators, P: TaskModels, m: int, batches: int) -> Pooled:
        keys = task_keys(rngs, len(P)).ravel()
        pooled = draws.pooled_trajectories(keys, P.reshape(-1, *P.shape[2:]), batches, m, self.length)
        return Pooled(*(array.reshape(*P.shape[:2], *array.shape[1:]) for array in pooled))

    def most_visits(self, m: int) -> int:
        return m * self.length


def join(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Concatenate arrays of several tasks; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
