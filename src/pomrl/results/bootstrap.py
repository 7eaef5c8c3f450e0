"""The bootstrap over runs: how many resamples there are for what, the means over them, and percentile intervals.

Whole runs are resampled, because runs are independent and the tasks of one run are not.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from pomrl.results.intervals import ENDS, Interval

RESAMPLES_OF_GAMMA_STAR = 1000
"""For gamma*: its bars in figures, and what studies compute from it."""

RESAMPLES_OF_SUMMARIES = 2000
"""For interquartile means and medians, in tables and plots."""

RESAMPLES_OF_CLAIMS = 9999
"""For the correlations of claims that are judged on few runs."""

MANY_RESAMPLES_OF_CLAIMS = 399_999
"""For the correlations of claims at precision, whose errors are so small that fewer resamples do not resolve them."""

MOST_RESAMPLED = 2**20
"""The number of runs that are resampled at once, which bounds memory; it changes no result."""

RUNS_AT_A_TIME = 10_000
"""The number of runs whose deviations from the mean are in memory together."""


def percentile(estimate: float, resampled: Float[np.ndarray, " B"]) -> Interval:
    """Return an estimate with the 95 % percentile interval of its values in resamples."""
    lower, upper = np.quantile(resampled, ENDS)
    return Interval(float(estimate), float(lower), float(upper))


def bootstrap_interval(sample: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]) -> Interval:
    """Return a statistic of numbers[K, n] over n runs, with the percentile interval of resampled runs."""
    estimate = float(np.squeeze(statistic(sample)))
    n, resamples = sample.shape[-1], RESAMPLES_OF_SUMMARIES
    if n < 2:
        return Interval(estimate, np.nan, np.nan)
    generator = np.random.default_rng(0)
    at_once = max(1, MOST_RESAMPLED // n)
    sizes = [min(at_once, resamples - first) for first in range(0, resamples, at_once)]
    resampled = [statistic(sample.take(generator.integers(n, size=(size, n)), axis=-1)).reshape(size) for size in sizes]
    return percentile(estimate, np.concatenate(resampled))


@lru_cache(maxsize=4)
def bootstrap_weights(n: int, resamples: int, seed: int) -> Float[np.ndarray, "B n"]:
    """Return the weight of each of n runs in each of B resamples of n runs: how often it is drawn, divided by n."""
    counts: Int[np.ndarray, "B n"] = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=resamples)
    return counts / n


def bootstrap_means(
    sample: Float[np.ndarray, "n ..."], resamples: int = RESAMPLES_OF_GAMMA_STAR, seed: int = 0
) -> Float[np.ndarray, "B ..."]:
    """Return the mean over runs of an array of numbers for each run, in each of B resamples of the runs."""
    means = bootstrap_weights(len(sample), resamples, seed) @ sample.reshape(len(sample), -1)
    return means.reshape(resamples, *sample.shape[1:])


def normal_means(
    sample: Float[np.ndarray, "n k"], resamples: int, at_a_time: int, seed: int
) -> Iterator[Float[np.ndarray, "b k"]]:
    """Yield draws from the normal distribution that the mean over many runs has, at most `at_a_time` together.

    Its covariance is that of the runs, divided by their number. So these are the resampled means of a bootstrap of many
    runs, without their resamples.

    The square root of the covariance is the symmetric one, because the signs of eigenvectors are arbitrary, and differ
    between processors.
    """
    n, centre = len(sample), sample.mean(0)
    products = np.zeros((len(centre), len(centre)))
    for start in range(0, n, RUNS_AT_A_TIME):
        deviations = sample[start : start + RUNS_AT_A_TIME] - centre
        products += deviations.T @ deviations
    variances, directions = np.linalg.eigh(products / ((n - 1) * n))
    root = (directions * np.sqrt(np.clip(variances, 0.0, None))) @ directions.T
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, at_a_time):
        yield centre + rng.standard_normal((min(at_a_time, resamples - start), len(centre))) @ root
