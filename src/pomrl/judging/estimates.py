"""Estimates over runs, with intervals and p-values.

- Smooth functions of mean losses: Student's interval with the jackknife standard error.
- Ratios of means, minima of means over a grid, and gamma*: paired t tests (`pomrl.judging.minima`).
- Correlations of gamma* with an index: the percentile bootstrap over runs.
- Counts of true statements: Holm's correction of p-values.
- `Exact` numbers: no interval.

From `MIN_SKEWNESS_RUNS` runs on, t is corrected for skewness as in Hall (1992, "On the removal of skewness by
transformation", JRSS B 54). Sample skewness is correlated with t: its regression on t, with slope
max(0, kurtosis - 1.5 skewness^2) / n, is subtracted first. Of plain and corrected t, the more conservative one is used,
because heavy tails make the corrected one too large.

`benchmarks.error_rates` simulates errors at the threshold, with 100 to 4000 runs of real losses. Errors of t tests were
at most 1.3 times nominal errors of 1e-2 to 1e-4, 1.5 times 1e-5, and 1.8 times 1e-6. Errors of the uncorrected
bootstrap reached 17 times 1e-4, where a tie of two skewed losses decides the sign.
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
from pomrl.science.sampling import elementary

MIN_INTERVAL_RUNS = 10
"""The smallest number of runs for an interval; means of fewer losses are far from normally distributed."""

MIN_SKEWNESS_RUNS = 100
"""The smallest number of runs to correct skewness, and to draw resamples from a normal distribution."""

PRECISE_RUNS = 1000
"""The smallest number of runs for more resamples, because claims with many runs are judged at small errors."""

MAX_RESAMPLES_AT_ONCE = 10_000
"""The largest number of resamples, or of leave-one-out samples, in memory at a time."""

FIXED_POINT_STEPS = 50
"""The steps of the iteration for interval ends; each reduces the error by two fifths or more."""

Sample = Float[np.ndarray, "_runs ..."]
"""A number, or an array, for each independent run."""

Statistic = Callable[[np.ndarray], np.ndarray]
"""A function of sample means, vectorised: B means along the first axis give B values."""


@dataclass(frozen=True)
class ScalarEstimate(ABC):
    """An estimate with intervals and p-values."""

    value: float
    runs: int
    """The number of runs used."""
    is_discrete: ClassVar[bool] = False
    """Whether the number has few possible values; widths of intervals then do not fall as 1 / sqrt(runs)."""

    @property
    def is_constant(self) -> bool:
        """Return whether the number is equal in all runs."""
        return False

    @property
    def is_possible(self) -> bool:
        return self.runs >= MIN_INTERVAL_RUNS

    @property
    def is_known(self) -> bool:
        """Return whether the estimated numbers are finite."""
        return bool(np.isfinite(self.value))

    def p_values(self, threshold: float) -> tuple[float, float]:
        """Return the p-values of `number <= threshold` and `number >= threshold`.

        With too few runs, they are NaN for a finite threshold.
        """
        if not np.isfinite(threshold):
            return float(threshold > 0), float(threshold < 0)
        return self._p_values(threshold) if self.is_possible else (np.nan, np.nan)

    def interval(self, error: float) -> tuple[float, float]:
        """Return the interval with half of the error on each side.

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
        """The lower end of the interval at error `ERROR_RATE`."""
        return self.interval(ERROR_RATE)[0]

    @cached_property
    def upper(self) -> float:
        """The upper end of the interval at error `ERROR_RATE`."""
        return self.interval(ERROR_RATE)[1]


@dataclass(frozen=True)
class Exact(ScalarEstimate):
    """A known number, without interval, with p-values 0 or 1."""

    runs: int = 0

    @property
    def is_possible(self) -> bool:
        return True

    @property
    def is_known(self) -> bool:
        return not np.isnan(self.value)

    def _p_values(self, threshold: float) -> tuple[float, float]:
        return float(self.value <= threshold), float(self.value >= threshold)

    def _interval(self, error: float) -> tuple[float, float]:
        return np.nan, np.nan


