"""Transitions sampled in a task, and sampling schemes (Sec. 3.2).

Batches store counts, because pairs (s, a) may have different numbers of transitions.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float, Num
from pydantic import Field

from pomrl.base import Component, make_read_only
from pomrl.science import learning
from pomrl.science.randomness import Generators, task_keys
from pomrl.science.sampling import draws
from pomrl.science.sampling.reference import Pooled

MAX_TRANSITIONS = 10**6
"""Largest number of transitions in a batch of trajectories."""

Counts = Num[np.ndarray, "*n S A S"]
"""Number of transitions from s to s' under a, N(s, a, s')."""

TaskModels = Float[np.ndarray, "T n S A S"]
"""Transition models of T tasks in each of n runs."""


@dataclass(frozen=True, eq=False)
class Batch:
    """The transitions of a task in n runs."""

    counts: Counts
    """Number of transitions N(s, a, s')."""
    P_bar: Float[np.ndarray, "*n S A S"]
    """Frequencies of next states; uniform for a pair without transitions."""
    visits: Float[np.ndarray, "*n #S #A"]
    """Number of transitions from each pair (s, a), or one number for all pairs."""
    counted: Bool[np.ndarray, "*n #S #A"]
    """Mask of the pairs (s, a) that enter the meta-learner's averages."""
    m: int

    def __post_init__(self) -> None:
        make_read_only(*self._arrays)

    @property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.counts, self.P_bar, self.visits, self.counted

    @staticmethod
    def of_counts(counts: Counts, m: int, *, equal: bool = False) -> "Batch":
        """Make a batch from counts N(s, a, s'); visited pairs are `counted`.

        With `equal`, all pairs must have the same number of transitions, which is not checked.
        """
        P_bar, visits = learning.frequencies(counts, equal=equal)
        return Batch(counts, P_bar, visits, visits > 0, m)

    @property
    def is_equal(self) -> bool:
        """Return whether `visits` has one number for all pairs (s, a), on axes of length 1."""
        return self.visits.shape[-2:] == (1, 1)

    def reshape(self, *axes: int) -> "Batch":
        """Reshape the leading axes, before S and A."""
        leading = self.counts.ndim - 3
        return Batch(*(array.reshape(*axes, *array.shape[leading:]) for array in self._arrays), m=self.m)

    def of_runs(self, index: Num[np.ndarray, " k"]) -> "Batch":
        """Select runs by index along the first axis."""
        return Batch(*(array[index] for array in self._arrays), m=self.m)

    @property
    def numbers(self) -> "Sequence[int | Float[np.ndarray, '*n #S #A']]":
        """The visits of each pair, by trial; [m] if `is_equal`."""
        return [self.m] if self.is_equal else list(self.visits.swapaxes(0, 1))

    @property
    def trials(self) -> "list[Batch]":
        """The batch of each trial, along the second axis."""
        return [Batch(*(array[:, k] for array in self._arrays), m=self.m) for k in range(self.counts.shape[1])]

    def __iter__(self) -> Iterator["Batch"]:
        for arrays in zip(*self._arrays, strict=True):
            yield Batch(*arrays, self.m)


@dataclass(frozen=True, eq=False)
class Batches:
    """The data of a task, for its own estimate and for later tasks."""

    own: Batch
    """Batch of the task's estimate, [n, K, S, A, S] for n runs and K trials."""
    meta: Batch
    """Batch for the meta-learner's memory, [n, S, A, S]."""

    @staticmethod
    def same(batch: Batch) -> "Batches":
        """Use one batch of each run, [n, S, A, S], for both fields."""
        return Batches(batch.reshape(len(batch.P_bar), 1), batch)

    def collect(self, learner: object) -> "Batches":
        """Return these batches (`algorithm.Task`)."""
        return self


class Data(Component):
    """Base class of sampling schemes."""

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
        """Draw counts N(s, a, s') of independent batches, [T, n, batches, S, A, S].

        Each of n runs has a separate generator. Tasks are drawn in order, so two calls draw the same as one.
        """

    def draw_pooled(self, rngs: Generators, P: TaskModels, m: int, batches: int) -> Pooled:
        """Draw the batches of `draw` and return their sums, [T, n, ...]."""
        counts = self.draw(rngs, P, m, batches)
        visits = counts.sum(-1, keepdims=True)
        return Pooled(counts.sum(2), (counts / np.maximum(visits, 1)).sum(2), (visits[..., 0] > 0).sum(2))

    def pooled_arrays(self, batches: int) -> int:
        """Return the number of model-sized arrays per task in `draw_pooled`."""
        return batches

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
    """Numbers of transitions: 1 or 2m - 1, equally likely; or geometric on 0, 1, ... with mean m, cut at 20m."""

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

    Actions are uniform or planned by the learner (`pomrl.science.exploration`).
    """

    length: Annotated[int, Field(ge=1, le=10**6)] = 10
    """Number of transitions in a trajectory."""
    behaviour: Literal["uniform", "epsilon_greedy", "posterior_sampling"] = "uniform"
    """Actions: uniform; the best policy in the learner's estimate; or the best policy in a model drawn from the
    learner's belief."""
    epsilon: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Probability of a uniform action, only for behaviour=epsilon_greedy."""

    @property
    def is_adaptive(self) -> bool:
        return self.behaviour != "uniform"

    def check(self, m: int) -> None:
        if m * self.length > MAX_TRANSITIONS:
            raise ValueError(
                f"m trajectories of a batch must have at most {MAX_TRANSITIONS} transitions in total, got m={m} of "
                f"length {self.length}; reduce m or data.length"
            )

    def draw(self, rngs: Generators, P: TaskModels, m: int, batches: int) -> Counts:
        keys = task_keys(rngs, len(P)).ravel()
        counts = draws.trajectories(keys, P.reshape(-1, *P.shape[2:]), batches, m, self.length)
        return counts.reshape(*P.shape[:2], batches, *P.shape[2:])

    def draw_pooled(self, rngs: Generators, P: TaskModels, m: int, batches: int) -> Pooled:
        keys = task_keys(rngs, len(P)).ravel()
        pooled = draws.pooled_trajectories(keys, P.reshape(-1, *P.shape[2:]), batches, m, self.length)
        return Pooled(*(array.reshape(*P.shape[:2], *array.shape[1:]) for array in pooled))

    def pooled_arrays(self, batches: int) -> int:
        return 1

    def most_visits(self, m: int) -> int:
        return m * self.length


def join(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Concatenate arrays along the first axis; a single array is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
