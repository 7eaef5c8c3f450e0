"""Estimates over runs, with intervals and p-values.

- Rates, which are means of 0 and 1: binomial tests and Clopper and Pearson's interval. Ten successes of ten are no
  known number.
- Smooth functions of mean losses: Student's interval with the jackknife standard error.
- Ratios of means, minima of means over a grid, and gamma*: paired t tests (`pomrl.judging.minima`).
- Correlations of gamma* with an index: the percentile bootstrap over runs.
- Counts of true statements: Holm's correction of p-values.
- `Exact` numbers: no interval.

t is corrected for skewness as in Hall (1992, "On the removal of skewness by transformation", JRSS B 54). Sample
skewness is correlated with t: from `MIN_DRIFT_RUNS` runs on, its regression on t is subtracted first. The slope is
max(0, kurtosis - 1.5 skewness^2) / n. Of plain and corrected t, the more conservative one is used, because heavy tails
make the corrected one too large.

`benchmarks.error_rates` simulates errors at the threshold, with 100 to 4000 runs of real losses. Errors of t tests were
at most 1.3 times nominal errors of 1e-2 to 1e-4, 1.5 times 1e-5, and 1.8 times 1e-6. Without the drift, differences
of real losses would err up to 1.8 times 1e-4, and 2.6 times 1e-5. Errors of the uncorrected bootstrap reached 17 times
1e-4, where a tie of two skewed losses decides the sign.

With 10 to 100 runs it simulates tables of eight claims, each at its threshold, and an error of 5 % for any verdict.
Tables err in at most .05 if pairs are alike (lognormal, exponential or normal losses). Lognormal less normal losses err
in .11, .12, .11, .09 and .07 with 10, 20, 50, 99 and 100 runs. Lognormal means against a number err in .09, .07 and .06
with 50, 99 and 100 runs. Without the correction it was .45, .38, .30 and .21 with 10, 20, 50 and 99 runs. Rates of .95
err in at most .02.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Shaped
from scipy.special import bdtr, bdtrc, betaincinv, stdtr, stdtrit

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

MIN_LEVEL_RUNS = 50
"""The smallest number of runs to compare a mean with a number; fewer skewed losses often miss the tail."""

MIN_DRIFT_RUNS = 100
"""The smallest number of runs to correct the drift of skewness. With fewer runs, this costs up to a quarter of the
power."""

MIN_NORMAL_RUNS = 100
"""The smallest number of runs to draw resamples from a normal distribution."""

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
    def min_runs(self) -> int:
        """The smallest number of runs for an interval and a verdict."""
        return MIN_INTERVAL_RUNS

    @property
    def is_possible(self) -> bool:
        return self.runs >= self.min_runs

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
    def min_runs(self) -> int:
        return 0

    @property
    def is_known(self) -> bool:
        return not np.isnan(self.value)

    def _p_values(self, threshold: float) -> tuple[float, float]:
        return float(self.value <= threshold), float(self.value >= threshold)

    def _interval(self, error: float) -> tuple[float, float]:
        return np.nan, np.nan


@dataclass(frozen=True)
class Rate(ScalarEstimate):
    """A share of runs, with binomial p-values and Clopper and Pearson's interval."""

    is_discrete = True

    @property
    def successes(self) -> int:
        return round(self.value * self.runs)

    def _p_values(self, threshold: float) -> tuple[float, float]:
        at_most = float(bdtrc(self.successes - 1, self.runs, np.clip(threshold, 0.0, 1.0))) if self.successes else 1.0
        at_least = float(bdtr(self.successes, self.runs, np.clip(threshold, 0.0, 1.0)))
        return (0.0 if threshold < 0.0 else at_most), (0.0 if threshold > 1.0 else at_least)

    def _interval(self, error: float) -> tuple[float, float]:
        failures = self.runs - self.successes
        lower = betaincinv(self.successes, failures + 1, error / 2) if self.successes else 0.0
        upper = betaincinv(self.successes + 1, failures, 1.0 - error / 2) if failures else 1.0
        return float(lower), float(upper)


