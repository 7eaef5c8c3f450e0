"""Claims of ours, read from the claims_ours.csv that `python -m src.claims --ours` writes."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from pomrl.claims.beyond import REPORTED_ONLY
from pomrl.claims.verdict import Verdict
from pomrl.report import ReportError
from pomrl.report.scorecard import Comparison
from pomrl.report.stored_tables import read_table
from pomrl.report.titles import figures_of


@dataclass(frozen=True)
class ClaimOfOurs:
    """A claim of ours with its comparisons, or a question of which estimates are reported."""

    id: str
    statement: str
    question: str
    verdict: Verdict | None
    """The verdict at precision; None where estimates are reported."""
    reason: str
    """Why the claim is undecided; empty if it is not."""
    runs: int
    """The number of runs of the last analysis."""
    comparisons: tuple[Comparison, ...]

    @property
    def decisive(self) -> Comparison:
        """The comparison on which the verdict rests; the first one where there is no verdict."""
        return next(each for each in self.comparisons if each.decisive)

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that show what the claim is about."""
        return figures_of(self.id)


def read(path: Path, remedy: str = "python -m src.claims --ours") -> list[ClaimOfOurs]:
    """Return the claims in a claims_ours.csv; there are none if it is not made.

    Args:
        path: The path of the table.
        remedy: The command that makes it, for the message of the error.

    Raises:
        ReportError: The file is damaged, or another version wrote it.
    """
    table = read_table(path, remedy)
    if table is None:
        return []
    table["reason"] = table["reason"].astype(object).fillna("")
    try:
        return [_claim(rows) for _, rows in table.groupby("claim", sort=False)]
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise ReportError(f"{path}: of another version ({error}); {remedy} renews it") from error


def _claim(rows: pd.DataFrame) -> ClaimOfOurs:
    records = rows.to_dict("records")
    first = records[0]
    numbers = ("estimate", "lower", "upper", "above", "below")
    comparisons = tuple(
        Comparison(
            compared=row["compared"],
            decisive=row["decisive"],
            **{name: float(row[name]) for name in numbers},
            verdict=Verdict.UNDECIDED if row["part_verdict"] == REPORTED_ONLY else Verdict(row["part_verdict"]),
        )
        for row in records
    )
    verdict = None if first["verdict"] == REPORTED_ONLY else Verdict(first["verdict"])
    words = (first["claim"], first["statement"], first["question"])
    return ClaimOfOurs(*words, verdict, first["reason"], int(first["runs"]), comparisons)
