"""The command `pomrl board`."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd

from pomrl.reports import outputs
from pomrl_studies.board import checks, losses, page, scores
from pomrl_studies.board.cells import Cell, all_cells, board_cells, common_cells
from pomrl_studies.board.learner import Learner, own_learners, shipped_learners
from pomrl_studies.board.scores import Score

CHECKED = ("without_meta", "chains 0.01")
"""The learner and cell recomputed to check the shipped losses."""

TOLERANCE = 1e-4
"""The largest allowed relative difference between losses on two processors."""

LABEL_WIDTH = 25
"""The width of a learner's name, in characters."""


def board(file: Path | None = None, *, output: Path | None = None, workers: int | None = None) -> None:
    """Rank learners on the problems of the board, including yours.

    Args:
        file: A file with your learner: NAME.py with subclasses of ModelEstimator, or NAME.yaml if it needs keys.
        output: The folder of the page and the table (default: outputs/board).
        workers: The number of processes; by default one for each core.

    Raises:
        ValueError: A learner is refused, or recomputed shipped losses differ.
    """
    own = own_learners(file) if file else []
    shipped = losses.read_losses()
    if own:
        if missing := [
            cell for cell in all_cells() if not cell.is_installed and any(each.is_run_in(cell) for each in own)
        ]:
            _say(_missing_line(missing))
            shipped = _without_common(shipped, missing)
        own = [_checked(learner) for learner in own]
        check_shipped(shipped)
    rows = [row for learner in own for row in losses.compute(learner, board_cells(), _say, workers=workers)]
    ranked = scores.score([*shipped_learners().values(), *own], scores.by_learner(shipped), scores.by_learner(rows))
    print(text(ranked))
    for path in write(ranked, output or outputs() / "board"):
        print(path)


def _missing_line(missing: Sequence[Cell]) -> str:
    extras = ",".join(sorted({cell.extra for cell in missing}))
    return (
        f"left out, because packages are not installed: {', '.join(cell.name for cell in missing)}; "
        f"run `pip install 'pomrl[{extras}]'`"
    )


def _without_common(rows: Sequence[losses.CellLosses], missing: Sequence[Cell]) -> list[losses.CellLosses]:
    """Leave out the rows of common cells, because all mean ranks must be over the same cells."""
    names = {cell.name for cell in missing} & {cell.name for cell in common_cells()}
    return [row for row in rows if row.cell not in names]


def _checked(learner: Learner) -> Learner:
    """Check a learner, and make it a limit if it uses the truth."""
    checks.check(learner)
    if not (scores.is_ranked(learner) and checks.uses_truth(learner)):
        return learner
    _say(f"{learner.label}: a limit without a rank, because its estimates depend on `truth`")
    return replace(learner, is_limit=True)


def check_shipped(shipped: Sequence[losses.CellLosses]) -> None:
    """Compute a shipped cell again; ValueError if its losses differ."""
    name, cell = CHECKED
    (stored,) = (row for row in shipped if (row.learner, row.cell) == CHECKED)
    cells = [common for common in common_cells() if common.name == cell]
    (computed,) = losses.compute(shipped_learners()[name], cells, str)
    if not np.allclose(computed.losses, stored.losses, rtol=TOLERANCE, atol=0.0):
        raise ValueError(
            f"{losses.FILE}: the losses of {name} in {cell} differ from the present code; "
            "run `python -m pomrl_studies.board` to compute them again"
        )


def write(ranked: Sequence[Score], folder: Path) -> list[Path]:
    """Write the page and the table of scores; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = all_cells()
    table, html = folder / "board.csv", folder / "index.html"
    frame = pd.DataFrame([scores.flat(score, cells) for score in ranked], columns=scores.columns(cells))
    frame.to_csv(table, index=False, float_format="%.5g", lineterminator="\n")
    html.write_text(page.html(ranked), encoding="utf-8")
    return [html, table]


def text(ranked: Sequence[Score]) -> str:
    """Return the ranking as text of at most 80 columns."""
    head = f"  {'learner':<{LABEL_WIDTH}}{'rank':<19}{'ada-POMRL':<13}{'none':<13}ms"
    second = f"  {'':<{LABEL_WIDTH}}{'':<19}{'better worse':<13}better worse"
    lines = [head, second, *(_line(score) for score in ranked if score.learner.base is None)]
    on_top = [_line_on_top(score) for score in ranked if score.learner.base]
    cells = len(scores.scored_cells(ranked, common_cells()))
    remark = f"rank: among shipped learners; rank, better, worse: in {cells} cells; *: yours"
    return "\n".join([*lines, "", "  with chosen horizons, in % of the same learner at γ_eval", *on_top, "", remark])


def _line(score: Score) -> str:
    rank = score.rank.text(1) if score.rank else "limit"
    return f"{_name(score)}{rank:<19}{_counts(score, 'ada')} {_counts(score, 'none')} {_milliseconds(score)}"


def _line_on_top(score: Score) -> str:
    return f"{_name(score)}{score.mean_percent:<19.0f}{_counts(score, 'ada')} {'':<12} {_milliseconds(score)}"


def _milliseconds(score: Score) -> str:
    return "–" if isnan(score.milliseconds) else f"{score.milliseconds:g}"


def _name(score: Score) -> str:
    label = score.learner.label
    short = label if len(label) < LABEL_WIDTH else f"{label[: LABEL_WIDTH - 2]}…"
    return f"{'*' if score.learner.is_own else ' '} {short:<{LABEL_WIDTH}}"


def _counts(score: Score, other: str) -> str:
    better, worse = (score.count(f"versus_{other}", sign) for sign in (-1, 1))
    return f"{better:>6}{worse:>6}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
