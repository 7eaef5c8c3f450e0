"""An example of a task distribution: rows move towards random corners."""

from math import sqrt

import numpy as np
from jaxtyping import Float

from pomrl.components import MeanModel, RandomChains


class Corners(RandomChains):
    """Tasks with rows that are pulled towards random corners of the simplex.

    P_t(s,a) = (1 - w) P_o(s,a) + w e_s', with a state s' drawn from P_o(s,a), and one w for the whole model. An entry
    has mean p = P_o(s,a,s') and variance w² p (1 - p), as for Dirichlet tasks. Each row has at most S different values.
    """

    def _largest_deviation(self, P_o: Float[np.ndarray, "pairs S"]) -> float:
        return sqrt((P_o * (1.0 - P_o)).max())

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        return self._weight(mean) ** 2 * mean.P_o * (1.0 - mean.P_o) * mean.varying[..., None]

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        w = self._weight(mean)
        return (1.0 - w) * mean.P_o + w * rng.multinomial(1, mean.P_o, (tasks, *mean.P_o.shape[:2]))

    @staticmethod
    def _weight(mean: MeanModel) -> float:
        return mean.deviation / mean.largest_deviation if mean.deviation > 0 else 0.0
