"""Types of the extension module `_learning.c`. All arrays are contiguous, in C order."""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

SOURCE_DIGEST: str
"""The digest of the C source at the build."""

def frequencies(counts: NDArray[np.int64], visits: Doubles, P_bar: Doubles, groups: int, size: int, S: int, /) -> None:
    """Fill `visits` and `P_bar` from the counts of groups of rows with S states."""

def add(*arguments: Doubles | int) -> None:
    """Fill the last three of twelve arrays with the sums over tasks after one more task (see the C source)."""

def mix(
    alpha: Doubles,
    h: Doubles,
    P_bar: Doubles,
    P_hat: Doubles,
    n: int,
    trials: int,
    rates: int,
    own: int,
    groups: int,
    size: int,
    /,
) -> None:
    """Fill `P_hat` with the estimates of trials in n runs (Eq. 4)."""

def errors(P_hat: Doubles, P: Doubles, errors: Doubles, N: int, K: int, size: int, /) -> None:
    """Fill `errors` with the largest errors of K estimates of each of N models."""
