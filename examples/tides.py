"""An example of a stream of tasks: the mean model moves periodically."""

from collections.abc import Iterator
from itertools import count
from math import cos, pi

import numpy as np

from pomrl.components import Field, MeanModel, RandomChains, TaskStream


class Tides(TaskStream):
    """A mean model (1 - w) P + w Q in task t, with w = (1 - cos(2 pi (t - 1) / period)) / 2."""

    period: int = Field(ge=2, description="number of tasks after which the mean model is the first one again")

    def means(self, rng: np.random.Generator, mean: MeanModel, distribution: RandomChains) -> Iterator[MeanModel]:
        other = distribution.another_mean(rng, mean)
        yield mean
        for t in count(2):
            w = (1.0 - cos(2.0 * pi * (t - 1) / self.period)) / 2.0
            yield distribution.recentre(mean, (1.0 - w) * mean.P_o + w * other.P_o)
