"""Named random streams.

Every random number comes from a generator whose key says what it is for: the seed of the experiment, the index of the
independent run, and the stream. Nothing depends on the order of execution, so that run 17 is the same whether it is
computed alone, among 600 runs, or in another process. Methods that are compared on one problem see the same draws.
"""

from collections import UserList
from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property

import numpy as np

Generators = Sequence[np.random.Generator]
"""The generator of each of n runs, from which nothing is drawn but what it is for."""


class Stream(IntEnum):
    """The purposes of generators; the number of a stream is part of the generator's key."""

    MEAN_MODEL = 0
    TASKS = 1
    BATCHES = 2
    META_BATCHES = 3
    CHANGES = 5
    REWARDS = 6
    AGENTS = 7


def generator(seed: int, run: int, stream: Stream, *index: int) -> np.random.Generator:
    """Return the generator of one stream of one run, which has to be drawn from in the order of the tasks.

    Args:
        seed: Seed of the experiment.
        run: Index of the independent run, from 0.
        stream: What the numbers are for.
        index: Which of the generators for this there are, where there are several.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(run, int(stream), *index))))


class GeneratorsOfRuns(UserList[np.random.Generator]):
    """The generators of one stream of several runs, made when the first of them is asked for: many never are."""

    def __init__(self, seed: int, runs: Sequence[int], stream: Stream) -> None:
        self._keys = [(seed, run, stream) for run in runs]

    @cached_property
    def data(self) -> list[np.random.Generator]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return [generator(*key) for key in self._keys]
