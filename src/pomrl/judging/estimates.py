"""Estimates over runs, with intervals at any level and p-values for any threshold.

- Smooth functions of mean losses: Student's interval with the leave-one-run-out (jackknife) standard error.
- Ratios of means, minima of mean losses over a grid, and gamma*: t tests in pairs (`pomrl.judging.minima`).
- Correlations of gamma* with an index: the percentile bootstrap over runs.
- Counts of true statements: Holm's correction of their p-values.
- `Exact` numbers have no interval.

**Skewness.** Losses have a standard deviation of 1.7 at a mean of 1.1, which matters at levels of 1 in 10,000. From
`MIN_SKEWNESS_RUNS` runs on, t is transformed as by Hall (1992, "On the removal of skewness by transformation", JRSS B
54). A large t goes with too small a skewness: its regression on t, with slope (kurtosis - 1.5 skewness^2) / n where
positive, is subtracted first. The plain t must agree, because heavy tails make the transformed one too large.

`python -m benchmarks.error_rates` simulates comparisons with their truth on the threshold. With 100 to 4000 runs of
real losses, t tests had up to 1.3 times nominal errors of 1e-2 to 1e-4, 1.5 times 1e-5 and 1.8 times 1e-6. The
bootstrap of correlations has no correction: where one tie of two skewed losses decides its sign, it had up to 17 times
1e-4.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy.special import stdtr, stdtrit

from pomrl.results.intervals import (
    ERROR_RATE,
    NO_SPREAD,
    RESAMPLES_OF_CLAIMS,
    RESAMPLES_OF_PRECISE_CLAIMS,
    bootstrap_means,
    normal_means,
)

MIN_INTERVAL_RUNS = 10
"""With fewer runs no interval is given: means of so few losses are far from normally distributed."""

MIN_SKEWNESS_RUNS = 100
"""From this number of runs on, skewness is corrected for and resamples are drawn from the normal distribution."""

PRECISE_RUNS = 1000
"""The number of runs from which on claims are judged with errors so small that they need many resamples."""

MAX_RESAMPLES_AT_ONCE = 10_000
"""The number of resamples, or of samples without one run, that are held in memory together."""

FIXED_POINT_STEPS = 50
"""The steps in which the ends of intervals are found; the error of an end shrinks by two fifths or more in each."""

Sample = Float[np.ndarray, "_runs ..."]
"""A number, or an array of numbers, for each independent run."""

Statistic = Callable[[np.ndarray], np.ndarray]
"""A function of the mean of a sample, vectorised: stacked along a first axis, B means give B values."""


@dataclass(frozen=True)
class ScalarEstimate(ABC):
    """Estimate a number, with intervals and p-values at any level."""

    value: float
    runs: int
    """The number of runs that it is estimated from."""
    is_discrete: ClassVar[bool] = False
    """Whether its values are few, so that the width of intervals does not fall as one over the root of the runs."""

    @property
    def is_constant(self) -> bool:
        """Return whether the number is the same in every run."""
        return False

    @property
    def is_possible(self) -> bool:
        """Return whether there are enough runs for p-values and intervals."""
        return self.runs >= MIN_INTERVAL_RUNS

    def p_values(self, threshold: float) -> tuple[float, float]:
        """Return the p-values of `number <= threshold` and of `number >= threshold`.

        With too few runs those of a finite threshold are NaN.
        """
        if not np.isfinite(threshold):
            return float(threshold > 0), float(threshold < 0)
        return self._p_values(threshold) if self.is_possible else (np.nan, np.nan)

    def interval(self, error: float) -> tuple[float, float]:
        """Return the interval with half of this error on either side.

        Its ends are NaN with too few runs.
        """
        if not self.is_possible:
            return np.nan, np.nan
        return (self.value, self.value) if self.is_constant else self._interval(error)

    @abstractmethod
    def _p_values(self, threshold: float) -> tuple[float, float]: ...

    @abstractmethod
    def _interval(self, error: float) -> tuple[float, float]: ...

    @cached_property
    def lower(self) -> float:
        """The lower end at the usual confidence level."""
        return self.interval(ERROR_RATE)[0]

    @cached_property
    def upper(self) -> float:
        """The upper end at the usual confidence level."""
        return self.interval(ERROR_RATE)[1]


@dataclass(frozen=True)
class Exact(ScalarEstimate):
    """Hold a known number: no runs, no interval, p-values 0 or 1."""

    runs: int = 0

    @property
    def is_possible(self) -> bool:
        return True

    def _p_values(self, threshold: float) -> tuple[float, float]:
        return float(self.value <= threshold), float(self.value >= threshold)

    def _interval(self, error: float) -> tuple[float, float]:
        return np.nan, np.nan


@dataclass(frozen=True)
class Skewness:
    """Hold the skewness of means over n runs, with its drift."""

    value: Float[np.ndarray, "..."] | float = 0.0
    """That of the runs over the root of n; 0: no correction."""
    drift: Float[np.ndarray, "..."] | float = 0.0
    """The covariance of a sample's skewness with its t statistic, where it is positive."""

    @staticmethod
    def from_moments(second: np.ndarray, third: np.ndarray, fourth: np.ndarray, n: int) -> "Skewness":
        """Estimate the skewness from moments of n runs; 0 with few runs."""
        value = third / second**1.5 if n >= MIN_SKEWNESS_RUNS else np.zeros_like(third)
        drift = np.maximum(0.0, fourth / second**2 - 3.0 - 1.5 * value**2) if n >= MIN_SKEWNESS_RUNS else value
        return Skewness(value / np.sqrt(n), drift / n)

    def __neg__(self) -> "Skewness":
        return Skewness(-self.value, self.drift)

    def expected(self, t: Float[np.ndarray, "..."] | float) -> np.ndarray:
        """Return the expected skewness if the sample has this t statistic."""
        limit = 1.0 / np.sqrt(np.maximum(self.drift, NO_SPREAD))  # beyond it the corrected t would not grow with t
        return np.asarray(self.value - self.drift * np.clip(t, -limit, limit))


