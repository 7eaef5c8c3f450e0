"""Estimates over independent units, with intervals and p-values.

- `Rate`: a share of units, with binomial tests and Clopper and Pearson's interval. Ten successes of ten are no known
  number.
- `Student`: a smooth function of means, with the jackknife standard error, corrected for skewness
  (`verdicts.skewness`).
- `Count`: the number of true statements, with Holm's correction of p-values.
- `Largest`: the largest of several numbers.
- `Exact`: a known number, without interval.

Ratios, minima and their arguments are in `verdicts.minima`, correlations in `verdicts.correlations`. Few units, several
groups and strata are in `verdicts.groups`. `docs/methods.md` tells how often verdicts are wrong.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import ClassVar

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv, stdtr, stdtrit

from verdicts.skewness import NO_SPREAD, Skewness, conservative_quantile, conservative_t, powers

ERROR = 0.05
"""The largest probability of a wrong verdict, unless another is said."""

MIN_UNITS = 10
"""The smallest number of units for Student's t; means of fewer numbers are far from normally distributed."""

MIN_EXACT_UNITS = 2
"""The smallest number of units in each group for an exact test."""

MIN_LEVEL_UNITS = 50
"""The smallest number of units to compare a mean with a number; fewer skewed numbers often miss the tail."""

ROOT_ERROR = float(np.finfo(float).eps)
"""Absolute error of an interval's end, as small as the rounding of 1 + end."""

MAX_DOUBLINGS = 12
"""The most doublings of the first step from an estimate, before its interval counts as unbounded."""

MAX_RESAMPLES_AT_ONCE = 10_000
"""The largest number of resamples, or of leave-one-out samples, in memory at a time."""

Statistic = Callable[[np.ndarray], np.ndarray]
"""A function of sample means, vectorised: B means along the first axis give B values."""


@dataclass(frozen=True)
class ScalarEstimate(ABC):
    """An estimate with intervals and p-values."""

    value: float
    units: int
    """The number of independent units used."""
    is_discrete: ClassVar[bool] = False
    """Whether the number has few possible values; widths of intervals then do not fall as 1 / sqrt(units)."""

    @property
    def is_constant(self) -> bool:
        """Return whether the number is equal in all units."""
        return False

    @property
    def min_units(self) -> int:
        """The smallest number of units for an interval and a verdict."""
        return MIN_UNITS

    @property
    def smallest_p(self) -> float:
        """The smallest possible p-value with so few units."""
        return 0.0

    @property
    def is_possible(self) -> bool:
        return self.units >= self.min_units

    @property
    def is_known(self) -> bool:
        """Return whether the estimated numbers are finite."""
        return bool(np.isfinite(self.value))

    def p_values(self, threshold: float) -> tuple[float, float]:
        """Return the p-values of `number <= threshold` and `number >= threshold`.

        With too few units, they are NaN for a finite threshold.
        """
        if not np.isfinite(threshold):
            return float(threshold > 0), float(threshold < 0)
        return self._p_values(threshold) if self.is_possible else (np.nan, np.nan)

    def interval(self, error: float) -> tuple[float, float]:
        """Return the interval with half of the error on each side.

        Its ends are NaN with too few units.
        """
        if not self.is_possible:
            return np.nan, np.nan
        return (self.value, self.value) if self.is_constant else self._interval(error)

    @abstractmethod
    def _p_values(self, threshold: float) -> tuple[float, float]: ...

    @abstractmethod
    def _interval(self, error: float) -> tuple[float, float]: ...

    def end(self, side: int, step: float, error: float) -> float:
        """Search an end of the interval by its p-value: side 0 downwards, side 1 upwards.

        `step` is the first distance from the estimate, with its sign. The end is infinite if none is near.
        """
        from scipy.optimize import brentq  # slow to import

        def excess(threshold: float) -> float:
            return self.p_values(threshold)[side] - error / 2

        for far in (self.value + step * 2.0**k for k in range(MAX_DOUBLINGS)):
            if excess(far) < 0.0:
                return float(brentq(excess, self.value, far, xtol=ROOT_ERROR))  # pyright: ignore[reportArgumentType]
        return float(np.copysign(np.inf, step))

    @cached_property
    def lower(self) -> float:
        """The lower end of the interval at error `ERROR`."""
        return self.interval(ERROR)[0]

    @cached_property
    def upper(self) -> float:
        """The upper end of the interval at error `ERROR`."""
        return self.interval(ERROR)[1]

    @property
    def sizes_text(self) -> str:
        """The numbers of units, such as `5 against 5 runs`."""
        return f"{self.units} units"

    def units_needed(self, level: float) -> int:
        """Return the smallest number of units in each group whose p-value can reach a level."""
        return self.min_units


