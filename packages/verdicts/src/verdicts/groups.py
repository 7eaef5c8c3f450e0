"""Estimates from independent groups of units, also few, and within strata.

From `MIN_UNITS` units in each group on, t has Welch's and Satterthwaite's degrees of freedom and Hall's correction of
skewness. Fewer units have an exact test: of all signs for one group of pairs, and of all labels for two groups. Labels
are exchangeable only if spreads are alike, and Welch's t needs means without skewness, so of both the larger p-value
counts.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb, inf, log2

import numpy as np
from scipy.special import bdtrc, stdtr, stdtrit

from verdicts.estimates import MIN_EXACT_UNITS, MIN_LEVEL_UNITS, MIN_UNITS, ScalarEstimate, Student
from verdicts.skewness import MIN_DRIFT_UNITS, NO_SPREAD, Skewness, conservative_t, powers

MIN_SKEWNESS_UNITS = 8
"""The smallest number of units to correct Welch's t for skewness; with fewer, this costs a tenth of the power."""

MAX_ARRANGEMENTS = 10_000
"""The largest number of rearrangements, with the given one; of more possible ones, so many are drawn."""

MAX_EXACT_UNITS = 100
"""The largest number of units in the smaller of two unequal groups for an exact test."""

UNEQUAL_SIZES = 2.0
"""The ratio of sizes from which on skewness of two groups does not cancel."""

MAX_BITS = 60
"""The most binary digits of a number of arrangements; more are as good as infinitely many."""

ROWS_AT_ONCE = 500
"""The number of arrangements drawn at a time; it bounds memory."""

POWER_STEPS = 50
"""The steps of the iteration for the number of units with a given power."""


@dataclass(frozen=True)
class Group:
    """One independent sample [n], and its coefficient in the estimate."""

    coefficient: float
    sample: np.ndarray
    stratum: int = 0


