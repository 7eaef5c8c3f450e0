"""An example of an estimator: shrink a task's frequencies towards the mean of earlier tasks."""

import numpy as np

from pomrl.components import Batch, Memory, ModelEstimator, Models, Truth

AXES = (1, 2, 3)
"""The axes of states, actions and next states; axis 0 has the runs."""


class JamesStein(ModelEstimator):
    """The positive-part James-Stein estimate, with one weight for all pairs.

    The weight of the mean of earlier tasks is (1 - 2 / d) noise / distance, at most 1. The distance is between the
    task's frequencies and this mean, squared. The noise is an unbiased estimate of the sampling variance of the
    frequencies, and d the number of free probabilities.
    """

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        if memory.tasks == 0:
            return batch.P_bar
        _, S, A, _ = batch.P_bar.shape
        others = np.maximum(batch.visits - 1.0, 1.0)[..., None]
        noise = (batch.P_bar * (1.0 - batch.P_bar) / others).sum(AXES, keepdims=True)
        distance = ((batch.P_bar - memory.P_o_hat) ** 2).sum(AXES, keepdims=True)
        shrunk = (1.0 - 2.0 / max(S * A * (S - 1), 2)) * noise
        weight = np.divide(shrunk, distance, out=np.ones_like(noise), where=distance > shrunk)
        return weight * memory.P_o_hat + (1.0 - weight) * batch.P_bar
