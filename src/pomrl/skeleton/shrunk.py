"""An estimator of the study's own. `conf/estimator/shrunk.yaml` makes it an option: `estimator=shrunk`."""

import numpy as np
from pomrl.components import Batch, Estimate, Estimator, Field, Truth, no_similarity


class Shrunk(Estimator[np.ndarray]):
    """The mean of the frequencies of earlier tasks, with a fixed weight.

    The memory is the sum of the frequencies P_bar of the tasks so far, for each run.
    """

    weight: float = Field(ge=0, le=1, description="weight of the mean of earlier tasks")

    @property
    def has_similarity(self) -> bool:
        return False

    def initial_memory(self, n: int, S: int, A: int) -> np.ndarray:
        return np.zeros((n, S, A, S))

    def learn(self, memory: np.ndarray, batch: Batch) -> np.ndarray:
        return memory + batch.P_bar

    def estimate(self, t: int, batch: Batch, before: np.ndarray, after: np.ndarray, truth: Truth) -> Estimate:
        """Return the mean over earlier tasks; the first task has none, where it is uniform and has weight 0."""
        total = before.sum(-1, keepdims=True)
        h = np.divide(before, total, out=np.full_like(before, 1.0 / before.shape[-1]), where=total > 0.0)
        alpha = np.full((len(h), 1, 1), self.weight if t > 1 else 0.0)
        return Estimate(h, alpha, no_similarity(len(h)))
