"""An example of an estimator with a custom memory."""

import numpy as np

from pomrl.components import Batch, Estimate, Estimator, Field, Truth


class AllAlike(Estimator[np.ndarray]):
    """The frequencies of all transitions so far, as if all tasks were the same."""

    start: float = Field(default=0.01, gt=0, description="transitions to each state before any batch")

    @property
    def has_similarity(self) -> bool:
        return False

    def initial_memory(self, n: int, S: int, A: int) -> np.ndarray:
        return np.full((n, S, A, S), self.start)

    def learn(self, memory: np.ndarray, batch: Batch) -> np.ndarray:
        return memory + batch.counts

    def assess(self, t: int, batch: Batch, before: np.ndarray, after: np.ndarray, truth: Truth) -> Estimate:
        ones = np.ones((len(after), 1, 1))
        return Estimate(h=after / after.sum(-1, keepdims=True), alpha=ones, deviation=np.nan * ones)
