"""Elimination on stacks of small linear systems, with the systems as the last axis.

Every step is one elementwise operation for all systems. That is faster than LAPACK for small ones, and it gives the
same bits on every processor and in stacks of every size.
"""

import numpy as np
from jaxtyping import Float

SMALL = 16
"""Equations up to which this is faster than LAPACK."""

STACK = 1500
"""Systems that are solved together, so that they fit into the cache."""


def eliminate(system: Float[np.ndarray, "S S+1 n"], room: Float[np.ndarray, "S S n"]) -> Float[np.ndarray, "S n"]:
    """Solve n systems of S equations, whose right-hand sides are the last column; the solutions are a view of it.

    Gaussian elimination without pivots, for diagonally dominant systems. `system` is overwritten, `room` is for use.
    """
    S = len(system)
    for k in range(S - 1):
        factor = np.divide(system[k + 1 :, k], system[k, k], out=system[k + 1 :, k])
        rest = system[k + 1 :, k + 1 :]
        rest -= np.multiply(factor[:, None], system[k, k + 1 :], out=room[: S - 1 - k, : S - k])
    V = system[:, S]
    for k in reversed(range(S)):
        V[k] /= system[k, k]
        V[:k] -= np.multiply(system[:k, k], V[k], out=room[0, :k])
    return V
