"""Sources of the meta-learner's batches."""

from abc import abstractmethod
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Int
from pydantic import Field

from pomrl.base import Component
from pomrl.science.data import Batch, Data, TaskModels, Trajectories
from pomrl.science.randomness import Generators


class MetaBatch(Component):
    """Base class of sources of the meta-learner's batches."""

    is_shared: ClassVar[bool] = False
    """Whether the trials of a run share one memory."""

    unvisited: Literal["skip", "uniform"] = "skip"
    """Pairs (s,a) without transitions in a batch: left out of the averages, or included as uniform rows."""

    def arrays(self, data: Data) -> int:
        """Return the number of model-sized arrays of additional batches of a task."""
        return 0

    def check(self, data: Data, m: int) -> None:
        """Raise a ValueError if these batches cannot be drawn."""

    @abstractmethod
    def of_tasks(self, own: Batch, data: Data, rngs: Generators, P: TaskModels) -> Batch:
        """Return the meta-learner's batches, one per memory.

        `own` is [T, n, K, S, A, S]; the result [T, n, S, A, S] if shared, otherwise [T, n K, S, A, S].
        """


class Own(MetaBatch):
    """The task's own batch, as in the paper."""

    def of_tasks(self, own: Batch, data: Data, rngs: Generators, P: TaskModels) -> Batch:
        batch = own.reshape(len(P), -1)
        return replace(batch, counted=np.ones_like(batch.counted)) if self.unvisited == "uniform" else batch


class Separate(MetaBatch):
    """Separate batches for the meta-learner alone, combined into one."""

    is_shared: ClassVar[bool] = True

    batches: Annotated[int, Field(ge=1)] = 1
    """Number of separate batches of each task."""
    length: Annotated[int | None, Field(ge=1, le=10**6)] = None
    """Length of the trajectories in separate batches; null: data.length."""
    combine: Literal["mean_of_frequencies", "pooled"] = "pooled"
    """Frequencies in the combined batch: the mean over batches, or from summed counts."""

    def arrays(self, data: Data) -> int:
        return data.pooled_arrays(self.batches)

    def check(self, data: Data, m: int) -> None:
        if self.length is not None and not isinstance(data, Trajectories):
            raise ValueError(
                f"meta_batch.length must be null unless data=trajectories, got {self.length}; set "
                "meta_batch.length=null"
            )
        self._data(data).check(m)

    def _data(self, data: Data) -> Data:
        return replace(data, length=self.length) if self.length and isinstance(data, Trajectories) else data

    def of_tasks(self, own: Batch, data: Data, rngs: Generators, P: TaskModels) -> Batch:
        counts, frequencies, visited = self._data(data).draw_pooled(rngs, P, own.m, self.batches)
        pooled = Batch.of_counts(counts, own.m, equal=data.is_equal)
        if self.unvisited == "uniform":
            pooled = replace(pooled, counted=np.ones_like(pooled.counted))
        if self.combine == "pooled" or data.is_equal:
            return pooled
        return replace(pooled, P_bar=self._mean_of_frequencies(frequencies, visited[..., None]))

    def _mean_of_frequencies(self, total: TaskModels, batches: Int[np.ndarray, "T n S A 1"]) -> TaskModels:
        """Return mean frequencies from sums over batches; uniform without batches."""
        if self.unvisited == "uniform":
            total += (self.batches - batches) / total.shape[-1]
        total[np.broadcast_to(batches == 0, total.shape)] = 1.0 / total.shape[-1]
        return total / total.sum(-1, keepdims=True)
