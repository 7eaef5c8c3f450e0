"""Test whether two columns are associated within strata.

Pearson's X² is summed over strata. The p-value is from a gamma distribution with the exact mean and variance of X²
given the margins (Dawson 1954).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy.special import gammaincc

MAX_TESTED_ROWS = 200_000
"""The largest number of rows in a test; larger logs are sampled."""

MIN_ROWS = 200
"""The smallest number of rows for a test of independence."""

MAX_CHANCE_P = 1e-3
"""The largest p-value of a reported association, corrected for the number of tests."""

MIN_CRAMERS_V = 0.05
"""The smallest Cramér's V of a reported association."""


@dataclass(frozen=True)
class Association:
    """The association of two columns within strata."""

    p: float
    """The probability of this X² or a larger one under independence within strata."""
    effect: float
    """Cramér's V within strata, from 0 to 1, corrected for chance."""


def is_relevant(association: Association, tests: int) -> bool:
    """Return whether an association is to be reported."""
    return association.p * tests < MAX_CHANCE_P and association.effect >= MIN_CRAMERS_V


def associate(x: Int[np.ndarray, " n"], y: Int[np.ndarray, " n"], stratum: Int[np.ndarray, " n"]) -> Association:
    """Measure the association of two columns, coded from 0, within strata."""
    stratum = np.unique(stratum, return_inverse=True)[1]
    S = int(stratum.max(initial=-1)) + 1
    n = np.bincount(stratum, minlength=S).astype(float)
    x_cell, x_size, x_stratum = _margins(x, stratum)
    y_cell, y_size, y_stratum = _margins(y, stratum)
    cell, count = np.unique(x_cell * (len(y_size) + 1) + y_cell, return_counts=True)
    i, j = np.divmod(cell, len(y_size) + 1)
    cell_terms = count.astype(float) ** 2 / (x_size[i] * y_size[j])
    r, c = np.bincount(x_stratum, minlength=S), np.bincount(y_stratum, minlength=S)
    used = (n > 3) & (r > 1) & (c > 1)
    chi_square = n * np.bincount(x_stratum[i], cell_terms, S) - n
    mean, variance = moments(
        n, r, c, *(np.bincount(s, 1.0 / size, S) for s, size in ((x_stratum, x_size), (y_stratum, y_size)))
    )
    total, expected, spread = (float(values[used].sum()) for values in (chi_square, mean, variance))
    if spread <= 0.0:
        return Association(1.0, 0.0)
    p = float(gammaincc(expected**2 / spread, max(total, 0.0) * expected / spread))
    largest = float((n * (np.minimum(r, c) - 1))[used].sum())
    return Association(p, float(np.sqrt(max(total - expected, 0.0) / largest)))


def _margins(
    values: Int[np.ndarray, " n"], stratum: Int[np.ndarray, " n"]
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " m"], Int[np.ndarray, " m"]]:
    """Return each row's pair (stratum, value), and the pairs' sizes and strata."""
    width = int(values.max(initial=0)) + 1
    pairs, cell, size = np.unique(stratum * width + values, return_inverse=True, return_counts=True)
    return cell, size, pairs // width


def moments(
    n: np.ndarray, r: np.ndarray, c: np.ndarray, inverse_rows: np.ndarray, inverse_columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and variance of X² over tables with given margins.

    `n` has table sizes, `r` and `c` numbers of rows and columns. `inverse_rows` and `inverse_columns` have the sums
    of 1 / size over rows and columns.
    """
    n = np.maximum(n, 4.0)
    v = [(k - 1) * (n - k) / (n - 1) for k in (r, c)]
    w = [(n * inverse - k**2) / (n - 2) for k, inverse in ((r, inverse_rows), (c, inverse_columns))]
    mean = n * (r - 1) * (c - 1) / (n - 1)
    variance = 2 * n / (n - 3) * (v[0] - w[0]) * (v[1] - w[1]) + n**2 / (n - 1) * w[0] * w[1]
    return mean, np.maximum(variance, 0.0)
