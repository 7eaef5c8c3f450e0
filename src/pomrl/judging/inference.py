"""Estimates over runs, with intervals at any level and p-values for any threshold.

There are four kinds of numbers, each with its method (and a fifth, `Exact`, which is known and has no interval):

- Smooth functions of mean losses, such as a difference, a minimum over the grid or a ratio of deviations: Student's
  interval with the leave-one-run-out (jackknife) standard error. For a difference of means it is the paired t interval.
- Ratios of two means: the interval of the t tests of mean(a) - r mean(b), which is Fieller's.
- gamma*, which jumps from one point of the grid to the next: the percentile bootstrap over runs. Errors of estimation
  weaken a rank correlation of such estimates, in the runs and once more in the resamples, so that the end of its
  interval that is away from 0 is opened.
- How many of several statements are true: Holm's correction of their p-values.

**Up to `LARGE` runs.** The methods were chosen by their coverage for losses as heavy-tailed as here (one task's loss
has a standard deviation of 1.7 at a mean of 1.1). In samples of 100 from 4000 stored runs, Student's intervals missed
the truth in 3 to 6 % of cases, the percentile bootstrap's in 4 to 7 % and BCa's in 5 to 13 %; in samples of 20 runs, in
3 to 15 %, 7 to 24 % and 8 to 31 %. So 20 runs are few for losses of single tasks, whatever the method. This order holds
for losses as they are here: where the curves of all runs differ by a factor alone, the bootstrap missed less often. A
part of this simulation is kept in `tests/claims/test_coverage.py`.

**From `LARGE` runs on** the same numbers are judged at levels of about 1 in 10,000, where the skewness of the losses
matters even in a thousand runs. There the t statistic is first transformed as by Hall (1992, "On the removal of
skewness by transformation", JRSS B 54), which makes its tails right to second order; and the bootstrap draws mean
curves from their limiting normal distribution, `MANY_RESAMPLES` of them, so that such levels can be resolved.
`tests/claims/error_rates.py` measures how often the rule that uses these intervals errs.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from pomrl.results.intervals import ERROR_RATE
from pomrl.results.statistics import NO_SPREAD, bootstrap_means, normal_means

FEWEST_RUNS = 10
"""With fewer runs no interval is given: means of so few losses are far from normally distributed."""

LARGE = 1000
"""From this number of runs on, skewness is corrected for and resamples are drawn from the normal distribution."""

RESAMPLES = 9999
"""The number of resamples of a bootstrap of fewer than `LARGE` runs."""

MANY_RESAMPLES = 99_999
"""The number of resamples of a bootstrap of at least `LARGE` runs."""

AT_A_TIME = 10_000
"""The number of resamples that are held in memory together."""

Sample = Float[np.ndarray, "_runs ..."]
"""A number, or an array of numbers, for each independent run."""

Statistic = Callable[[np.ndarray], np.ndarray]
"""A function of the mean of a sample, vectorised: stacked along a first axis, B means give B values."""


@dataclass(frozen=True)
class Estimate(ABC):
    """An estimated number, with intervals at any level and p-values for any threshold."""

    value: float
    runs: int
    """The number of runs that it is estimated from."""

    @abstractmethod
    def p_values(self, threshold: float) -> tuple[float, float]:
        """Return the p-values of two hypotheses: the number is at most a finite threshold, and it is at least that.

        They are NaN with too few runs.
        """

    @abstractmethod
    def interval(self, error: float) -> tuple[float, float]:
        """Return the interval that misses the number with this probability, half of it on either side.

        Its ends are NaN with too few runs.
        """

    def at_most(self, threshold: float) -> float:
        """Return the p-value of the hypothesis that the number is at most the threshold."""
        return self.p_values(threshold)[0] if np.isfinite(threshold) else float(threshold > 0)

    def at_least(self, threshold: float) -> float:
        """Return the p-value of the hypothesis that the number is at least the threshold."""
        return self.p_values(threshold)[1] if np.isfinite(threshold) else float(threshold < 0)

    @cached_property
    def lower(self) -> float:
        """The lower end of the 95 % interval."""
        return self.interval(ERROR_RATE)[0]

    @cached_property
    def upper(self) -> float:
        """The upper end of the 95 % interval."""
        return self.interval(ERROR_RATE)[1]


@dataclass(frozen=True)
class Exact(Estimate):
    """A number that is known, from no runs: it has no interval, and a hypothesis about it has the p-value 0 or 1."""

    runs: int = 0

    def p_values(self, threshold: float) -> tuple[float, float]:
        return float(self.value <= threshold), float(self.value >= threshold)

    def interval(self, error: float) -> tuple[float, float]:
        return np.nan, np.nan


@dataclass(frozen=True)
class Student(Estimate):
    """An estimate whose standardised error has Student's distribution, after a correction for skewness."""

    deviation: float
    """The standard error; 0 where all runs are alike, NaN with too few runs."""
    skew: float = 0.0
    """The skewness of the runs' influence on the estimate, divided by the root of their number; 0: no correction."""

    def p_values(self, threshold: float) -> tuple[float, float]:
        if self.deviation == 0.0:
            return float(self.value <= threshold), float(self.value >= threshold)
        t = _without_skew((self.value - threshold) / self.deviation, self.skew)
        return float(stdtr(self.runs - 1, -t)), float(stdtr(self.runs - 1, t))

    def interval(self, error: float) -> tuple[float, float]:
        if self.deviation == 0.0:
            return self.value, self.value
        t = float(stdtrit(self.runs - 1, 1.0 - error / 2)) if self.runs >= FEWEST_RUNS else np.nan
        ends = [self.value - self.deviation * _with_skew(end, self.skew) for end in (t, -t)]
        return ends[0], ends[1]


