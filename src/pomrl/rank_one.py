"""An estimator that learns the one number in which tasks differ, and in which direction it moves their models.

If a latent z_t ties the rows of a task's model, models lie near a line, P_t = P_o + z_t U, with a direction U in the
space of models. The frequencies of the tasks so far, less their mean, are then a matrix X of rank one plus the noise of
sampling. The noise of a task adds a known amount to the diagonal of the tasks' inner products X X', and nothing off it;
what is left has a leading eigenvector v, which says where on the line each task lies, and U is along v' X.

The noise that is left is symmetric, so that the smallest eigenvalue of such a matrix says how large the largest one may
be without any signal (the edge of a semicircle). The signal counts as the part of the largest eigenvalue that this does
not explain.
"""

from dataclasses import dataclass as plain_dataclass
from dataclasses import fields, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import model_validator
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED, read_only
from pomrl.data import Batch
from pomrl.estimators import Estimator, Truth
from pomrl.memory import Memory, Models

LATEST = 64
"""The number of latest tasks from which the direction is learned; the mean is that of all tasks."""

FEWEST = 3
"""The number of tasks, the own included, from which on a direction is learned; before, the estimate is the mean."""


@plain_dataclass(frozen=True)
class LineMemory(Memory):
    """The memory with the frequencies of the latest tasks."""

    frequencies: Float[np.ndarray, "t n S A S"]
    """P_bar of each of the latest tasks; NaN in rows that their batches do not count."""
    numbers: Float[np.ndarray, "t n S A"]
    """The number of transitions from each pair (s, a) in these batches."""

    def __post_init__(self) -> None:
        super().__post_init__()
        read_only(self.frequencies, self.numbers)

    def learned(self, batch: Batch) -> "LineMemory":
        """Return the memory after one more task with this batch."""
        row = np.where(batch.counted[..., None], batch.P_bar, np.nan)
        number = np.broadcast_to(batch.visits, batch.P_bar.shape[:-1])
        frequencies, numbers = (
            np.concatenate([before, new[None]])[-LATEST:]
            for before, new in ((self.frequencies, row), (self.numbers, number))
        )
        return replace(self.update(batch), frequencies=frequencies, numbers=numbers)  # type: ignore[arg-type]


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class RankOne(Estimator):
    """The point on a line through the mean model that the task's batch is nearest to, where the line is learned.

    The place on the line is shrunk towards the mean by as much as sampling makes it uncertain, and it is the mean while
    the batches so far show no common direction. The task's own frequencies have no other part in the estimate, so that
    it suits tasks that differ in one number alone.
    """

    fixed_keys: ClassVar[frozenset[str]] = frozenset(field.name for field in fields(Estimator))

    mixing: float = 1.0

    @model_validator(mode="after")
    def _nothing_to_set(self) -> "RankOne":
        for field in fields(self):
            if (given := getattr(self, field.name)) != field.default:
                raise ValueError(f"{field.name}={given}: this estimator learns all that it needs; leave this key out")
        return self

    def initial_memory(self, n: int, S: int, A: int) -> LineMemory:
        start = super().initial_memory(n, S, A)
        return LineMemory(**vars(start), frequencies=np.zeros((0, n, S, A, S)), numbers=np.zeros((0, n, S, A)))

    def learn(self, memory: Memory, batch: Batch) -> LineMemory:
        assert isinstance(memory, LineMemory)
        return memory.learned(batch)

    def prior_model(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        after = self.learn(memory, batch)
        mean = after.P_o_hat
        if after.tasks < FEWEST:
            return mean
        estimate = np.stack(
            [on_the_line(mean[i], after.frequencies[:, i], after.numbers[:, i]) for i in range(len(mean))]
        )
        estimate = np.maximum(estimate, 0.0)
        return estimate / estimate.sum(-1, keepdims=True)


def on_the_line(
    mean: Float[np.ndarray, "S A S"], frequencies: Float[np.ndarray, "t S A S"], numbers: Float[np.ndarray, "t S A"]
) -> Float[np.ndarray, "S A S"]:
    """Return the point on the learned line of models at which the last of t tasks is.

    Args:
        mean: The mean model of the tasks.
        frequencies: The frequencies P_bar of each task; NaN in rows that do not count.
        numbers: The number of transitions from each pair (s, a) in each task.

    Returns:
        A model whose rows sum to 1, and whose entries may be below 0.
    """
    t, S = len(frequencies), mean.shape[-1]
    known = ~np.isnan(frequencies)
    X = np.where(known, frequencies - mean, 0.0).reshape(t, -1)
    weight = np.divide(known[..., 0], numbers, out=np.zeros_like(numbers), where=numbers > 0)
    noise = (weight * (mean * (1.0 - mean)).sum(-1)).sum((1, 2)) * (1.0 - 1.0 / t)
    values, vectors = np.linalg.eigh(X @ X.T - np.diag(noise))
    direction = vectors[:, -1] @ X
    length = np.sqrt(direction @ direction)
    if values[-1] <= -values[0] or length == 0.0:
        return mean
    direction /= length
    signal = values[-1] * (1.0 - (min(values[0], 0.0) / values[-1]) ** 2) / t
    U = direction.reshape(-1, S)
    P = mean.reshape(-1, S)
    of_rows = (P * U**2).sum(1) - (P * U).sum(1) ** 2
    uncertainty = float(of_rows @ weight[-1].ravel())
    place = signal / (signal + uncertainty) * float(X[-1] @ direction)
    return mean + place * direction.reshape(mean.shape)
