"""Types of the extension module `_sparse.c`. All arrays are contiguous, in C order."""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Actions = NDArray[np.int16]
Indices = NDArray[np.int32]

SOURCE_DIGEST: str
"""The digest of the C source at the build."""

def improve(
    first: Indices,
    next: Indices,
    P: Doubles,
    R: Doubles,
    V: Doubles,
    policy: Actions,
    S: int,
    A: int,
    gamma: float,
    share: float,
    reduction: float,
    rounding: float,
    noise: float,
    steps: int,
    starts: int,
    sweeps: int,
    rounds: int,
    misplaced: int,
    /,
) -> int:
    """Improve `policy` and its values `V` in place.

    Return 1, 0 if an evaluation failed, or 2 if states should be sorted before the next call.
    """