def _without_skew(t: float, skew: float) -> float:
    """Apply Hall's transformation to a t statistic; `skew` is the skewness of a run over the root of their number."""
    if abs(skew) < NO_SPREAD:
        return t
    return ((1.0 + skew * t / 3.0) ** 3 - 1.0) / skew + skew / 6.0


def _with_skew(t: float, skew: float) -> float:
    """Return the statistic that `_without_skew` maps to t."""
    if abs(skew) < NO_SPREAD:
        return t
    return 3.0 * (float(np.cbrt(1.0 + skew * (t - skew / 6.0))) - 1.0) / skew


@dataclass(frozen=True)
class Ratio(Estimate):
    """The estimate mean(a) / mean(b) - 1, over pairs."""

    a: Float[np.ndarray, " n"]
    b: Float[np.ndarray, " n"]

    def p_values(self, threshold: float) -> tuple[float, float]:
        """Judge the difference whose sign says on which side of the threshold the ratio lies."""
        return mean(self.a - (1.0 + threshold) * self.b).p_values(0.0)

    def interval(self, error: float) -> tuple[float, float]:
        if self.runs < FEWEST_RUNS or not self.b.any():
            return np.nan, np.nan
        if self.runs < LARGE:
            return _fieller(self.a, self.b, error)
        return self._end(0, -1.0, error), self._end(1, 1.0, error)

    def _end(self, hypothesis: int, direction: float, error: float) -> float:
        """Return the threshold in this direction at which one of the two hypotheses has half of `error` as p-value."""

        def excess(threshold: float) -> float:
            return self.p_values(threshold)[hypothesis] - error / 2

        step = 2.0 * mean((self.a - (1.0 + self.value) * self.b) / self.b.mean()).deviation
        if step == 0.0:
            return self.value
        for far in (self.value + direction * step * 2.0**k for k in range(1, 12)):
            if excess(far) < 0.0:
                return float(brentq(excess, self.value, far, xtol=1e-9))  # pyright: ignore[reportArgumentType]
        return direction * np.inf


@dataclass(frozen=True)
class Resampled(Estimate):
    """An estimate with its values in B resamples of the runs, which may tie."""

    distribution: Float[np.ndarray, " B"]
    """The values in the resamples; NaN with too few runs."""
    attenuated: bool = False
    """Whether it is a correlation of estimates, which is weaker than the true one."""

    def p_values(self, threshold: float) -> tuple[float, float]:
        if np.isnan(self.distribution).any():
            return np.nan, np.nan
        counts = np.array([(self.distribution <= threshold).sum(), (self.distribution >= threshold).sum()])
        # Between 0 and 1: that no resample of B is beyond the threshold shows a p-value of about 1 / B, and not of 0.
        at_most, at_least = ((counts + 1) / (len(self.distribution) + 2)).tolist()
        return at_most, at_least

    def interval(self, error: float) -> tuple[float, float]:
        """Return the percentile interval; that of a correlation is extended to the perfect one of the same sign."""
        lower, upper = np.quantile(self.distribution, [error / 2, 1.0 - error / 2]).tolist()
        if not self.attenuated or np.isnan(lower):
            return lower, upper
        return (-1.0 if self.value <= 0.0 else lower), (1.0 if self.value >= 0.0 else upper)