@dataclass(frozen=True)
class Linear(ScalarEstimate):
    """The sum of coefficient times mean over independent groups, plus a constant."""

    groups: tuple[Group, ...] = ()
    constant: float = 0.0
    unit: str = "units"
    """The plural of a unit in messages, such as runs."""
    is_level: bool = False
    """Whether one group is compared with a number, so that skewness does not cancel."""
    is_sparse: bool = False
    """Whether units differ in too few successes (0 and 1) for t; then only a difference of 0 has a test."""
    is_difference: bool = True
    """Whether all means have factors of the same size."""

    @staticmethod
    def of(
        groups: Sequence[Group],
        constant: float = 0.0,
        unit: str = "units",
        *,
        is_level: bool = False,
        is_sparse: bool = False,
        is_difference: bool = True,
    ) -> "Linear":
        """Estimate it from samples."""
        value = constant + sum(group.coefficient * group.sample.mean() for group in groups)
        units = min(len(group.sample) for group in groups)
        return Linear(float(value), units, tuple(groups), constant, unit, is_level, is_sparse, is_difference)

    @cached_property
    def strata(self) -> list[list[Group]]:
        """The groups of each stratum."""
        by_stratum: dict[int, list[Group]] = {}
        for group in self.groups:
            by_stratum.setdefault(group.stratum, []).append(group)
        return list(by_stratum.values())

    @cached_property
    def groups_in_stratum(self) -> int:
        """The number of groups in each stratum; 0 if it differs."""
        numbers = {len(groups) for groups in self.strata}
        return numbers.pop() if len(numbers) == 1 else 0

    @property
    def has_exact_test(self) -> bool:
        return self.groups_in_stratum in (1, 2) and not self.is_level

    @property
    def is_exact(self) -> bool:
        """Return whether t alone is not enough, because groups are few, or unequal."""
        return self.units < MIN_UNITS or self.is_unequal

    @property
    def is_unequal(self) -> bool:
        """Return whether a group of fewer than `MAX_EXACT_UNITS` is compared with one of another size."""
        sizes = [len(group.sample) for group in self.groups]
        is_of_two = self.has_exact_test and self.groups_in_stratum == 2
        return is_of_two and min(sizes) < MAX_EXACT_UNITS and max(sizes) >= UNEQUAL_SIZES * min(sizes)

    @cached_property
    def has_few_differences(self) -> bool:
        """Return whether units differ too little for t; then only a difference of 0 has a test."""
        return self.is_sparse or self.student.is_constant

    @property
    def min_units(self) -> int:
        if self.is_level:
            return MIN_LEVEL_UNITS
        return MIN_EXACT_UNITS if self.has_exact_test else MIN_UNITS

    @cached_property
    def student(self) -> Student:
        """The estimate with Welch's degrees of freedom."""
        if self.units < MIN_EXACT_UNITS:
            return Student(self.value, self.units, np.nan)
        moments = [_moments(group) for group in self.groups]
        squared_errors, biased, third, fourth = (np.array(column) for column in zip(*moments, strict=True))
        deviation = float(np.sqrt(squared_errors.sum()))
        if deviation <= NO_SPREAD * max(1.0, abs(self.value)):
            return Student(self.value, self.units, 0.0)
        sizes = np.array([len(group.sample) for group in self.groups])
        degrees = float(squared_errors.sum() ** 2 / (squared_errors**2 / (sizes - 1)).sum())
        skewness = Skewness()
        if self.units >= MIN_SKEWNESS_UNITS:
            value = third.sum() / biased.sum() ** 1.5
            drift = max(0.0, fourth.sum() / biased.sum() ** 2 - 1.5 * value**2)
            skewness = Skewness(value, drift if self.units >= MIN_DRIFT_UNITS else 0.0)
        return Student(self.value, self.units, deviation, skewness, self.is_level, degrees)

    @property
    def smallest_p(self) -> float:
        if not (self.is_exact and self.has_exact_test):
            return 0.0
        return 1.0 / min(_possible(self._sizes), MAX_ARRANGEMENTS)

    @property
    def sizes_text(self) -> str:
        sizes = [len(group.sample) for group in self.strata[0]]
        text = " against ".join(map(str, sizes)) + f" {self.unit}"
        return text + f" in each of {len(self.strata)} strata" * (len(self.strata) > 1)

    def units_needed(self, level: float) -> int:
        if not self.has_exact_test:
            return self.min_units
        if self.is_unequal:
            return max(len(group.sample) for group in self.groups)
        shape = (self.groups_in_stratum,) * len(self.strata)
        sizes = range(MIN_EXACT_UNITS, MIN_UNITS)
        return next((n for n in sizes if 1.0 / _possible([(n,) * k for k in shape]) <= level), MIN_UNITS)

    def units_for_power(self, gap: float, level: float, power: float) -> float:
        """Return the units in each group to tell a gap from 0 with a power, if all groups grow alike."""
        if not self.student.deviation > 0.0 or gap == 0.0:
            return inf if gap == 0.0 else float(self.units_needed(level))
        units = float(self.units)
        for _ in range(POWER_STEPS):
            degrees = max(2.0, self.student.degrees_of_freedom * units / self.units)
            quantiles = float(stdtrit(degrees, 1.0 - level) + stdtrit(degrees, power))
            units = max(2.0, self.units * (quantiles * self.student.deviation / abs(gap)) ** 2)
        return float(np.ceil(max(units, self.units_needed(level))))

    def _p_values(self, threshold: float) -> tuple[float, float]:
        if self.has_few_differences:
            return self._p_values_of_few_differences(threshold)
        if not self.is_exact:
            return self.student.p_values(threshold)
        at_most, at_least = _tails(self._statistics(threshold))
        smaller, larger = conservative_t((self.value - threshold) / self.student.deviation, self.student.skewness)
        degrees = self.student.degrees_of_freedom
        return max(at_most, float(stdtr(degrees, -smaller))), max(at_least, float(stdtr(degrees, larger)))

    def _p_values_of_few_differences(self, threshold: float) -> tuple[float, float]:
        """Test a difference of 0 by signs of unequal pairs, or by labels; other thresholds have p-value 1."""
        if not (self.is_difference and self.has_exact_test and threshold == self.constant):
            return 1.0, 1.0
        if len(self.groups) > 1:
            return _tails(self._statistics(threshold))
        group = next(iter(self.groups))
        sample = group.coefficient * group.sample
        positive, negative = int((sample > 0.0).sum()), int((sample < 0.0).sum())
        at_most, at_least = (bdtrc(k - 1, positive + negative, 0.5) if k else 1.0 for k in (positive, negative))
        return float(at_most), float(at_least)

    def _interval(self, error: float) -> tuple[float, float]:
        if self.has_few_differences:
            above, below = (p <= error / 2 for p in self.p_values(self.constant))
            return self.constant if above else -inf, self.constant if below else inf
        if not self.is_exact:
            return self.student.interval(error)
        if self.smallest_p > error / 2:
            return -inf, inf
        return self.end(0, -self.scale, error), self.end(1, self.scale, error)

    @property
    def scale(self) -> float:
        """The first step of a search for an end of the interval."""
        spread = max(float(np.ptp(group.coefficient * group.sample)) for group in self.groups)
        return max(spread, abs(self.value), NO_SPREAD)

    @property
    def _sizes(self) -> list[tuple[int, ...]]:
        return [tuple(len(group.sample) for group in groups) for groups in self.strata]

    def _statistics(self, threshold: float) -> np.ndarray:
        """Return the statistics [B] of all arrangements if the first groups are shifted to the threshold."""
        mean, variance = self._polynomials
        shift = -(threshold - self.constant) / len(self.strata)
        statistic = mean[0] + shift * mean[1]
        if self.groups_in_stratum == 1:
            return statistic
        spread = np.maximum(0.0, variance[0] + shift * (variance[1] + shift * variance[2]))
        floor = NO_SPREAD * max(float(np.square(statistic).max()), np.finfo(float).tiny)
        return statistic / np.sqrt(np.maximum(spread, floor))

    @cached_property
    def _polynomials(self) -> tuple[np.ndarray, np.ndarray]:
        """The means [2, B] and variances [3, B] of arrangements, as coefficients of powers of a shift."""
        mean, variance = np.zeros((2, 1)), np.zeros((3, 1))
        for index, groups in enumerate(self.strata):
            a = groups[0].coefficient * groups[0].sample
            if len(groups) == 1:
                rows = _signs(len(a), index, is_only=len(self.strata) == 1)
                mean = mean + np.stack([rows @ a / len(a), rows.mean(1)])
                continue
            b = -groups[1].coefficient * groups[1].sample
            members = _members(*sorted((len(a), len(b))), index, is_only=len(self.strata) == 1)
            means, variances = _label_polynomials(a, b, members)
            mean, variance = mean + means, variance + variances
        return mean, variance