@dataclass(frozen=True)
class Exact(ScalarEstimate):
    """A known number, without interval, with p-values 0 or 1."""

    units: int = 0

    @property
    def min_units(self) -> int:
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
    """A share of units, with binomial p-values and Clopper and Pearson's interval.

    Ties count half in the estimate, and against every verdict.
    """

    ties: int = 0
    is_discrete = True

    @staticmethod
    def of(wins: np.ndarray, ties: np.ndarray | None = None) -> "Rate":
        """Estimate it from booleans [n]."""
        tied = 0 if ties is None else int(ties.sum())
        return Rate(float((wins.sum() + tied / 2) / len(wins)), len(wins), tied)

    @property
    def min_units(self) -> int:
        return 1

    @property
    def successes(self) -> int:
        return round(self.value * self.units - self.ties / 2)

    def _p_values(self, threshold: float) -> tuple[float, float]:
        share = np.clip(threshold, 0.0, 1.0)
        at_most = float(bdtrc(self.successes - 1, self.units, share)) if self.successes else 1.0
        at_least = float(bdtr(self.successes + self.ties, self.units, share))
        return (0.0 if threshold < 0.0 else at_most), (0.0 if threshold > 1.0 else at_least)

    def _interval(self, error: float) -> tuple[float, float]:
        failures = self.units - self.successes - self.ties
        lower = betaincinv(self.successes, self.units - self.successes + 1, error / 2) if self.successes else 0.0
        upper = betaincinv(self.units - failures + 1, failures, 1.0 - error / 2) if failures else 1.0
        return float(lower), float(upper)


@dataclass(frozen=True)
class Student(ScalarEstimate):
    """An estimate with Student's distribution, corrected for skewness."""

    deviation: float
    """The standard error; 0 if all units are equal, NaN with too few units."""
    skewness: Skewness = field(default_factory=Skewness)
    """The skewness of the units' influence on the estimate."""
    is_level: bool = False
    """Whether a mean is compared with a number, so that the skewness of pairs does not cancel."""
    degrees: float = np.nan
    """The degrees of freedom; units - 1 if NaN."""

    @property
    def min_units(self) -> int:
        return MIN_LEVEL_UNITS if self.is_level else MIN_UNITS

    @property
    def is_constant(self) -> bool:
        return self.deviation == 0.0

    @property
    def degrees_of_freedom(self) -> float:
        return self.units - 1 if np.isnan(self.degrees) else self.degrees

    def _p_values(self, threshold: float) -> tuple[float, float]:
        if self.is_constant:
            gap = self.value - threshold
            rounding = NO_SPREAD * max(1.0, abs(self.value))
            return float(gap <= rounding), float(gap >= -rounding)
        smaller, larger = conservative_t((self.value - threshold) / self.deviation, self.skewness)
        return float(stdtr(self.degrees_of_freedom, -smaller)), float(stdtr(self.degrees_of_freedom, larger))

    def _interval(self, error: float) -> tuple[float, float]:
        t = float(stdtrit(self.degrees_of_freedom, 1.0 - error / 2))
        below, above = (self.deviation * conservative_quantile(t, skew) for skew in (self.skewness, -self.skewness))
        return float(self.value - below), float(self.value + above)


@dataclass(frozen=True)
class Count(ScalarEstimate):
    """The number of true statements, with Holm's correction of p-values."""

    p_true: tuple[float, ...]
    """For each statement, the p-value of the hypothesis that it is false; a small one supports it."""
    p_false: tuple[float, ...]
    """For each statement, the p-value of the hypothesis that it is true."""
    smallest: float = 0.0
    """The smallest p-value that a statement could have with so few units."""
    each: str = ""
    """The numbers of units of a statement, such as `5 against 5 runs`."""
    is_discrete = True

    @property
    def min_units(self) -> int:
        return MIN_EXACT_UNITS if self.smallest else MIN_UNITS

    @property
    def smallest_p(self) -> float:
        return min(1.0, self.smallest * len(self.p_true))

    def units_needed(self, level: float) -> int:
        needed = (n for n in range(MIN_EXACT_UNITS, MIN_UNITS) if comb(2 * n, n) * level >= len(self.p_true))
        return next(needed, MIN_UNITS)

    @property
    def sizes_text(self) -> str:
        return f"{self.each or super().sizes_text} in each of {len(self.p_true)} statements (Holm)"

    @property
    def is_known(self) -> bool:
        return True  # each statement is also a part of the claim

    def _p_values(self, threshold: float) -> tuple[float, float]:
        total, floor = len(self.p_true), int(np.floor(threshold))
        needed = floor + 1, total - int(np.ceil(threshold)) + 1
        at_most, at_least = (holm(p, number) for p, number in zip((self.p_true, self.p_false), needed, strict=True))
        return at_most, at_least

    def _interval(self, error: float) -> tuple[float, float]:
        counts = [sum(holm(p, k) <= error / 2 for k in range(1, len(p) + 1)) for p in (self.p_true, self.p_false)]
        return float(counts[0]), float(len(self.p_false) - counts[1])


