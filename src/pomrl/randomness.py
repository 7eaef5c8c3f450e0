"""Named random streams.

Every draw of the project comes from a generator that is keyed by what it is for: the seed of the experiment, the index
of the run and the name of the stream. Nothing depends on the order of execution, so that run 17 is the same whether it
is computed alone, among 600, or in another process; and methods that are compared at one problem see the same draws.
"""

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """What a generator is for; the number is part of its key."""

    MEAN_MODEL = 0
    TASKS = 1
    BATCHES = 2


def generator(seed: int, run: int, stream: Stream) -> np.random.Generator:
    """The generator of one stream of one run; each stream is drawn from in the order of the tasks."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(run, int(stream)))))
