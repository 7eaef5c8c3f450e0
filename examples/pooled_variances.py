"""An example of an estimator: ada-POMRL with pooled variances."""

import numpy as np

from pomrl.components import Memory, PerPair, RegularisedLeastSquares, Truth


class PooledVariances(RegularisedLeastSquares):
    """The best mixing rate of each pair (s, a), from pooled variances.

    The frequencies vary over tasks with variance σ² + v/m. Here σ² is the similarity of the tasks, and v/m the sampling
    noise of m transitions. With an inclusive prior, the mixing rate with the smallest mean squared error is

        α = v / (v + m σ²).

    The estimate of σ² is an average over all entries of the model, and of v over the entries of a pair. Averages avoid
    the bias of the paper's maximum over noisy variances, which makes tasks look less similar.
    """

    def similarity_estimate(self, memory: Memory, m: int, truth: Truth) -> PerPair:
        """Return the square root of the variance over tasks minus the noise.

        In task 1 it is `start_deviation`, and in task 2 the root of the noise.
        """
        n = len(memory.P_o_hat)
        if memory.tasks == 0:
            return np.full((n, 1, 1), self.start_deviation)
        noise = memory.sampling_noise()
        variance = memory.variance(self.variance) - noise if memory.tasks > 1 else noise
        return np.sqrt(np.maximum(variance.mean((1, 2, 3)), 0.0))[:, None, None]

    def mixing_rate(self, t: int, m: int | PerPair, deviation: PerPair, memory: Memory, truth: Truth) -> PerPair:
        """Return alpha_t; it is 0 in task 1, without earlier tasks."""
        if memory.tasks == 0:
            return np.zeros_like(deviation)
        v = memory.sampling_variance().mean(-1)
        total = v + m * deviation**2
        return np.divide(v, total, out=np.ones_like(v), where=total > 0)