@dataclass(frozen=True)
class Student(ScalarEstimate):
    """Estimate a number with Student's distribution, after a correction for skewness."""

    deviation: float
    """The standard error; 0 where all runs are alike, NaN with too few runs."""
    skewness: Skewness = Skewness()
    """That of the runs' influence on the estimate."""

    @property
    def is_constant(self) -> bool:
        return self.deviation == 0.0

    def _p_values(self, threshold: float) -> tuple[float, float]:
        if self.is_constant:
            return float(self.value <= threshold), float(self.value >= threshold)
        smaller, larger = conservative_t((self.value - threshold) / self.deviation, self.skewness)
        return float(stdtr(self.runs - 1, -smaller)), float(stdtr(self.runs - 1, larger))

    def _interval(self, error: float) -> tuple[float, float]:
        t = float(stdtrit(self.runs - 1, 1.0 - error / 2))
        below, above = (self.deviation * conservative_quantile(t, skew) for skew in (self.skewness, -self.skewness))
        return float(self.value - below), float(self.value + above)


def conservative_t(t: Float[np.ndarray, "..."] | float, skewness: Skewness) -> tuple[np.ndarray, np.ndarray]:
    """Return the smaller and larger of plain and corrected t statistics."""
    corrected = without_skew(t, skewness.expected(t))
    return np.asarray(np.minimum(t, corrected)), np.asarray(np.maximum(t, corrected))


def conservative_quantile(t: float, skewness: Skewness) -> np.ndarray:
    """Return the distance from estimate to lower end, in standard errors.

    The quantile t is positive. With the opposite skewness it is the distance to the upper end.
    """
    end = np.asarray(t)
    for _ in range(FIXED_POINT_STEPS):
        end = with_skew(t, skewness.expected(end))
    return np.maximum(t, end)


def without_skew(t: Float[np.ndarray, "..."] | float, skew: Float[np.ndarray, "..."] | float) -> np.ndarray:
    """Apply Hall's transformation to t; `skew` is that of the mean."""
    small = np.abs(skew) < NO_SPREAD
    divisor = np.where(small, 1.0, skew)
    with np.errstate(invalid="ignore"):  # t is infinite where all runs are alike
        return np.where(small, t, ((1.0 + divisor * t / 3.0) ** 3 - 1.0) / divisor + divisor / 6.0)


def with_skew(t: float, skew: Float[np.ndarray, "..."] | float) -> np.ndarray:
    """Return the statistics mapped to t by `without_skew`."""
    small = np.abs(skew) < NO_SPREAD
    divisor = np.where(small, 1.0, skew)
    return np.where(small, t, 3.0 * (np.cbrt(1.0 + divisor * (t - divisor / 6.0)) - 1.0) / divisor)