@dataclass(frozen=True)
class Skewness:
    """The skewness of a mean over n runs, and its dependence on t."""

    value: Float[np.ndarray, "..."] | float = 0.0
    """The skewness of the runs, divided by sqrt(n); 0 for no correction."""
    drift: Float[np.ndarray, "..."] | float = 0.0
    """The covariance of a sample's skewness with its t statistic; 0 if negative."""

    @staticmethod
    def from_moments(second: np.ndarray, third: np.ndarray, fourth: np.ndarray, n: int) -> "Skewness":
        value = third / (second * np.sqrt(second)) if n >= MIN_SKEWNESS_RUNS else np.zeros_like(third)
        drift = np.maximum(0.0, fourth / second**2 - 3.0 - 1.5 * value**2) if n >= MIN_SKEWNESS_RUNS else value
        return Skewness(value / np.sqrt(n), drift / n)

    def __neg__(self) -> "Skewness":
        return Skewness(-self.value, self.drift)

    def expected(self, t: Float[np.ndarray, "..."] | float) -> np.ndarray:
        limit = 1.0 / np.sqrt(np.maximum(self.drift, NO_SPREAD))  # beyond, the corrected t would not grow with t
        return np.asarray(self.value - self.drift * np.clip(t, -limit, limit))


@dataclass(frozen=True)
class Student(ScalarEstimate):
    """An estimate with Student's distribution, corrected for skewness."""

    deviation: float
    """The standard error; 0 if all runs are equal, NaN with too few runs."""
    skewness: Skewness = Skewness()
    """The skewness of the runs' influence on the estimate."""

    @property
    def is_constant(self) -> bool:
        return self.deviation == 0.0

    def _p_values(self, threshold: float) -> tuple[float, float]:
        if self.is_constant:
            gap = self.value - threshold
            rounding = NO_SPREAD * max(1.0, abs(self.value))
            return float(gap <= rounding), float(gap >= -rounding)
        smaller, larger = conservative_t((self.value - threshold) / self.deviation, self.skewness)
        return float(stdtr(self.runs - 1, -smaller)), float(stdtr(self.runs - 1, larger))

    def _interval(self, error: float) -> tuple[float, float]:
        t = float(stdtrit(self.runs - 1, 1.0 - error / 2))
        below, above = (self.deviation * conservative_quantile(t, skew) for skew in (self.skewness, -self.skewness))
        return float(self.value - below), float(self.value + above)


