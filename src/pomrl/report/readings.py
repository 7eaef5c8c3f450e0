"""The matrix of readings: the verdict on each claim under each way to read the paper, from readings.csv."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from pomrl.claims.verdict import Verdict
from pomrl.report.errors import ReportError

COLUMNS = ("claim", "reading", "verdict", "estimate")


@dataclass(frozen=True)
class Matrix:
    """The verdicts, with the estimates that decide them."""

    readings: list[str]
    claims: list[str]
    cells: dict[tuple[str, str], tuple[Verdict, float]]
    """By claim and reading; where a claim has no meaning under a reading there is none."""

    def count(self, reading: str, verdict: Verdict) -> int:
        """How many claims have this verdict under a reading."""
        return Counter(found for (_, of), (found, _) in self.cells.items() if of == reading)[verdict]


def read(path: Path) -> Matrix | None:
    """The matrix in a readings.csv, in its order; None where it does not exist. ReportError where it is no matrix."""
    if not path.exists():
        return None
    table = pd.read_csv(path)
    lacking = [name for name in COLUMNS if name not in table.columns]
    if lacking:
        raise ReportError(f"{path}: it has no column {', '.join(lacking)}; ./reproduce.sh readings renews it")
    try:
        cells = {
            (str(claim), str(reading)): (Verdict(verdict), float(estimate))
            for claim, reading, verdict, estimate in table[list(COLUMNS)].itertuples(index=False)
        }
    except ValueError as error:
        raise ReportError(f"{path}: {error}; ./reproduce.sh readings renews it") from error
    return Matrix(_distinct(table["reading"]), _distinct(table["claim"]), cells)


def _distinct(column: "pd.Series[str]") -> list[str]:
    return [str(value) for value in column.unique()]
