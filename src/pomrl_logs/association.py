"""Test whether a column depends on another one within strata, and measure how much.

Pearson's X² of each stratum is summed. Its mean and variance over all tables with the same margins are exact (Dawson
1954), so that small and empty cells need no care; a gamma distribution with these moments gives the probability.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy.special import gammaincc

AUDITED_ROWS = 200_000
"""Of more rows, so many are drawn for a test."""


@dataclass(frozen=True)
class Association:
    """How two columns go together within strata."""

    p: float
    """The probability of as large an X² if the columns are independent within each stratum."""
    effect: float
    """Cramér's V within strata, from 0 to 1, without what chance gives."""


def associate(x: Int[np.ndarray, " n"], y: Int[np.ndarray, " n"], stratum: Int[np.ndarray, " n"]) -> Association:
    """Return how x and y, numbers of categories from 0, go together within strata."""
    stratum = np.unique(stratum, return_inverse=True)[1]
    S = int(stratum.max(initial=-1)) + 1
    n = np.bincount(stratum, minlength=S).astype(float)
    x_cell, x_size, x_stratum = _margins(x, stratum)
    y_cell, y_size, y_stratum = _margins(y, stratum)
    cell, count = np.unique(x_cell * (len(y_size) + 1) + y_cell, return_counts=True)
    i, j = np.divmod(cell, len(y_size) + 1)
    of_cells = count.astype(float) ** 2 / (x_size[i] * y_size[j])
    r, c = np.bincount(x_stratum, minlength=S), np.bincount(y_stratum, minlength=S)
    used = (n > 3) & (r > 1) & (c > 1)
    chi_square = n * np.bincount(x_stratum[i], of_cells, S) - n
    mean, variance = moments(
        n, r, c, *(np.bincount(s, 1.0 / size, S) for s, size in ((x_stratum, x_size), (y_stratum, y_size)))
    )
    total, expected, spread = (float(values[used].sum()) for values in (chi_square, mean, variance))
    if spread <= 0.0:
        return Association(1.0, 0.0)
    p = float(gammaincc(expected**2 / spread, max(total, 0.0) * expected / spread))
    most = float((n * (np.minimum(r, c) - 1))[used].sum())
    return Association(p, float(np.sqrt(max(total - expected, 0.0) / most)))


def _margins(
    values: Int[np.ndarray, " n"], stratum: Int[np.ndarray, " n"]
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " m"], Int[np.ndarray, " m"]]:
    """Return the number of the pair of a stratum and a value in each row, how often each is there, and its stratum."""
    width = int(values.max(initial=0)) + 1
    pairs, cell, size = np.unique(stratum * width + values, return_inverse=True, return_counts=True)
    return cell, size, pairs // width


def moments(
    n: np.ndarray, r: np.ndarray, c: np.ndarray, of_x: np.ndarray, of_y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and variance of X² over tables with these margins.

    Args:
        n: The sizes of tables.
        r: The numbers of their rows.
        c: The numbers of their columns.
        of_x: The sums of the inverse sizes of rows.
        of_y: The same of columns.
    """
    n = np.maximum(n, 4.0)
    v = [(k - 1) * (n - k) / (n - 1) for k in (r, c)]
    w = [(n * inverse - k**2) / (n - 2) for k, inverse in ((r, of_x), (c, of_y))]
    mean = n * (r - 1) * (c - 1) / (n - 1)
    variance = 2 * n / (n - 3) * (v[0] - w[0]) * (v[1] - w[1]) + n**2 / (n - 1) * w[0] * w[1]
    return mean, np.maximum(variance, 0.0)
