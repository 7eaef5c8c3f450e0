"""Options of one's own in the place of ours: what `src.claims --replace` found, in outputs/extensions/."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import pandas as pd

from pomrl.claims.verdict import Verdict
from pomrl.figures import FIGURES
from pomrl.gains import SHORT
from pomrl.report import scorecard
from pomrl.report.drawn import Drawn
from pomrl.report.errors import ReportError
from pomrl.report.scorecard import Comparison, Scored


@dataclass(frozen=True)
class Gain:
    """How much less is lost than with our option, in one experiment."""

    sweep: str
    settings: str
    result: str
    runs: int
    loss: float
    """With our option."""
    difference: Comparison


@dataclass(frozen=True)
class Extension:
    """An option that stood in for one of ours."""

    name: str
    replaced: str
    gains: list[Gain]
    changed: list[tuple[Scored, Scored]]
    """The claims with another verdict than with our option, each by itself: ours, theirs. (Holm's correction depends on
    how many claims are computed, which may differ.)"""
    figures: list[Drawn]


def read(folder: Path, scored: Sequence[Scored]) -> list[Extension]:
    """All that are in a folder of outputs. ReportError where one is of another version."""
    return [_extension(path.parent, scored) for path in sorted((folder / "extensions").glob("*/gains.csv"))]


def _extension(folder: Path, scored: Sequence[Scored]) -> Extension:
    table = pd.read_csv(folder / "gains.csv", keep_default_na=False)
    try:
        gains = [_gain(row) for row in table.to_dict("records")]
        replaced = str(table["ours"].iloc[0])
    except KeyError as error:
        raise ReportError(f"{folder / 'gains.csv'}: of another version; src.claims --replace renews it") from error
    ours = {each.id: each for each in scored}
    theirs = scorecard.read(folder / "claims.csv")
    changed = [(ours[each.id], each) for each in theirs if each.id in ours and ours[each.id].alone != each.alone]
    drawn = [Drawn(name, folder / "figures") for name in FIGURES]
    return Extension(folder.name, replaced, gains, changed, [figure for figure in drawn if figure.is_drawn])


def _gain(row: dict) -> Gain:
    estimate, lower, upper = (float(row[key]) for key in ("difference", "lower", "upper"))
    beyond = {upper < 0: Verdict.REPRODUCED, lower > 0: Verdict.NOT_REPRODUCED}
    verdict = beyond.get(True, Verdict.INCONCLUSIVE)
    difference = Comparison(row["result"], estimate, lower, upper, -inf, 0.0, verdict, decisive=False)
    return Gain(row["sweep"], row["settings"], SHORT[row["result"]], int(row["runs"]), float(row["loss"]), difference)
