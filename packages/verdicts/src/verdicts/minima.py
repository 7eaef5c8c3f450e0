"""Estimates of ratios, of smallest means, and of where they are.

Near a tie, a minimum is not smooth and its argument jumps: Student's interval and the bootstrap are invalid. These
estimates use paired t tests with Hall's correction. Tests of *some* mean of a below *all* means of b take the
largest p-value over b (Berger 1982, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24). It
is multiplied by the number of means of a (Bonferroni). The confidence set of the place of a minimum has all
places not shown to be worse than another.

Intervals are conservative: too wide by an eighth for 10 means of a and an error of 1 in 10,000.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from scipy.special import stdtr, stdtrit

from verdicts.estimates import ScalarEstimate, check_samples
from verdicts.skewness import NO_SPREAD, Skewness, conservative_quantile, conservative_t, powers


@dataclass(frozen=True)
class Pairs:
    """Moments of two samples over the same units: of I numbers in a, and of J in b."""

    units: int
    a: np.ndarray
    """The column means of a."""
    b: np.ndarray
    """The column means of b."""
    second: tuple[np.ndarray, ...]
    """The means of the products aa, ab and bb of deviations."""
    third: tuple[np.ndarray, ...]
    """The means of the products aaa, aab, abb and bbb of deviations."""
    fourth: tuple[np.ndarray, ...]
    """The means of the products aaaa, aaab, aabb, abbb and bbbb of deviations."""

    @staticmethod
    def from_samples(a: np.ndarray, b: np.ndarray) -> "Pairs":
        """Compute moments of samples [n, I] and [n, J]."""
        n = len(a)
        x, y = powers(a - a.mean(0)), powers(b - b.mean(0))
        second, third, fourth = (
            (
                x[order].mean(0)[:, None],
                *(_mean_products(x[order - k], y[k]) for k in range(1, order)),
                y[order].mean(0),
            )
            for order in (2, 3, 4)
        )
        return Pairs(n, a.mean(0), b.mean(0), second, third, fourth)

    def difference(self, factor: float) -> np.ndarray:
        """Return mean(a) - factor * mean(b) for each pair [I, J]."""
        return self.a[:, None] - factor * self.b

    def deviation_and_skewness(self, factor: float) -> tuple[np.ndarray, Skewness]:
        """Return the standard error and skewness of mean(a - factor * b), each [I, J]."""
        variance, third, fourth = (
            _central_moment(moments, factor) for moments in (self.second, self.third, self.fourth)
        )
        deviation = np.sqrt(np.clip(variance, 0.0, None) / (self.units - 1))
        scale = self.second[0] + factor**2 * self.second[-1]
        rounding = np.sqrt(NO_SPREAD * np.maximum(1.0, scale) / self.units)  # in differences of moments
        is_constant = deviation <= rounding
        variance, third, fourth = np.where(is_constant, [[[1.0]], [[0.0]], [[3.0]]], [variance, third, fourth])
        return np.where(is_constant, 0.0, deviation), Skewness.from_moments(variance, third, fourth, self.units)

    def t(self, threshold: float, factor: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Return the smaller and larger of plain and skewness-corrected t statistics, each [I, J].

        They are NaN if a - factor * b equals the threshold in all units.
        """
        deviation, skewness = self.deviation_and_skewness(factor)
        gap = self.difference(factor) - threshold
        gap = np.where((deviation == 0.0) & (np.abs(gap) <= NO_SPREAD), 0.0, gap)  # rounding error
        with np.errstate(divide="ignore", invalid="ignore"):
            return conservative_t(gap / deviation, skewness)

    def is_less(self, threshold: float, factor: float = 1.0) -> float:
        """Return the p-value of min(a) - factor * min(b) >= threshold."""
        return _intersection_union_p(stdtr(self.units - 1, self.t(threshold, factor)[1]))

    def is_more(self, threshold: float, factor: float = 1.0) -> float:
        """Return the p-value of min(a) - factor * min(b) <= threshold."""
        return _intersection_union_p(stdtr(self.units - 1, -self.t(threshold, factor)[0]).T)


