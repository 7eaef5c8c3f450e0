"""What the tables of claims say of every claim, of the paper or ours: its comparisons, and how they are drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from pomrl.claims.verdict import Verdict, claimed_range
from pomrl.report import ReportError
from pomrl.report.stored_tables import read_table
from pomrl.report.titles import figures_of


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


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One of the comparisons that a claim consists of: the claim is that a number lies between `above` and `below`."""

    compared: str
    estimate: float
    lower: float
    """The lower end of the interval that the verdict rests on; NaN for a single run."""
    upper: float
    """The upper end of the interval that the verdict rests on; NaN for a single run."""
    above: float = -inf
    below: float = inf
    verdict: Verdict
    decisive: bool = False
    """Whether the claim's verdict is that of this comparison."""

    @property
    def claimed(self) -> str:
        """The range in which the number lies according to the claim."""
        return claimed_range(self.above, self.below)

    @property
    def interval(self) -> IntervalDrawing | None:
        """A drawing of the interval and the thresholds, with margins of a tenth of what they span.

        It is None for a single run, which has no interval.
        """
        if not (isfinite(self.lower) and isfinite(self.upper)):
            return None
        thresholds = tuple(end for end in (self.above, self.below) if isfinite(end))
        shown = [self.lower, self.estimate, self.upper, *thresholds]
        left, right = min(shown), max(shown)
        margin = 0.1 * (right - left or 1.0)

        def place(x: float) -> float:
            share = (x - left + margin) / (right - left + 2 * margin)
            return round(100 * min(1.0, max(0.0, share)), 2)

        claimed = (place(self.above), place(self.below))
        return IntervalDrawing(
            place(self.lower), place(self.estimate), place(self.upper), claimed, tuple(map(place, thresholds))
        )


@dataclass(frozen=True, kw_only=True)
class JudgedClaim:
    """A claim with the comparisons that its verdict rests on."""

    id: str
    statement: str
    reason: str
    """Why the claim is undecided; empty if it is not."""
    runs: int
    """The number of runs on which the claim was last judged; 0 if there are too few for precision."""
    comparisons: tuple[Comparison, ...]

    @property
    def decisive(self) -> Comparison:
        """The comparison on which the verdict rests; the first one where there is no verdict."""
        return next(each for each in self.comparisons if each.decisive)

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that show what the claim is about."""
        return figures_of(self.id)


Claim = TypeVar("Claim", bound=JudgedClaim)


def read_claims(
    path: Path, remedy: str, words: Sequence[str], parse: Callable[[pd.DataFrame], list[Claim]]
) -> list[Claim]:
    """Return the claims in a table of claims; there are none if the table is not made.

    Args:
        path: The path of the table.
        remedy: The command that makes the table again, for the message of the error.
        words: The columns of text, in which an empty cell is an empty text.
        parse: The function that makes claims of the table.

    Raises:
        ReportError: The file is damaged, or another version wrote it.
    """
    table = read_table(path, remedy, words)
    if table is None:
        return []
    try:
        return parse(table)
    except (KeyError, ValueError, TypeError, IndexError, StopIteration) as error:
        raise ReportError(f"{path}: of another version ({error}); {remedy} renews it") from error


def comparison(row: dict[Any, Any], verdict: Verdict) -> Comparison:
    """Return the comparison in a row of a table of claims."""
    numbers = {name: float(row[name]) for name in ("estimate", "lower", "upper", "above", "below")}
    return Comparison(**numbers, compared=row["compared"], decisive=row["decisive"], verdict=verdict)
