"""An estimator of the study's own. `conf/estimator/shrunk.yaml` makes it an option: `estimator=shrunk`."""

import numpy as np
from pomrl.components import Batch, Estimator, Field, Models, PerPair, Truth


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

    def prior_model(self, memory: np.ndarray, batch: Batch, truth: Truth) -> Models:
        """Return the mean over earlier tasks, or equal probabilities in the first task."""
        total = memory.sum(-1, keepdims=True)
        return np.divide(memory, total, out=np.full_like(memory, 1.0 / memory.shape[-1]), where=total > 0.0)

    def similarity_estimate(self, memory: np.ndarray, m: int, truth: Truth) -> PerPair:
        return np.full((len(memory), 1, 1), np.nan)

    def mixing_rate(self, t: int, m: int | PerPair, sigma: PerPair, memory: np.ndarray, truth: Truth) -> PerPair:
        """Return the weight, but 0 in the first task, which has none before it."""
        return np.full_like(sigma, self.weight if t > 1 else 0.0)