def powers(x: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return x^0 to x^4 as products; last bits of `**` depend on the processor."""
    square = x * x
    return np.ones_like(x), x, square, square * x, square * square


def conservative_t(t: Float[np.ndarray, "..."] | float, skewness: Skewness) -> tuple[np.ndarray, np.ndarray]:
    """Return the smaller and the larger of plain and skewness-corrected t."""
    corrected = without_skew(t, skewness.expected(t))
    return np.asarray(np.minimum(t, corrected)), np.asarray(np.maximum(t, corrected))


def conservative_quantile(t: float, skewness: Skewness) -> np.ndarray:
    """Return the distance to the lower end of the interval, in standard errors.

    The quantile t must be positive. Negate the skewness for the upper end.
    """
    end = np.asarray(t)
    for _ in range(FIXED_POINT_STEPS):
        end = with_skew(t, skewness.expected(end))
    return np.maximum(t, end)


def without_skew(t: Float[np.ndarray, "..."] | float, skew: Float[np.ndarray, "..."] | float) -> np.ndarray:
    """Apply Hall's transformation to t; `skew` is the skewness of the mean."""
    small = np.abs(skew) < NO_SPREAD
    divisor = np.where(small, 1.0, skew)
    with np.errstate(invalid="ignore"):  # t is infinite if all runs are equal
        return np.where(small, t, (powers(1.0 + divisor * t / 3.0)[3] - 1.0) / divisor + divisor / 6.0)


def with_skew(t: float, skew: Float[np.ndarray, "..."] | float) -> np.ndarray:
    """Invert `without_skew`."""
    small = np.abs(skew) < NO_SPREAD
    divisor = np.where(small, 1.0, skew)
    return np.where(small, t, 3.0 * (elementary.cube_root(1.0 + divisor * (t - divisor / 6.0)) - 1.0) / divisor)


@dataclass(frozen=True)
class Correlation(ScalarEstimate):
    """An estimate of a correlation of estimated numbers, by B resamples of runs.

    Their errors weaken the correlation: a positive estimate's interval extends to 1, a negative one's to -1.
    """

    distribution: Float[np.ndarray, " B"]
    """The values in the resamples, with ties; NaN with too few runs."""
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


@dataclass(frozen=True)
class Count(ScalarEstimate):
    """The number of true statements, with Holm's correction of p-values."""

    p_true: tuple[float, ...]
    """For each statement, the p-value of the hypothesis that it is false; a small one supports it."""
    p_false: tuple[float, ...]
    """For each statement, the p-value of the hypothesis that it is true."""
    is_discrete = True

    @property
    def is_known(self) -> bool:
        return True  # each statement is also a part of the claim

    def _p_values(self, threshold: float) -> tuple[float, float]:
        total, floor = len(self.p_true), int(np.floor(threshold))
        needed = floor + 1, total - int(np.ceil(threshold)) + 1
        at_most, at_least = (_holm(p, number) for p, number in zip((self.p_true, self.p_false), needed, strict=True))
        return at_most, at_least

    def _interval(self, error: float) -> tuple[float, float]:
        counts = [sum(_holm(p, k) <= error / 2 for k in range(1, len(p) + 1)) for p in (self.p_true, self.p_false)]
        return float(counts[0]), float(len(self.p_false) - counts[1])


def _holm(p: Sequence[float], number: int) -> float:
    """Return the smallest error with `number` rejections by Holm's method."""
    if not 1 <= number <= len(p):
        return float(number > len(p))
    first = np.sort(p)[:number] * (len(p) - np.arange(number))
    return float(min(1.0, first.max()))


def check_samples(*samples: object) -> None:
    """Raise a TypeError for numbers in place of arrays over runs."""
    for sample in samples:
        if not np.ndim(sample):  # pyright: ignore[reportArgumentType]
            name = type(sample).__name__
            raise TypeError(f"a comparison must have arrays over runs, got {name}; leave out .mean()")


def mean(sample: Float[np.ndarray, " n"]) -> Student:
    """Estimate the mean over runs."""
    check_samples(sample)
    value = sample.mean()
    return _student(float(value), sample - value)


def smooth(statistic: Statistic, sample: Sample) -> Student:
    """Estimate a smooth function of means, with the jackknife standard error."""
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
    second, third, fourth = (np.asarray(power.mean()) for power in powers(influence)[2:])
    deviation = float(np.sqrt(second / (n - 1)))
    if deviation <= NO_SPREAD * max(1.0, abs(value)):  # equal losses up to rounding
        return Student(0.0 if abs(value) <= NO_SPREAD else value, n, 0.0)
    return Student(value, n, deviation, Skewness.from_moments(second, third, fourth, n))


def correlation(statistic: Statistic, sample: Float[np.ndarray, "n _k"]) -> Correlation:
    """Estimate a correlation, a function of means, by resampling runs."""
    value, n = statistic(sample.mean(0, keepdims=True)).item(), len(sample)
    if n < MIN_INTERVAL_RUNS:
        return Correlation(value, n, np.full(RESAMPLES_OF_CLAIMS, np.nan))
    if n < MIN_SKEWNESS_RUNS:
        return Correlation(value, n, statistic(bootstrap_means(sample, RESAMPLES_OF_CLAIMS)))
    resamples = RESAMPLES_OF_CLAIMS if n < PRECISE_RUNS else RESAMPLES_OF_PRECISE_CLAIMS
    distribution = [statistic(means) for means in normal_means(sample, resamples, MAX_RESAMPLES_AT_ONCE, 0)]
    return Correlation(value, n, np.concatenate(distribution))
