"""The scorecard: the claims as `src.claims` left them in claims.csv, with their intervals as small drawings."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.claims import CLAIMS
from pomrl.claims.verdict import Verdict
from pomrl.report.contents import figures_of
from pomrl.report.errors import ReportError

ORDER = (Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE, Verdict.REPRODUCED)
"""What a reader asks for first."""

SIGNS = {Verdict.REPRODUCED: "✓", Verdict.NOT_REPRODUCED: "✗", Verdict.INCONCLUSIVE: "?"}
"""So that no verdict is told by its colour alone."""


@dataclass(frozen=True)
class Interval:
    """Where an estimate, its interval and what is claimed of it lie, in percent of the width of a drawing."""

    low: float
    value: float
    high: float
    claimed: tuple[float, float]
    thresholds: tuple[float, ...]


@dataclass(frozen=True)
class Comparison:
    """A number behind a claim."""

    compared: str
    estimate: float
    lower: float
    upper: float
    above: float
    below: float
    verdict: Verdict
    decisive: bool

    @property
    def claimed(self) -> str:
        """What is claimed of the number."""
        if self.above == -self.below:
            return f"within ±{self.below:g}"
        return f"< {self.below:g}" if isfinite(self.below) else f"> {self.above:g}"

    @property
    def interval(self) -> Interval | None:
        """A drawing that spans the interval and the thresholds, and a tenth more; None without an interval."""
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
        return Interval(
            place(self.lower), place(self.estimate), place(self.upper), claimed, tuple(map(place, thresholds))
        )


@dataclass(frozen=True)
class Scored:
    """A claim with its verdict, and the comparisons behind it."""

    id: str
    selected_on: bool
    statement: str
    verdict: Verdict
    alone: Verdict
    """Without Holm's correction."""
    runs: int
    promised: int
    runs_to_decide: int | None
    comparisons: tuple[Comparison, ...]

    @property
    def decisive(self) -> Comparison:
        return next(each for each in self.comparisons if each.decisive)

    @property
    def figures(self) -> tuple[str, ...]:
        return figures_of(self.id)


def read(path: Path) -> list[Scored]:
    """The claims in a claims.csv; none where it does not exist. ReportError where it is of another version."""
    if not path.exists():
        return []
    table = pd.read_csv(path)
    try:
        return [_scored(rows) for _, rows in table.groupby("claim", sort=False)]
    except (KeyError, ValueError, StopIteration) as error:
        raise ReportError(f"{path}: of another version ({error}); python -m src.claims renews it") from error


def _scored(rows: pd.DataFrame) -> Scored:
    first = rows.iloc[0]
    to_decide = first["runs_to_decide"]
    return Scored(
        str(first["claim"]),
        bool(first["selected_on"]),
        str(first["statement"]),
        Verdict(first["verdict"]),
        Verdict(first["verdict_without_holm"]),
        int(first["runs"]),
        int(first["runs_promised"]),
        None if pd.isna(to_decide) else int(to_decide),
        tuple(_comparison(row) for row in rows.to_dict("records")),
    )


def _comparison(row: dict[Any, Any]) -> Comparison:
    return Comparison(
        compared=str(row["compared"]),
        estimate=float(row["estimate"]),
        lower=float(row["lower"]),
        upper=float(row["upper"]),
        above=float(row["above"]),
        below=float(row["below"]),
        verdict=Verdict(row["part_verdict"]),
        decisive=bool(row["decisive"]),
    )


def not_computed(scored: Sequence[Scored]) -> list[tuple[str, str, tuple[str, ...]]]:
    """The id, the statement and the sweeps of claims that are not in the table."""
    there = {each.id for each in scored}
    return [(claim.id, claim.statement, claim.experiments) for claim in CLAIMS if claim.id not in there]
