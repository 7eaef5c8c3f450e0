"""The types of the extension module that is built from `_sampling.c`. All arrays are contiguous, in C's order."""

import numpy as np
from numpy.typing import NDArray

SOURCE_DIGEST: str
"""The digest of the C source that the module was built from."""

def dirichlet(
    keys: NDArray[np.uint64], shape: NDArray[np.float64], P: NDArray[np.float64], N: int, rows: int, S: int, /
) -> None:
    """Fill `P` with N models, each with a Dirichlet row for each row of shapes."""

def transitions(
    keys: NDArray[np.uint64],
    P: NDArray[np.float64],
    counts: NDArray[np.int64],
    N: int,
    batches: int,
    rows: int,
    S: int,
    m: int,
    /,
) -> None:
    """Fill `counts` with those of m transitions from each row of each of N models."""

def trajectories(
    keys: NDArray[np.uint64],
    P: NDArray[np.float64],
    counts: NDArray[np.int64],
    N: int,
    batches: int,
    m: int,
    L: int,
    S: int,
    A: int,
    /,
) -> None:
    """Fill `counts` with those of the transitions of m trajectories of L transitions in each batch."""

def pooled_trajectories(
    keys: NDArray[np.uint64],
    P: NDArray[np.float64],
    counts: NDArray[np.int64],
    frequencies: NDArray[np.float64],
    visited: NDArray[np.int64],
    N: int,
    batches: int,
    m: int,
    L: int,
    S: int,
    A: int,
    /,
) -> None:
    """Fill sums over batches of counts, of frequencies of next states, and of pairs that were visited."""
