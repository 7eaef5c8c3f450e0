"""The scorecard: the claims and their verdicts, read from the claims.csv that `src.claims` writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.claims import CLAIMS
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
    """The lower end of the 95 % interval; NaN for a single run."""
    upper: float
    """The upper end of the 95 % interval; NaN for a single run."""
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
class ScoredClaim:
    """A claim with its verdict and the comparisons that the verdict rests on."""

    id: str
    selected_on: bool
    """Whether readings were chosen knowing this result (`pomrl.claims.judging.SELECTED`)."""
    statement: str
    verdict: Verdict
    """The verdict with Holm's correction for the number of claims."""
    alone: Verdict
    """The verdict without Holm's correction."""
    runs: int
    promised: int
    runs_to_decide: int | None
    """The number of runs that would presumably decide the claim; None if it is decided or would need too many."""
    comparisons: tuple[Comparison, ...]

    @property
    def decisive(self) -> Comparison:
        """The comparison on which the verdict rests."""
        return next(each for each in self.comparisons if each.decisive)

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that show what the claim is about."""
        return figures_of(self.id)


def read(path: Path) -> list[ScoredClaim]:
    """Return the claims in a claims.csv; there are none if it is not made.

    Raises:
        ReportError: The file is damaged, or another version wrote it.
    """
    table = read_table(path, "python -m src.claims")
    if table is None:
        return []
    try:
        return [_scored(rows) for _, rows in table.groupby("claim", sort=False)]
    except (KeyError, ValueError, TypeError) as error:
        raise ReportError(f"{path}: of another version ({error}); python -m src.claims renews it") from error


def _scored(rows: pd.DataFrame) -> ScoredClaim:
    records = rows.to_dict("records")
    if rows["decisive"].tolist().count(True) != 1:
        raise ValueError("a claim has one decisive comparison")
    first = records[0]
    to_decide = first["runs_to_decide"]
    return ScoredClaim(
        **{name: first[name] for name in ("selected_on", "statement", "runs")},
        id=first["claim"],
        verdict=Verdict(first["verdict"]),
        alone=Verdict(first["verdict_without_holm"]),
        promised=first["runs_promised"],
        runs_to_decide=None if pd.isna(to_decide) else int(to_decide),
        comparisons=tuple(_comparison(row) for row in records),
    )


def _comparison(row: dict[Any, Any]) -> Comparison:
    named = ("compared", "estimate", "lower", "upper", "above", "below", "decisive")
    return Comparison(**{name: row[name] for name in named}, verdict=Verdict(row["part_verdict"]))


def not_computed(scored: Sequence[ScoredClaim]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the id, the statement and the sweeps of each claim that `scored` lacks."""
    computed = {each.id for each in scored}
    return [(claim.id, claim.statement, claim.experiments) for claim in CLAIMS if claim.id not in computed]
