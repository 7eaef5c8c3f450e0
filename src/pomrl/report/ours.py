"""Claims of ours, read from the claims_ours.csv that `python -m src.claims --ours` writes."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from pomrl.claims.beyond import REPORTED_ONLY
from pomrl.claims.verdict import Verdict
from pomrl.report.judged_claims import JudgedClaim, comparison, read_claims


@dataclass(frozen=True, kw_only=True)
class ClaimOfOurs(JudgedClaim):
    """A claim of ours, or a question of which estimates are reported."""

    question: str
    verdict: Verdict | None
    """The verdict at precision; None where estimates are reported."""


def read(path: Path, remedy: str = "python -m src.claims --ours") -> list[ClaimOfOurs]:
    """Return the claims in a claims_ours.csv; there are none if it is not made.

    Args:
        path: The path of the table.
        remedy: The command that makes it, for the message of the error.

    Raises:
        ReportError: The file is damaged, or another version wrote it.
    """
    return read_claims(path, remedy, ("question", "reason"), _claims)


def _claims(table: pd.DataFrame) -> list[ClaimOfOurs]:
    return [_claim(rows) for _, rows in table.groupby("claim", sort=False)]


def _claim(rows: pd.DataFrame) -> ClaimOfOurs:
    records = rows.to_dict("records")
    first = records[0]
    return ClaimOfOurs(
        **{name: first[name] for name in ("statement", "question", "reason")},
        id=first["claim"],
        verdict=_verdict(first["verdict"]),
        runs=int(first["runs"]),
        comparisons=tuple(comparison(row, _verdict(row["part_verdict"]) or Verdict.UNDECIDED) for row in records),
    )


def _verdict(word: str) -> Verdict | None:
    """Return the verdict of this name; None for that of estimates, which are reported only."""
    return None if word == REPORTED_ONLY else Verdict(word)
