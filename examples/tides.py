"""An example of a stream of tasks: the mean model goes back and forth between two models."""

from collections.abc import Iterator
from itertools import count
from math import cos, pi
from typing import Annotated

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from pomrl.checks import CHECKED
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import RandomChains
from pomrl.science.tasks.streams import TaskStream


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Tides(TaskStream):
    """The mean model of task t is (1 - w) P + w Q with w = (1 - cos(2 pi (t - 1) / period)) / 2."""

    period: Annotated[int, Field(ge=2, description="number of tasks after which the mean model is the first one again")]

    def means(self, rng: np.random.Generator, mean: MeanModel, distribution: RandomChains) -> Iterator[MeanModel]:
        other = distribution.another_mean(rng, mean)
        yield mean
        for t in count(2):
            w = (1.0 - cos(2.0 * pi * (t - 1) / self.period)) / 2.0
            yield distribution.recentred(mean, (1.0 - w) * mean.P_o + w * other.P_o)
