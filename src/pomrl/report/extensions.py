"""The results of options of a user that replaced published ones, from the files in outputs/extensions/."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pomrl.claims.verdict import Verdict
from pomrl.figures import FIGURES
from pomrl.report import ReportError, scorecard
from pomrl.report.figure_files import FigureFiles, refuse_damage
from pomrl.report.judged_claims import Comparison
from pomrl.report.scorecard import ScoredClaim
from pomrl.report.stored_tables import read_table
from pomrl.results.replacement import SHORT


@dataclass(frozen=True)
class Gain:
    """The difference in loss between the user's option and the published one, in one experiment."""

    sweep: str
    settings: str
    result: str
    runs: int
    loss: float
    """The loss with the published option."""
    difference: Comparison
    """The loss with the user's option less that with the published one, in pairs over runs."""


@dataclass(frozen=True)
class Extension:
    """A user's option that replaced a published one in all sweeps."""

    name: str
    replaced: str
    gains: list[Gain]
    changed: list[tuple[ScoredClaim, ScoredClaim]]
    """The claims whose verdict differs between the two options, as pairs (published, user's).

    The verdicts compared are those at the paper's numbers of runs, without Holm's correction, which depends on the
    number of claims that are computed.
    """
    figures: list[FigureFiles]


def read(folder: Path, scored: Sequence[ScoredClaim]) -> list[Extension]:
    """Read all extensions in a folder of outputs; `scored` holds the claims with the published options.

    Raises:
        ReportError: A table or a figure is damaged, or another version wrote it.
    """
    return [_extension(path.parent, scored) for path in sorted((folder / "extensions").glob("*/gains.json"))]


def _extension(folder: Path, scored: Sequence[ScoredClaim]) -> Extension:
    remedy = f"python -m src.claims --replace OURS={folder.name}"
    table = read_table(folder / "gains.csv", remedy, ("settings",))
    try:
        gains = [_gain(row) for row in ([] if table is None else table.to_dict("records"))]
        replaced = "" if table is None else str(table["ours"].iloc[0])
    except (LookupError, ValueError, TypeError) as error:
        raise ReportError(f"{folder / 'gains.csv'}: of another version; {remedy} renews it") from error
    published = {each.id: each for each in scored}
    with_extension = [each for each in scorecard.read(folder / "claims.csv") if each.id in published]
    changed = [(published[each.id], each) for each in with_extension if published[each.id].alone != each.alone]
    figures = [FigureFiles(name, folder / "figures") for name in FIGURES]
    refuse_damage(figures, f" --replace {replaced}={folder.name}")
    return Extension(folder.name, replaced, gains, changed, [figure for figure in figures if figure.is_drawn])


def _gain(row: dict[Any, Any]) -> Gain:
    estimate, lower, upper = (float(row[key]) for key in ("difference", "lower", "upper"))
    if upper < 0:
        verdict = Verdict.REPRODUCED
    elif lower > 0:
        verdict = Verdict.NOT_REPRODUCED
    else:
        verdict = Verdict.UNDECIDED
    difference = Comparison(
        compared=row["result"], estimate=estimate, lower=lower, upper=upper, below=0.0, verdict=verdict
    )
    return Gain(row["sweep"], row["settings"], SHORT[row["result"]], int(row["runs"]), float(row["loss"]), difference)
