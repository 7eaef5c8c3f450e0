"""The types of the extension module that is built from `_compiled.c`. All arrays are contiguous, in C's order."""

import numpy as np
from numpy.typing import NDArray

SOURCE_DIGEST: str
"""The digest of the C source that the module was built from."""

def plan(
    P: NDArray[np.float64],
    R: NDArray[np.float64],
    gammas: NDArray[np.float64],
    policies: NDArray[np.int16],
    M: int,
    S: int,
    A: int,
    G: int,
    sides: int,
    rounding: float,
    patience: int,
    /,
) -> int:
    """Fill `policies`; return -1, or the index of a model whose policy changes more than `patience` times."""

def evaluate(
    P: NDArray[np.float64],
    R: NDArray[np.float64],
    models: NDArray[np.int64],
    policies: NDArray[np.int16],
    gammas: NDArray[np.float64],
    V: NDArray[np.float64],
    k: int,
    S: int,
    A: int,
    /,
) -> None:
    """Fill `V` with the values of k policies, each of the model that `models` names."""
