"""Types of the extension module `_compiled.c`. All arrays are contiguous, in C order."""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Actions = NDArray[np.int16]
Indices = NDArray[np.int64]

SOURCE_DIGEST: str
"""The digest of the C source at the build."""

def plan(
    P: Doubles,
    R: Doubles,
    gammas: Doubles,
    policies: Actions,
    values: Doubles,
    M: int,
    S: int,
    A: int,
    G: int,
    sides: int,
    rounding: float,
    patience: int,
    /,
) -> int:
    """Fill `policies`, and `values` if it is not empty.

    Return -1, or the index of a model with more than `patience` changes of its policy at one discount factor.
    """

def evaluate(
    P: Doubles, R: Doubles, models: Indices, policies: Actions, gammas: Doubles, V: Doubles, k: int, S: int, A: int, /
) -> None:
    """Fill `V` with the values of k policies, each on its model in `models`."""