def _mean_products(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return means of products in a fixed order; `@` depends on the processor."""
    return np.einsum("ni,nj->ij", x, y) / len(x)


def _central_moment(products: Sequence[np.ndarray], factor: float) -> np.ndarray:
    order = len(products) - 1
    return np.asarray(sum(comb(order, k) * (-factor) ** k * product for k, product in enumerate(products)))


def _intersection_union_p(p: np.ndarray) -> float:
    """Return the p-value for some row with a property in all columns."""
    return float(min(1.0, len(p) * np.where(np.isnan(p), 1.0, p).max(1).min()))


@dataclass(frozen=True)
class SmallestMean(ScalarEstimate):
    """An estimate of min(a) - min(b), or min(a) / min(b) - 1, over means."""

    pairs: Pairs
    is_ratio: bool = False

    @property
    def is_constant(self) -> bool:
        return self.is_possible and not self.errors.any()

    @property
    def is_known(self) -> bool:
        return bool(np.isfinite(self.pairs.a).all() and np.isfinite(self.pairs.b).all())  # a ratio to 0 is NaN

    @cached_property
    def errors(self) -> np.ndarray:
        return self.pairs.deviation_and_skewness(1.0 + self.value if self.is_ratio else 1.0)[0]

    def _p_values(self, threshold: float) -> tuple[float, float]:
        level, factor = (0.0, 1.0 + threshold) if self.is_ratio else (threshold, 1.0)
        return self.pairs.is_more(level, factor), self.pairs.is_less(level, factor)

    def _interval(self, error: float) -> tuple[float, float]:
        if not np.isfinite(self.value):
            return np.nan, np.nan
        if self.is_ratio:
            step = 2.0 * float(self.errors.max() / self.pairs.b.min())
            return self.end(0, -step, error), self.end(1, step, error)
        value = self.pairs.difference(1.0)
        deviation, skewness = self.pairs.deviation_and_skewness(1.0)
        t_a, t_b = (float(stdtrit(self.units - 1, 1.0 - error / 2 / count)) for count in value.shape)
        upper = (value + deviation * conservative_quantile(t_a, -skewness)).max(1).min()
        lower = (value - deviation * conservative_quantile(t_b, skewness)).min(0).max()
        return min(float(lower), self.value), max(float(upper), self.value)


@dataclass(frozen=True)
class BestDifference(ScalarEstimate):
    """An estimate of the difference between the places of two minima, from confidence sets."""

    differences: np.ndarray
    """Each place of a (rows) minus each one of b (columns)."""
    p_a: np.ndarray
    """The p-value of the hypothesis that a place is the best for a."""
    p_b: np.ndarray
    is_discrete = True

    @cached_property
    def p(self) -> np.ndarray:
        """The p-value of each pair as the best places of a and b."""
        return np.minimum(1.0, 2.0 * np.minimum(self.p_a[:, None], self.p_b))

    def _p_values(self, threshold: float) -> tuple[float, float]:
        rounded = np.round(self.differences - threshold, 9)
        return float(self.p[rounded <= 0].max(initial=0.0)), float(self.p[rounded >= 0].max(initial=0.0))

    def _interval(self, error: float) -> tuple[float, float]:
        possible = self.differences[self.p > error / 2]
        return float(possible.min(initial=self.value)), float(possible.max(initial=self.value))


def minimum_difference(a: np.ndarray, b: np.ndarray) -> SmallestMean:
    """Estimate min(a) - min(b) over column means of samples [n, I] and [n, J]."""
    return SmallestMean(float(a.mean(0).min() - b.mean(0).min()), len(a), Pairs.from_samples(a, b))


def minimum_ratio(a: np.ndarray, b: np.ndarray) -> SmallestMean:
    """Estimate min(a) / min(b) - 1 over column means of samples [n, I] and [n, J], for b >= 0.

    The estimate is NaN if min(b) is 0.
    """
    smallest = b.mean(0).min()
    value = float(a.mean(0).min() / smallest - 1.0) if smallest > 0.0 else np.nan
    return SmallestMean(value, len(a), Pairs.from_samples(a, b), is_ratio=True)


def ratio(a: np.ndarray, b: np.ndarray) -> SmallestMean:
    """Estimate mean(a) / mean(b) - 1 over pairs of numbers [n], for b >= 0, with Fieller's interval.

    The estimate is NaN if b is 0 in all units. The interval is unbounded if mean(b) may be 0.
    """
    check_samples(a, b)
    return minimum_ratio(a[:, None], b[:, None])


def p_best(curve: np.ndarray) -> np.ndarray:
    """Test whether each column mean of a sample [n, G] is the smallest; return p-values [G]."""
    t, _ = Pairs.from_samples(curve, curve).t(0.0)
    better = stdtr(len(curve) - 1, -t)
    better = np.where(np.isnan(better), 1.0, better)  # a column and itself or an equal one
    return np.minimum(1.0, max(1, len(t) - 1) * better.min(1))
