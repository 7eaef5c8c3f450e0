"""Streams of tasks, with a constant or changing mean model.

The paper assumes one distribution (Sec. 3.1). Rewards, varying pairs, and sigma or a given concentration
stay constant.
"""

from abc import abstractmethod
from collections.abc import Iterator
from itertools import count, repeat
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float
from pydantic import BeforeValidator, Field

from pomrl.base import Ascending, Component
from pomrl.science.tasks.distribution import MeanModel, TaskDistribution
from pomrl.science.tasks.random_chains import RandomChains

NewTask = Annotated[int, Field(ge=2)]


class TaskStream(Component):
    """Base class of streams of tasks."""

    def check(self, T: int, distribution: TaskDistribution) -> None:
        """Raise a ValueError if the stream does not allow T of these tasks."""
        if not isinstance(distribution, RandomChains):
            raise ValueError(
                f"stream {type(self).__name__} needs a task_distribution of random chains, got "
                f"{type(distribution).__name__}; set stream=stationary"
            )

    @abstractmethod
    def means(self, rng: np.random.Generator, mean: MeanModel, distribution: RandomChains) -> Iterator[MeanModel]:
        """Yield the mean model of each task, without end; `mean` is the first.

        The object is the same until the mean model changes. ValueError at the first yield: sigma is impossible with a
        mean model.
        """


class Stationary(TaskStream):
    """One mean model for all tasks of a run (Sec. 3.1)."""

    def check(self, T: int, distribution: TaskDistribution) -> None:
        """Accept every distribution."""

    def means(self, rng: np.random.Generator, mean: MeanModel, distribution: RandomChains) -> Iterator[MeanModel]:
        return repeat(mean)


class Drift(TaskStream):
    """A random walk: each supported entry of P_o moves by N(0, (speed sigma)^2).

    Here sigma is a standard deviation. Moves are centred in each row. Negative entries are reflected at 0 and rows
    normalised, which keeps the support. Steps that would make sigma impossible are skipped.
    """

    speed: Annotated[float, Field(ge=0, le=10)]
    """Standard deviation of a step of the mean model, in units of sigma per task."""

    def means(self, rng: np.random.Generator, mean: MeanModel, distribution: RandomChains) -> Iterator[MeanModel]:
        while True:
            yield mean
            moved = distribution.recentre(mean, self._move(rng, mean))
            mean = moved if moved.has_room else mean

    def _move(self, rng: np.random.Generator, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        support = mean.P_o > 0
        step = np.where(support, self.speed * mean.deviation * rng.standard_normal(mean.P_o.shape), 0.0)
        step -= np.where(support, step.sum(-1, keepdims=True) / support.sum(-1, keepdims=True), 0.0)
        weight = np.abs(mean.P_o + step)
        return np.where(mean.varying[..., None], weight / weight.sum(-1, keepdims=True), mean.P_o)


class Switch(TaskStream):
    """A mean model, replaced by another draw at given tasks."""

    at: Annotated[
        tuple[NewTask, ...],
        BeforeValidator(lambda at: tuple(at) if isinstance(at, list) else at),
        Field(min_length=1),
        Ascending,
    ]
    """Numbers of the tasks with a new mean model, ascending."""

    def check(self, T: int, distribution: TaskDistribution) -> None:
        super().check(T, distribution)
        if self.at[-1] > T:
            raise ValueError(f"the tasks of stream.at must be at most T={T}, got {self.at[-1]}")

    def means(self, rng: np.random.Generator, mean: MeanModel, distribution: RandomChains) -> Iterator[MeanModel]:
        new_means = [distribution.another_mean(rng, mean) for _ in self.at]
        starts = dict(zip(self.at, new_means, strict=True))
        for t in count(1):
            mean = starts.get(t, mean)
            yield mean


class Cycle(TaskStream):
    """Several mean models from one distribution, used in turn or at random."""

    models: Annotated[int, Field(ge=1, le=1000)]
    """Number of mean models, at most T."""
    order: Literal["in_turn", "random"] = "in_turn"
    """Order of the mean models: in turn, or drawn at random for each task after the first."""

    def check(self, T: int, distribution: TaskDistribution) -> None:
        super().check(T, distribution)
        if self.models > T:
            raise ValueError(f"stream.models must be at most T={T}, got {self.models}")

    def means(self, rng: np.random.Generator, mean: MeanModel, distribution: RandomChains) -> Iterator[MeanModel]:
        models = [mean, *(distribution.another_mean(rng, mean) for _ in range(self.models - 1))]
        for t in count():
            yield models[rng.integers(self.models) if t and self.order == "random" else t % self.models]