@dataclass(frozen=True)
class Skewness:
    """The skewness of a mean over n runs, and its dependence on t."""

    value: Float[np.ndarray, "..."] | float = 0.0
    """The skewness of the runs, divided by sqrt(n); 0 for no correction."""
    drift: Float[np.ndarray, "..."] | float = 0.0
    """The covariance of a sample's skewness with its t statistic; 0 if negative."""

    @staticmethod
    def from_moments(second: np.ndarray, third: np.ndarray, fourth: np.ndarray, n: int) -> "Skewness":
        value = third / (second * np.sqrt(second))
        excess = fourth / second**2 - 3.0 - 1.5 * value**2
        drift = np.maximum(0.0, excess) if n >= MIN_DRIFT_RUNS else np.zeros_like(value)
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
    is_level: bool = False
    """Whether a mean is compared with a number, so that the skewness of pairs does not cancel."""

    @property
    def min_runs(self) -> int:
        return MIN_LEVEL_RUNS if self.is_level else MIN_INTERVAL_RUNS

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


def mean(sample: Float[np.ndarray, " n"]) -> Student | Rate:
    """Estimate a mean over runs, to compare it with a number.

    A sample of 0 and 1 only is a `rate`, also if all runs are equal. Other samples need `MIN_LEVEL_RUNS`. Compare runs
    in pairs with `mean_difference`.
    """
    check_samples(sample)
    if np.isin(sample, (0, 1)).all():
        return rate(sample)
    value = sample.mean()
    return _student(float(value), sample - value, is_level=True)


def mean_difference(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " n"]) -> Student:
    """Estimate mean(a) - mean(b) over pairs of runs.

    A difference that is equal in all runs is a known number.
    """
    check_samples(a, b)
    value = (a - b).mean()
    return _student(float(value), a - b - value, is_level=False)


def rate(successes: Shaped[np.ndarray, " n"]) -> Rate:
    """Estimate the share of runs with a success, from 0 and 1.

    Raises:
        ValueError: A number is neither 0 nor 1.
    """
    check_samples(successes)
    others = successes[~np.isin(successes, (0, 1))]
    if len(others):
        raise ValueError(f"the numbers of a rate must be 0 or 1, got {others[0]}")
    return Rate(float(successes.mean()), len(successes))


def smooth(statistic: Statistic, sample: Sample) -> Student:
    """Estimate a smooth function of means, with the jackknife standard error.

    It is compared with a number, so it needs `MIN_LEVEL_RUNS`.
    """
    n, means = len(sample), sample.mean(0, keepdims=True)
    value = statistic(means).item()
    if n < MIN_LEVEL_RUNS or not np.isfinite(value):
        return Student(value, n, np.nan, is_level=True)
    batches = (sample[start : start + MAX_RESAMPLES_AT_ONCE] for start in range(0, n, MAX_RESAMPLES_AT_ONCE))
    influence = np.concatenate([-(n - 1) * statistic((n * means - batch) / (n - 1)) for batch in batches])
    return _student(value, influence - influence.mean(), is_level=True)


def _student(value: float, influence: Float[np.ndarray, " n"], *, is_level: bool) -> Student:
    n = len(influence)
    if n < MIN_INTERVAL_RUNS:
        return Student(value, n, np.nan, is_level=is_level)
    second, third, fourth = (np.asarray(power.mean()) for power in powers(influence)[2:])
    deviation = float(np.sqrt(second / (n - 1)))
    if deviation <= NO_SPREAD * max(1.0, abs(value)):  # equal losses up to rounding
        return Student(0.0 if abs(value) <= NO_SPREAD else value, n, 0.0, is_level=is_level)
    return Student(value, n, deviation, Skewness.from_moments(second, third, fourth, n), is_level)


def correlation(statistic: Statistic, sample: Float[np.ndarray, "n _k"]) -> Correlation:
    """Estimate a correlation, a function of means, by resampling runs."""
    value, n = statistic(sample.mean(0, keepdims=True)).item(), len(sample)
    if n < MIN_INTERVAL_RUNS:
        return Correlation(value, n, np.full(RESAMPLES_OF_CLAIMS, np.nan))
    if n < MIN_NORMAL_RUNS:
        return Correlation(value, n, statistic(bootstrap_means(sample, RESAMPLES_OF_CLAIMS)))
    resamples = RESAMPLES_OF_CLAIMS if n < PRECISE_RUNS else RESAMPLES_OF_PRECISE_CLAIMS
    distribution = [statistic(means) for means in normal_means(sample, resamples, MAX_RESAMPLES_AT_ONCE, 0)]
    return Correlation(value, n, np.concatenate(distribution))
