"""t statistics corrected for skewness, as in Hall (1992, "On the removal of skewness by transformation", JRSS B 54).

Sample skewness is correlated with t: from `MIN_DRIFT_UNITS` units on, its regression on t is subtracted first. The
slope is max(0, kurtosis - 1.5 skewness^2) / n. Of plain and corrected t, the more conservative one is used, because
heavy tails make the corrected one too large.

Functions take numbers or arrays of any shape.
"""

from dataclasses import dataclass

import numpy as np

Numbers = np.ndarray | float

NO_SPREAD = 1e-12
"""The largest spread over units that counts as rounding, relative to max(1, |estimate|)."""

MIN_DRIFT_UNITS = 100
"""The smallest number of units to correct the drift of skewness. With fewer, this costs a quarter of the power."""

FIXED_POINT_STEPS = 50
"""The steps of the iteration for interval ends; each reduces the error by two fifths or more."""

CUBE_ROOT_STEPS = 5
"""The steps of Newton's method for cube roots; each doubles the number of correct digits."""


@dataclass(frozen=True)
class Skewness:
    """The skewness of a mean over n units, and its dependence on t."""

    value: Numbers = 0.0
    """The skewness of the units, divided by sqrt(n); 0 for no correction."""
    drift: Numbers = 0.0
    """The covariance of a sample's skewness with its t statistic; 0 if negative."""

    @staticmethod
    def from_moments(second: Numbers, third: Numbers, fourth: Numbers, n: int) -> "Skewness":
        """Compute it from central moments of n units."""
        value = third / (second * np.sqrt(second))
        excess = fourth / second**2 - 3.0 - 1.5 * value**2
        drift = np.maximum(0.0, excess) if n >= MIN_DRIFT_UNITS else np.zeros_like(value)
        return Skewness(value / np.sqrt(n), drift / n)

    def __neg__(self) -> "Skewness":
        return Skewness(-self.value, self.drift)

    def expected(self, t: Numbers) -> np.ndarray:
        """Return the skewness to correct for at a t statistic."""
        limit = 1.0 / np.sqrt(np.maximum(self.drift, NO_SPREAD))  # beyond, the corrected t would not grow with t
        return np.asarray(self.value - self.drift * np.clip(t, -limit, limit))


def conservative_t(t: Numbers, skewness: Skewness) -> tuple[np.ndarray, np.ndarray]:
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


def without_skew(t: Numbers, skew: Numbers) -> np.ndarray:
    """Apply Hall's transformation to t; `skew` is the skewness of the mean."""
    small = np.abs(skew) < NO_SPREAD
    divisor = np.where(small, 1.0, skew)
    with np.errstate(invalid="ignore"):  # t is infinite if all units are equal
        return np.where(small, t, (powers(1.0 + divisor * t / 3.0)[3] - 1.0) / divisor + divisor / 6.0)


def with_skew(t: float, skew: Numbers) -> np.ndarray:
    """Invert `without_skew`."""
    small = np.abs(skew) < NO_SPREAD
    divisor = np.where(small, 1.0, skew)
    return np.where(small, t, 3.0 * (cube_root(1.0 + divisor * (t - divisor / 6.0)) - 1.0) / divisor)


def powers(x: Numbers) -> tuple[np.ndarray, ...]:
    """Return x^0 to x^4 as products; last bits of `**` depend on the processor."""
    array = np.asarray(x)
    square = array * array
    return np.ones_like(array), array, square, square * array, square * square


def cube_root(x: Numbers) -> np.ndarray:
    """Return real cube roots, by basic operations alone.

    Results of `numpy.cbrt` differ between mathematical libraries in the last bit.
    """
    is_own_root = (np.asarray(x) == 0.0) | ~np.isfinite(x)
    mantissa, exponent = np.frexp(np.where(is_own_root, 1.0, np.abs(x)))
    third = exponent // 3
    scaled = np.ldexp(mantissa, exponent - 3 * third)  # from 1/2 to 4
    root = 0.7 + 0.25 * scaled
    for _ in range(CUBE_ROOT_STEPS):
        root = root - (root * root * root - scaled) / (3.0 * root * root)
    return np.asarray(np.where(is_own_root, x, np.copysign(np.ldexp(root, third), x)))
