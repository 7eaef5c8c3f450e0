"""Estimates of correlations, by resamples of units."""

from dataclasses import dataclass

import numpy as np

from verdicts.estimates import MAX_RESAMPLES_AT_ONCE, MIN_UNITS, ScalarEstimate, Statistic
from verdicts.resampling import bootstrap_means, normal_means

MIN_NORMAL_UNITS = 100
"""The smallest number of units to draw resamples from a normal distribution."""

PRECISE_UNITS = 1000
"""The smallest number of units for more resamples, because claims with many units are judged at small errors."""

RESAMPLES = 9999
"""The number of resamples for correlations with few units."""

PRECISE_RESAMPLES = 399_999
"""The number of resamples for correlations with many units. Fewer cannot resolve small error rates."""


@dataclass(frozen=True)
class Correlation(ScalarEstimate):
    """An estimate of a correlation of estimated numbers, by B resamples of units.

    Their errors weaken the correlation: a positive estimate's interval extends to 1, a negative one's to -1.
    """

    distribution: np.ndarray
    """The values [B] in the resamples, with ties; NaN with too few units."""
    is_discrete = True

    def _p_values(self, threshold: float) -> tuple[float, float]:
        counts = np.array([(self.distribution <= threshold).sum(), (self.distribution >= threshold).sum()])
        # Never 0: if none of B resamples is beyond the threshold, the p-value is about 1 / B.
        at_most, at_least = ((counts + 1) / (len(self.distribution) + 2)).tolist()
        return at_most, at_least

    def _interval(self, error: float) -> tuple[float, float]:
        if error / 2 < 1.0 / (len(self.distribution) + 2):  # too few resamples for these quantiles
            return -1.0, 1.0
        lower, upper = np.quantile(self.distribution, [error / 2, 1.0 - error / 2]).tolist()
        return (-1.0 if self.value <= 0.0 else lower), (1.0 if self.value >= 0.0 else upper)


def correlation(statistic: Statistic, sample: np.ndarray) -> Correlation:
    """Estimate a correlation, a function of the means of a sample [n, k], by resampling units."""
    value, n = statistic(sample.mean(0, keepdims=True)).item(), len(sample)
    if n < MIN_UNITS:
        return Correlation(value, n, np.full(RESAMPLES, np.nan))
    if n < MIN_NORMAL_UNITS:
        return Correlation(value, n, statistic(bootstrap_means(sample, RESAMPLES)))
    resamples = RESAMPLES if n < PRECISE_UNITS else PRECISE_RESAMPLES
    distribution = [statistic(means) for means in normal_means(sample, resamples, MAX_RESAMPLES_AT_ONCE, 0)]
    return Correlation(value, n, np.concatenate(distribution))
