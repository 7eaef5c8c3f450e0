"""Gaussian elimination on stacks of small linear systems.

The systems are the last axis of every array, so that each step of the elimination is one elementwise operation for all
systems. That is faster than LAPACK for small systems, and it gives the same bits on every processor and for stacks of
every size.
"""

import numpy as np
from jaxtyping import Float

SMALL = 64
"""Largest number of equations that are solved by elimination.

NumPy's elimination is faster than LAPACK up to about 16 equations and takes three times as long at 64. The compiled
engine's takes a third of LAPACK's time at 64 equations where it has many models, and twice as long for a single one.
Both eliminate up to this number, so that results have the same bits on every processor, whether or not the engine was
built.
"""

STACK = 1500
"""Number of systems that are solved together, chosen such that they fit into the processor's cache."""


def eliminate(system: Float[np.ndarray, "S S+1 n"], scratch: Float[np.ndarray, "S S n"]) -> Float[np.ndarray, "S n"]:
    """Solve n linear systems of S equations in place.

    There is no pivoting, which is safe for diagonally dominant systems such as I - gamma P_pi with gamma < 1. Both
    arguments are overwritten, because allocating them anew would take longer than solving the systems.

    Args:
        system: The coefficients, with the right-hand sides as the last column.
        scratch: Memory for intermediate products.

    Returns:
        The solutions, as a view of the last column of `system`.
    """
    S = len(system)
    for k in range(S - 1):
        factor = np.divide(system[k + 1 :, k], system[k, k], out=system[k + 1 :, k])
        rest = system[k + 1 :, k + 1 :]
        rest -= np.multiply(factor[:, None], system[k, k + 1 :], out=scratch[: S - 1 - k, : S - k])
    V = system[:, S]
    for k in reversed(range(S)):
        V[k] /= system[k, k]
        V[:k] -= np.multiply(system[:k, k], V[k], out=scratch[0, :k])
    return V