@dataclass(frozen=True)
class Correlation(ScalarEstimate):
    """Estimate a correlation of estimated quantities by B resamples of the runs.

    Errors of the quantities weaken it: the interval extends to the perfect correlation of the estimated sign.
    """

    distribution: Float[np.ndarray, " B"]
    """The values in the resamples, which may tie; NaN with too few runs."""
    is_discrete = True

    def _p_values(self, threshold: float) -> tuple[float, float]:
        counts = np.array([(self.distribution <= threshold).sum(), (self.distribution >= threshold).sum()])
        # Between 0 and 1: that no resample of B is beyond the threshold shows a p-value of about 1 / B, and not of 0.
        at_most, at_least = ((counts + 1) / (len(self.distribution) + 2)).tolist()
        return at_most, at_least

    def _interval(self, error: float) -> tuple[float, float]:
        """Return the extended percentile interval; [-1, 1] for errors below its resolution."""
        if error / 2 < 1.0 / (len(self.distribution) + 2):
            return -1.0, 1.0
        lower, upper = np.quantile(self.distribution, [error / 2, 1.0 - error / 2]).tolist()
        return (-1.0 if self.value <= 0.0 else lower), (1.0 if self.value >= 0.0 else upper)


@dataclass(frozen=True)
class Count(ScalarEstimate):
    """Count true statements by their p-values with Holm's correction."""

    p_true: tuple[float, ...]
    """For each statement the p-value of the hypothesis that it is false: a small one shows that it is true."""
    p_false: tuple[float, ...]
    """For each statement the p-value of the hypothesis that it is true."""
    is_discrete = True

    def _p_values(self, threshold: float) -> tuple[float, float]:
        """Return the errors of more true, and of more false, statements."""
        total, floor = len(self.p_true), int(np.floor(threshold))
        needed = floor + 1, total - int(np.ceil(threshold)) + 1
        at_most, at_least = (_holm(p, number) for p, number in zip((self.p_true, self.p_false), needed, strict=True))
        return at_most, at_least

    def _interval(self, error: float) -> tuple[float, float]:
        """Return how many statements are shown true, and not shown false."""
        counts = [sum(_holm(p, k) <= error / 2 for k in range(1, len(p) + 1)) for p in (self.p_true, self.p_false)]
        return float(counts[0]), float(len(self.p_false) - counts[1])


def _holm(p: Sequence[float], number: int) -> float:
    """Return the smallest error with which Holm's method rejects so many hypotheses."""
    if not 1 <= number <= len(p):
        return float(number > len(p))
    first = np.sort(p)[:number] * (len(p) - np.arange(number))
    return float(min(1.0, first.max()))


def mean(sample: Float[np.ndarray, " n"]) -> Student:
    """Estimate the mean over runs."""
    value = sample.mean()
    return _student(float(value), sample - value)


def smooth(statistic: Statistic, sample: Sample) -> Student:
    """Estimate a smooth function of means, with its leave-one-run-out standard error."""
    n, means = len(sample), sample.mean(0, keepdims=True)
    value = statistic(means).item()
    if n < MIN_INTERVAL_RUNS or not np.isfinite(value):
        return Student(value, n, np.nan)
    batches = (sample[start : start + MAX_RESAMPLES_AT_ONCE] for start in range(0, n, MAX_RESAMPLES_AT_ONCE))
    influence = np.concatenate([-(n - 1) * statistic((n * means - batch) / (n - 1)) for batch in batches])
    return _student(value, influence - influence.mean())


def _student(value: float, influence: Float[np.ndarray, " n"]) -> Student:
    n = len(influence)
    if n < MIN_INTERVAL_RUNS:
        return Student(value, n, np.nan)
    second, third, fourth = (np.asarray((influence**power).mean()) for power in (2, 3, 4))
    deviation = float(np.sqrt(second / (n - 1)))
    if deviation <= NO_SPREAD * max(1.0, abs(value)):  # what is left of equal losses is rounding
        return Student(0.0 if abs(value) <= NO_SPREAD else value, n, 0.0)
    return Student(value, n, deviation, Skewness.from_moments(second, third, fourth, n))


def correlation(statistic: Statistic, sample: Float[np.ndarray, "n _k"]) -> Correlation:
    """Estimate a correlation of functions of means, by resamples of the runs."""
    value, n = statistic(sample.mean(0, keepdims=True)).item(), len(sample)
    if n < MIN_INTERVAL_RUNS:
        return Correlation(value, n, np.full(RESAMPLES_OF_CLAIMS, np.nan))
    if n < MIN_SKEWNESS_RUNS:
        return Correlation(value, n, statistic(bootstrap_means(sample, RESAMPLES_OF_CLAIMS)))
    resamples = RESAMPLES_OF_CLAIMS if n < PRECISE_RUNS else RESAMPLES_OF_PRECISE_CLAIMS
    distribution = [statistic(means) for means in normal_means(sample, resamples, MAX_RESAMPLES_AT_ONCE, 0)]
    return Correlation(value, n, np.concatenate(distribution))
