"""Named random streams.

Every random number comes from a 64-bit key of seed, run, stream and index. Keys form a tree (`fold`). Each stream of a
run has a NumPy generator, used in the order of the tasks. Frequent draws take one key per task from it (`task_keys`,
`sampling`). So run 17 is the same alone, among 600 runs, or in another process.
"""

from collections import UserList
from collections.abc import Sequence
from enum import IntEnum
from functools import cache, cached_property
from typing import Any, cast, overload

import numpy as np
from jaxtyping import Num, UInt64
from numpy.random.bit_generator import ISeedSequence

Generators = Sequence[np.random.Generator]
"""The generator of each of n runs, for a single purpose (`Stream`)."""

Keys = UInt64[np.ndarray, "*N"]
WORD = 2**64 - 1
"""The largest 64-bit key."""


class Stream(IntEnum):
    """The purpose of a generator; its number is part of the key."""

    MEAN_MODEL = 0
    TASKS = 1
    BATCHES = 2
    META_BATCHES = 3
    CHANGES = 5
    REWARDS = 6
    AGENTS = 7


@overload
def fold(key: int, index: int) -> int: ...
@overload
def fold(key: Keys, index: int | Num[np.ndarray, "..."]) -> Keys: ...
def fold(key: Any, index: Any) -> Any:
    """Return the child of a key at an index of at least 0, elementwise.

    It is the output of SplitMix64 (Steele, Lea and Flood 2014) at this index, seeded with the key.
    """
    if isinstance(index, np.ndarray):
        index = index.astype(np.uint64)
    z = (key + ((index + 1) * 0x9E3779B97F4A7C15 & WORD)) & WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
    return z ^ (z >> 31)


@cache
def _root(seed: int) -> int:
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


class _Words(ISeedSequence):
    """A sequence of given seed words, ten times as fast as `SeedSequence`."""

    def __init__(self, state: UInt64[np.ndarray, "4"]) -> None:
        self.words = state

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> UInt64[np.ndarray, "4"]:
        return self.words


def _generator(state: UInt64[np.ndarray, "4"]) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(cast(np.random.SeedSequence, _Words(state))))


WORDS = range(2**32, 2**32 + 4)
"""Indices of the child keys that seed a generator, above the indices of all other children."""


def generator(seed: int, run: int, stream: Stream, *index: int) -> np.random.Generator:
    """Return the generator of a stream of a run.

    `index` distinguishes several generators of one stream.
    """
    key = _root(seed)
    for child in (run, int(stream), *index):
        key = fold(key, child)
    return _generator(np.array([fold(key, child_index) for child_index in WORDS], np.uint64))


class GeneratorsOfRuns(UserList[np.random.Generator]):
    """The generators of one stream in several runs, created on first use."""

    def __init__(self, seed: int, runs: Sequence[int], stream: Stream) -> None:
        self._seed, self._runs, self._stream = seed, runs, stream

    @cached_property
    def data(self) -> list[np.random.Generator]:  # pyright: ignore[reportIncompatibleVariableOverride]
        keys = fold(fold(np.full((1, 1), _root(self._seed), np.uint64), np.array(self._runs)[:, None]), self._stream)
        return [_generator(state) for state in fold(keys, np.array(WORDS))]


def task_keys(rngs: Generators, tasks: int) -> UInt64[np.ndarray, "tasks n"]:
    """Draw a key for each of the next tasks of n runs."""
    return np.array([rng.bit_generator.random_raw(tasks) for rng in rngs]).T
