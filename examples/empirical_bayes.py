"""An estimator of one's own: ada-POMRL as an empirical Bayesian would have it."""

import numpy as np
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED
from pomrl.estimators import Estimator, Memory, PerPair, Truth


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class EmpiricalBayes(Estimator):
    """The mixing rate that minimises the mean squared error in each pair (s, a), from two variances that it estimates.

    Frequencies vary from task to task by sigma^2 + v/m: by the similarity of the tasks, and by the noise of m samples.
    sigma^2 is an average over all entries of the model and v one over those of a pair, so that no maximum of noisy
    numbers makes tasks look less similar than they are. With a prior that contains the task's own batch
    alpha = v / (v + m sigma^2) is best.
    """

    def similarity_estimate(self, memory: Memory, m: int, truth: Truth) -> PerPair:
        """The variance across tasks less the noise; in task 2, where only the noise is known, as much as the noise."""
        n = len(memory.P_o_hat)
        if memory.tasks == 0:
            return np.full((n, 1, 1), self.sigma_1)
        noise = memory.sampling_variance(m) / m
        variance = memory.variance(self.variance) - noise if memory.tasks > 1 else noise
        return np.sqrt(np.maximum(variance.mean((1, 2, 3)), 0.0))[:, None, None]

    def mixing_rate(self, t: int, m: int, sigma: PerPair, memory: Memory, truth: Truth) -> PerPair:
        """alpha_t; 0 in task 1, which has no tasks before it."""
        if memory.tasks == 0:
            return np.zeros_like(sigma)
        v = memory.sampling_variance(m).mean(-1)
        total = v + m * sigma**2
        return np.divide(v, total, out=np.ones_like(v), where=total > 0)
