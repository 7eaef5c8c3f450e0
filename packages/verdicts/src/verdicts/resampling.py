"""Resamples of means over units."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

MAX_DEVIATION_UNITS = 10_000
"""The largest number of units whose deviations from the mean are in memory together."""


@lru_cache(maxsize=4)
def bootstrap_weights(n: int, resamples: int, seed: int) -> np.ndarray:
    """Return the weight of each unit in each of B resamples [B, n]."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=resamples) / n


def bootstrap_means(sample: np.ndarray, resamples: int = 1000, seed: int = 0) -> np.ndarray:
    """Return the means [B, ...] over units of a sample [n, ...] in B resamples."""
    means = bootstrap_weights(len(sample), resamples, seed) @ sample.reshape(len(sample), -1)
    return means.reshape(resamples, *sample.shape[1:])


def normal_means(sample: np.ndarray, resamples: int, chunk: int, seed: int) -> Iterator[np.ndarray]:
    """Yield chunks [b, k] of normally distributed means over units of a sample [n, k].

    They approximate bootstrap means of many units. The square root of the covariance is symmetric, because signs of
    eigenvectors differ between processors.
    """
    n, centre = len(sample), sample.mean(0)
    products = np.zeros((len(centre), len(centre)))
    for start in range(0, n, MAX_DEVIATION_UNITS):
        deviations = sample[start : start + MAX_DEVIATION_UNITS] - centre
        products += deviations.T @ deviations
    variances, directions = np.linalg.eigh(products / ((n - 1) * n))
    root = (directions * np.sqrt(np.clip(variances, 0.0, None))) @ directions.T
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, chunk):
        yield centre + rng.standard_normal((min(chunk, resamples - start), len(centre))) @ root
