"""Small drawings of an estimate, its interval and what is claimed of it."""

from dataclasses import dataclass
from math import isfinite

from pomrl.judging.verdict import Comparison


@dataclass(frozen=True)
class IntervalDrawing:
    """Positions in a small drawing of an estimate and its interval, in percent of the drawing's width."""

    low: float
    """The position of the lower end of the interval."""
    value: float
    """The position of the estimate."""
    high: float
    """The position of the upper end of the interval."""
    claimed: tuple[float, float]
    """The ends of the range that the claim asserts, which is shaded."""
    thresholds: tuple[float, ...]
    """The positions of the claim's finite thresholds."""


def placed(part: Comparison) -> IntervalDrawing | None:
    """Return a drawing of the interval and the thresholds, with margins of a tenth of what they span.

    It is None where there are too few runs for an interval.
    """
    if not (isfinite(part.lower) and isfinite(part.upper)):
        return None
    thresholds = tuple(end for end in (part.above, part.below) if isfinite(end))
    shown = [part.lower, part.estimate, part.upper, *thresholds]
    left, right = min(shown), max(shown)
    margin = 0.1 * (right - left or 1.0)

    def place(x: float) -> float:
        share = (x - left + margin) / (right - left + 2 * margin)
        return round(100 * min(1.0, max(0.0, share)), 2)

    claimed = (place(part.above), place(part.below))
    return IntervalDrawing(
        place(part.lower), place(part.estimate), place(part.upper), claimed, tuple(map(place, thresholds))
    )