@dataclass(frozen=True)
class Count(Estimate):
    """The number of statements that are true, of several, each of which has p-values; with Holm's correction."""

    p_true: tuple[float, ...]
    """For each statement the p-value of the hypothesis that it is false: a small one shows that it is true."""
    p_false: tuple[float, ...]
    """For each statement the p-value of the hypothesis that it is true."""

    def p_values(self, threshold: float) -> tuple[float, float]:
        """Return the errors with which more statements than the threshold are shown true, and fewer false."""
        total, floor = len(self.p_true), int(np.floor(threshold))
        needed = floor + 1, total - int(np.ceil(threshold)) + 1
        at_most, at_least = (_holm(p, number) for p, number in zip((self.p_true, self.p_false), needed, strict=True))
        return at_most, at_least

    def interval(self, error: float) -> tuple[float, float]:
        """Return how many statements are shown true, and how many are not shown false; NaN with too few runs."""
        if self.runs < FEWEST_RUNS:
            return np.nan, np.nan
        shown = [sum(_holm(p, k) <= error / 2 for k in range(1, len(p) + 1)) for p in (self.p_true, self.p_false)]
        return float(shown[0]), float(len(self.p_false) - shown[1])


def _holm(p: Sequence[float], number: int) -> float:
    """Return the smallest error with which Holm's method rejects so many of the hypotheses with these p-values."""
    if not 1 <= number <= len(p):
        return float(number > len(p))
    first = np.sort(p)[:number] * (len(p) - np.arange(number))
    return float(min(1.0, first.max()))


def mean(sample: Float[np.ndarray, " n"]) -> Student:
    """Estimate the mean over runs."""
    value = sample.mean()
    return _student(float(value), sample - value)


def smooth(statistic: Statistic, sample: Sample) -> Student:
    """Estimate a smooth function of the means of a sample, with its leave-one-run-out standard error."""
    n, means = len(sample), sample.mean(0, keepdims=True)
    value = statistic(means).item()
    if n < FEWEST_RUNS or not np.isfinite(value):
        return Student(value, n, np.nan)
    influence = -(n - 1) * statistic((n * means - sample) / (n - 1))
    return _student(value, influence - influence.mean())


def _student(value: float, influence: Float[np.ndarray, " n"]) -> Student:
    """Return an estimate with the standard error that follows from each run's influence on it; their mean is 0."""
    n = len(influence)
    if n < FEWEST_RUNS:
        return Student(value, n, np.nan)
    squares = influence @ influence
    deviation = float(np.sqrt(squares / (n - 1) / n))
    if deviation <= NO_SPREAD * max(1.0, abs(value)):
        return Student(0.0 if abs(value) <= NO_SPREAD else value, n, 0.0)  # what is left of equal losses is rounding
    if n < LARGE:
        return Student(value, n, deviation)
    skewness = (influence**3).mean() / (squares / n) ** 1.5
    return Student(value, n, deviation, float(skewness / np.sqrt(n)))


def ratio(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " n"]) -> Ratio:
    """Estimate mean(a) / mean(b) - 1 over pairs.

    b is not negative. The estimate is NaN where all of b is 0, and its interval has no bounds where mean(b) may be 0.
    """
    return Ratio(float(a.mean() / b.mean() - 1.0) if b.any() else np.nan, len(a), a, b)


def _fieller(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " n"], error: float) -> tuple[float, float]:
    """Return Fieller's interval of mean(a) / mean(b) - 1."""
    n = len(a)
    squared = stdtrit(n - 1, 1.0 - error / 2) ** 2 / n
    covariance = np.cov(a, b)
    quadratic = b.mean() ** 2 - squared * covariance[1, 1]
    if quadratic <= 0.0:
        return -np.inf, np.inf
    linear = a.mean() * b.mean() - squared * covariance[0, 1]
    constant = a.mean() ** 2 - squared * covariance[0, 0]
    root = np.sqrt(max(0.0, linear**2 - quadratic * constant))
    return float((linear - root) / quadratic - 1), float((linear + root) / quadratic - 1)


def resampled(statistic: Statistic, sample: Sample, many: int = MANY_RESAMPLES) -> Resampled:
    """Estimate any function of the means of a sample, with its values in resamples of the runs.

    Args:
        statistic: The function.
        sample: The sample.
        many: The number of resamples from `LARGE` runs on.
    """
    value, n = statistic(sample.mean(0, keepdims=True)).item(), len(sample)
    if n < FEWEST_RUNS:
        return Resampled(value, n, np.full(RESAMPLES, np.nan))
    if n < LARGE:
        return Resampled(value, n, statistic(bootstrap_means(sample, RESAMPLES, 0)))
    parts = [statistic(means) for means in normal_means(sample, many, AT_A_TIME, 0)]
    return Resampled(value, n, np.concatenate(parts))


def attenuated(correlation: Statistic, sample: Sample, many: int = MANY_RESAMPLES) -> Resampled:
    """Estimate a correlation between quantities that are estimated themselves, with an interval for its weakest value.

    Errors of the quantities weaken their correlation. The interval is therefore extended to the perfect correlation of
    the sign that is estimated (1 or -1, or both for 0).
    """
    estimate = resampled(correlation, sample, many)
    return Resampled(estimate.value, estimate.runs, estimate.distribution, attenuated=True)
