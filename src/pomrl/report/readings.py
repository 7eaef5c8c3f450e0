"""The matrix of readings: the verdict on each claim under each reading of the paper's text, from readings.csv."""

from dataclasses import dataclass
from pathlib import Path

from pomrl.claims.verdict import Verdict
from pomrl.report import ReportError
from pomrl.report.stored_tables import read_table

COLUMNS = ("claim", "reading", "verdict", "estimate")


@dataclass(frozen=True)
class Matrix:
    """The verdicts on claims under readings, and the estimates of the comparisons that decide them."""

    readings: list[str]
    claims: list[str]
    cells: dict[tuple[str, str], tuple[Verdict, float]]
    """Verdict and estimate by (claim, reading); a claim that is not defined under a reading has no cell there."""

    def count(self, reading: str, verdict: Verdict) -> int:
        """Return the number of claims that have this verdict under a reading."""
        return [cell for (_, of), (cell, _) in self.cells.items() if of == reading].count(verdict)


def read(path: Path) -> Matrix | None:
    """Read the matrix from a readings.csv, with readings and claims in the order of the file.

    Returns:
        The matrix, or None if it is not made.

    Raises:
        ReportError: The file is damaged, lacks a column or has an unknown verdict.
    """
    table = read_table(path, "./reproduce.sh readings")
    if table is None:
        return None
    lacking = [name for name in COLUMNS if name not in table.columns]
    if lacking:
        raise ReportError(f"{path}: it has no column {', '.join(lacking)}; ./reproduce.sh readings renews it")
    try:
        cells = {
            (str(claim), str(reading)): (Verdict(verdict), float(estimate))
            for claim, reading, verdict, estimate in table[list(COLUMNS)].itertuples(index=False)
        }
    except (ValueError, TypeError) as error:
        raise ReportError(f"{path}: {error}; ./reproduce.sh readings renews it") from error
    readings, claims = (table[name].astype(str).unique().tolist() for name in ("reading", "claim"))
    return Matrix(readings, claims, cells)
