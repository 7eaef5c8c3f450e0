"""Types of the extension module `_sampling.c`. All arrays are contiguous, in C order."""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Doubles = NDArray[np.float64]
Counts = NDArray[np.int64]

SOURCE_DIGEST: str
"""The digest of the C source at the build."""

def dirichlet(keys: Keys, shapes: Doubles, P: Doubles, tasks: int, n: int, rows: int, S: int, /) -> None:
    """Fill `P` with the models of tasks in n runs, with a Dirichlet row for each row of the run's shapes."""

def transitions(keys: Keys, P: Doubles, counts: Counts, N: int, batches: int, rows: int, S: int, m: int, /) -> None:
    """Fill `counts` with the counts of m transitions from each row of each of N models."""

def trajectories(
    keys: Keys, P: Doubles, counts: Counts, N: int, batches: int, m: int, L: int, S: int, A: int, /
) -> None:
    """Fill `counts` with the counts of m trajectories of L transitions in each batch."""

def pooled_trajectories(
    keys: Keys,
    P: Doubles,
    counts: Counts,
    frequencies: Doubles,
    visited: Counts,
    N: int,
    batches: int,
    m: int,
    L: int,
    S: int,
    A: int,
    /,
) -> None:
    """Fill sums over batches of counts, of frequencies of next states, and of visited pairs."""

def log(x: Doubles, y: Doubles, n: int, /) -> None:
    """Fill `y` with natural logarithms of n numbers."""

def exp(x: Doubles, y: Doubles, n: int, /) -> None:
    """Fill `y` with exponentials of n numbers."""

def log_gamma(x: Doubles, y: Doubles, n: int, /) -> None:
    """Fill `y` with logarithms of the gamma function of n numbers."""
