"""Draws of tasks and transitions in plain Python, independent of the library."""

import numpy as np

WORD = 2**64


def child(key: int, index: int) -> int:
    """Return output number `index` of SplitMix64 with this key."""
    z = (int(key) + (index + 1) * 0x9E3779B97F4A7C15) % WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def number(key: int, index: int) -> float:
    """Return uniform number `index` of a key."""
    return ((child(key, index) >> 12) + 0.5) / 2**52


def task_key(rng: np.random.Generator) -> int:
    """Draw the key of the next task."""
    return int(rng.bit_generator.random_raw())


def transitions(key: int, P: np.ndarray, m: int, batch: int = 0) -> np.ndarray:
    """Return the counts of m <= 50 transitions from each pair."""
    counts = np.zeros(P.shape, int)
    for row, (s, a) in enumerate(np.ndindex(P.shape[:2])):
        for i in range(m):
            u = number(child(child(key, batch), row), i)
            counts[s, a, np.searchsorted(P[s, a].cumsum()[:-1], u, side="right")] += 1
    return counts


def trajectories(key: int, P: np.ndarray, m: int, length: int, batch: int = 0) -> np.ndarray:
    """Return the counts of m trajectories, simulated one by one."""
    S, A, _ = P.shape
    counts = np.zeros(P.shape, int)
    for i in range(m):
        trajectory_key = child(child(key, batch), i)
        s = int(number(trajectory_key, 0) * S)
        for step in range(length):
            u = number(trajectory_key, 1 + step) * A
            a, following = int(u), 0
            while u - a >= P[s, a, : following + 1].sum() and P[s, a, following + 1 :].any():
                following += 1
            counts[s, a, following] += 1
            s = following
    return counts