def _moments(group: Group) -> tuple[np.ndarray, ...]:
    """Return a group's shares of the variance, and of the central moments of the estimate."""
    n = len(group.sample)
    deviations = group.coefficient * (group.sample - group.sample.mean())
    second, third, fourth = (power.mean() for power in powers(deviations)[2:])
    return second / (n - 1), second / n, third / n**2, (fourth - 3.0 * second**2) / n**3


def _possible(sizes: Sequence[tuple[int, ...]]) -> float:
    """Return the number of arrangements, at most infinity: of signs in one group, or of labels in two."""
    bits = sum(size[0] if len(size) == 1 else log2(comb(sum(size), size[0])) for size in sizes)
    return 2.0**bits if bits < MAX_BITS else inf


def _tails(statistics: np.ndarray) -> tuple[float, float]:
    """Return the shares of statistics at least, and at most, as large as the first one."""
    rounding = 1e-9 * float(np.abs(statistics).max())
    at_least, at_most = statistics >= statistics[0] - rounding, statistics <= statistics[0] + rounding
    return float(at_least.mean()), float(at_most.mean())


def _label_polynomials(a: np.ndarray, b: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean(a) - mean(b) [2, B] and its variance [3, B] by powers of a shift of a.

    `members` [B, min(n, m)] are the indices in the smaller group, of all units in the order of groups, smaller first.
    """
    n, m = len(a), len(b)
    pooled = np.concatenate([a, b] if n <= m else [b, a])
    is_a = np.repeat([n <= m, n > m], sorted((n, m)))
    x = pooled - pooled.mean()
    columns = np.stack([x, is_a, x * x, 2.0 * x * is_a, is_a], 1)  # sums by powers of the shift, then of squares
    in_smaller = columns[members].sum(1)
    sums_by_group = in_smaller, columns.sum(0) - in_smaller
    means, variances = [], []
    for sums, size in zip(sums_by_group if n <= m else sums_by_group[::-1], (n, m), strict=True):
        level, slope, *squares = sums.T / size
        means.append(np.stack([level, slope]))
        spread = np.stack([squares[0] - level**2, squares[1] - 2.0 * level * slope, squares[2] - slope**2])
        variances.append(spread / (size - 1))
    return means[0] - means[1], variances[0] + variances[1]


@lru_cache(maxsize=128)
def _signs(n: int, stratum: int, *, is_only: bool) -> np.ndarray:
    """Return signs [B, n]: all of them in an only stratum if they are few; the first row is the given one."""
    if is_only and 2**n <= MAX_ARRANGEMENTS:
        return 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    signs = np.random.default_rng(stratum).choice([-1.0, 1.0], size=(MAX_ARRANGEMENTS, n))
    signs[0] = 1.0
    return signs


@lru_cache(maxsize=128)
def _members(n: int, m: int, stratum: int, *, is_only: bool) -> np.ndarray:
    """Return the indices [B, n] of the units in the smaller group, as `_signs`."""
    if is_only and comb(n + m, n) <= MAX_ARRANGEMENTS:
        return np.array(list(combinations(range(n + m), n)))
    rng = np.random.default_rng(stratum)
    chunks = (min(ROWS_AT_ONCE, MAX_ARRANGEMENTS - start) for start in range(0, MAX_ARRANGEMENTS, ROWS_AT_ONCE))
    members = np.concatenate([rng.random((rows, n + m)).argpartition(n - 1, 1)[:, :n] for rows in chunks])
    members[0] = np.arange(n)
    return members


class OfGroups(ScalarEstimate, ABC):
    """An estimate by tests of sums over groups, with the sizes of one of them."""

    @property
    @abstractmethod
    def tested(self) -> Linear: ...

    @property
    def min_units(self) -> int:
        return self.tested.min_units

    @property
    def smallest_p(self) -> float:
        return self.tested.smallest_p

    @property
    def sizes_text(self) -> str:
        return self.tested.sizes_text

    def units_needed(self, level: float) -> int:
        return self.tested.units_needed(level)


@dataclass(frozen=True)
class Ratio(OfGroups):
    """A ratio of means less 1, by tests of `a - (1 + r) * b` (Fieller); unbounded if b may be 0."""

    at: Callable[[float], Linear] = field(repr=False)
    """The estimate of a - (1 + r) * b."""
    p_below: float = 0.0
    """The p-value of the hypothesis that mean(b) is at most 0; no p-value of the ratio is smaller."""

    @cached_property
    def tested(self) -> Linear:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.at(self.value if self.is_known else 0.0)

    def units_for_power(self, gap: float, level: float, power: float) -> float:
        """Return the units in each group to tell a gap from 0 with a power."""
        alternative = self.at(self.value + gap)
        return alternative.units_for_power(alternative.value, level, power)

    def _p_values(self, threshold: float) -> tuple[float, float]:
        at_most, at_least = self.at(threshold).p_values(0.0)
        return max(at_most, self.p_below), max(at_least, self.p_below)

    def _interval(self, error: float) -> tuple[float, float]:
        if not self.is_known:
            return np.nan, np.nan
        if self.smallest_p > error / 2:
            return -inf, inf
        slope = abs(self.at(self.value + 1.0).value - self.tested.value)  # mean(b)
        step = 2.0 * max(self.tested.student.deviation / slope, NO_SPREAD) if slope else NO_SPREAD
        return self.end(0, -step, error), self.end(1, step, error)


@dataclass(frozen=True)
class Lowest(OfGroups):
    """The smallest mean of some columns less the smallest of others, by tests of all pairs (Berger 1982)."""

    pairs: tuple[tuple[Linear, ...], ...]
    """Each of the columns (rows) less each of the others."""

    @property
    def tested(self) -> Linear:
        return self.pairs[0][0]

    def _p_values(self, threshold: float) -> tuple[float, float]:
        p = np.array([[pair.p_values(threshold) for pair in row] for row in self.pairs])
        p_more, less = p[..., 0], p[..., 1]
        return float(min(1.0, p.shape[1] * p_more.max(0).min())), float(min(1.0, p.shape[0] * less.max(1).min()))

    def _interval(self, error: float) -> tuple[float, float]:
        rows, columns = len(self.pairs), len(self.pairs[0])
        upper = min(max(pair.interval(error / rows)[1] for pair in row) for row in self.pairs)
        lower = max(min(row[j].interval(error / columns)[0] for row in self.pairs) for j in range(columns))
        return min(lower, self.value), max(upper, self.value)