def holm(p: Sequence[float], number: int) -> float:
    """Return the smallest error with `number` rejections by Holm's method."""
    if not 1 <= number <= len(p):
        return float(number > len(p))
    first = np.sort(p)[:number] * (len(p) - np.arange(number))
    return float(min(1.0, first.max()))


@dataclass(frozen=True)
class Largest(ScalarEstimate):
    """The largest of several numbers: all below a threshold (no correction), or one above it (Bonferroni)."""

    estimates: tuple[ScalarEstimate, ...]

    @property
    def min_units(self) -> int:
        return max(estimate.min_units for estimate in self.estimates)

    @property
    def smallest_p(self) -> float:
        return max(estimate.smallest_p for estimate in self.estimates)

    @property
    def is_known(self) -> bool:
        return all(estimate.is_known for estimate in self.estimates)

    @property
    def sizes_text(self) -> str:
        return min(self.estimates, key=lambda estimate: estimate.units).sizes_text

    def units_needed(self, level: float) -> int:
        return max(estimate.units_needed(level) for estimate in self.estimates)

    def _p_values(self, threshold: float) -> tuple[float, float]:
        at_most, at_least = np.array([estimate.p_values(threshold) for estimate in self.estimates]).T
        return float(min(1.0, len(at_most) * at_most.min())), float(at_least.max())

    def _interval(self, error: float) -> tuple[float, float]:
        lower = max(estimate.interval(error / len(self.estimates))[0] for estimate in self.estimates)
        return lower, max(estimate.interval(error)[1] for estimate in self.estimates)


def largest(estimates: Sequence[ScalarEstimate]) -> Largest:
    """Estimate the largest of several numbers, from the same units."""
    return Largest(
        max(estimate.value for estimate in estimates), min(estimate.units for estimate in estimates), tuple(estimates)
    )


def check_samples(*samples: object) -> None:
    """Raise a TypeError for numbers in place of arrays over units."""
    for sample in samples:
        if not np.ndim(sample):  # pyright: ignore[reportArgumentType]
            name = type(sample).__name__
            raise TypeError(f"a comparison must have arrays over runs, got {name}; leave out .mean()")


def mean(sample: np.ndarray) -> Student | Rate:
    """Estimate a mean over units, from their numbers [n], to compare it with a number.

    A sample of 0 and 1 only is a `rate`, also if all units are equal. Other samples need `MIN_LEVEL_UNITS`. Compare
    units in pairs with `mean_difference`.
    """
    check_samples(sample)
    if np.isin(sample, (0, 1)).all():
        return rate(sample)
    value = sample.mean()
    return student(float(value), sample - value, is_level=True)


def mean_difference(a: np.ndarray, b: np.ndarray) -> Student:
    """Estimate mean(a) - mean(b) over pairs of units, from numbers [n].

    A difference that is equal in all units is a known number.
    """
    check_samples(a, b)
    value = (a - b).mean()
    return student(float(value), a - b - value, is_level=False)


def rate(successes: np.ndarray) -> Rate:
    """Estimate the share of units with a success, from 0 and 1 [n].

    Raises:
        ValueError: A number is neither 0 nor 1.
    """
    check_samples(successes)
    invalid = successes[~np.isin(successes, (0, 1))]
    if len(invalid):
        raise ValueError(f"the numbers of a rate must be 0 or 1, got {invalid[0]}")
    return Rate(float(successes.mean()), len(successes))


def smooth(statistic: Statistic, sample: np.ndarray) -> Student:
    """Estimate a smooth function of the means of a sample [n, ...], with the jackknife standard error.

    It is compared with a number, so it needs `MIN_LEVEL_UNITS`.
    """
    n, means = len(sample), sample.mean(0, keepdims=True)
    value = statistic(means).item()
    if n < MIN_LEVEL_UNITS or not np.isfinite(value):
        return Student(value, n, np.nan, is_level=True)
    batches = (sample[start : start + MAX_RESAMPLES_AT_ONCE] for start in range(0, n, MAX_RESAMPLES_AT_ONCE))
    influence = np.concatenate([-(n - 1) * statistic((n * means - batch) / (n - 1)) for batch in batches])
    return student(value, influence - influence.mean(), is_level=True)


def student(value: float, influence: np.ndarray, *, is_level: bool) -> Student:
    """Estimate a number from the centred influence of each unit on it [n]."""
    n = len(influence)
    if n < MIN_UNITS:
        return Student(value, n, np.nan, is_level=is_level)
    second, third, fourth = (np.asarray(power.mean()) for power in powers(influence)[2:])
    deviation = float(np.sqrt(second / (n - 1)))
    if deviation <= NO_SPREAD * max(1.0, abs(value)):  # equal numbers up to rounding
        return Student(0.0 if abs(value) <= NO_SPREAD else value, n, 0.0, is_level=is_level)
    return Student(value, n, deviation, Skewness.from_moments(second, third, fourth, n), is_level)
