"""The command `pomrl board`."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from math import isnan
from pathlib import Path

from pomrl.reports import outputs
from pomrl_studies.board import checks, losses, other_boards, scores
from pomrl_studies.board.cells import VERSION, Cell, all_cells, board_cells, common_cells
from pomrl_studies.board.learner import Learner, own_learners, shipped_learners
from pomrl_studies.board.recomputing import CHECKED, check_shipped
from pomrl_studies.board.scores import Score

LABEL_WIDTH = 25
"""The width of a learner's name, in characters."""


def board(
    file: Path | None = None,
    *,
    merge: Path | None = None,
    version: int = VERSION,
    output: Path | None = None,
    workers: int | None = None,
) -> None:
    """Rank learners on the problems of the board, including yours.

    Args:
        file: A file with your learner: NAME.py with subclasses of ModelEstimator, or NAME.yaml if it needs keys.
        merge: A table losses.csv of others, whose learners are ranked, too.
        version: The version of the board, 1 or 2; version 1 has fewer cells.
        output: The folder of the page and the tables (default: outputs/board, only with learners to add).
        workers: The number of processes; by default one for each core.

    Raises:
        ValueError: A learner or a table is refused, or recomputed shipped losses differ.
    """
    if file or merge or output:
        import_module("pomrl_studies.board.page")  # says what is missing before anything is computed
    shipped = [row for row in losses.read_losses() if row.cell in {cell.name for cell in all_cells(version)}]
    own = own_learners(file) if file else []
    theirs = other_boards.read_theirs(merge, shipped, {learner.name for learner in own}) if merge else []
    if own:
        own, shipped = _checked_learners(own, shipped)
    rows = [row for learner in own for row in losses.compute(learner, board_cells(version), _say, workers=workers)]
    cells = {row.cell for row in shipped}
    theirs = [row for row in theirs if row.cell in cells]  # others may have packages that are missing here
    merged_learners = other_boards.learners_of(theirs, merge) if merge else []
    added = scores.by_learner([*rows, *theirs])
    ranked = scores.score([*shipped_learners().values(), *own, *merged_learners], scores.by_learner(shipped), added)
    print(text(ranked))
    if added or output:
        in_ranking = {learner.name for learner in own if scores.is_ranked(learner)}
        sent = [*(row for row in rows if row.learner in in_ranking), *theirs]
        for path in write(ranked, [*_checked_row(shipped), *sent], output or outputs() / "board"):
            print(path)


def _checked_learners(
    own: Sequence[Learner], shipped: Sequence[losses.CellLosses]
) -> tuple[list[Learner], list[losses.CellLosses]]:
    """Check learners and the code; leave out cells without packages."""
    shipped = [*shipped]
    if missing := [
        cell for cell in all_cells() if not cell.is_installed and any(candidate.is_run_in(cell) for candidate in own)
    ]:
        _say(_missing_line(missing))
        shipped = _without_common(shipped, missing)
    checked = [_checked(learner) for learner in own]
    check_shipped(shipped)
    return checked, shipped


def _checked_row(shipped: Sequence[losses.CellLosses]) -> list[losses.CellLosses]:
    return [row for row in shipped if (row.learner, row.cell) == CHECKED]


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


def write(ranked: Sequence[Score], rows: Sequence[losses.CellLosses], folder: Path) -> list[Path]:
    """Write the page, the table of scores and the losses of added learners; return their paths."""
    import pandas as pd  # slow to import

    from pomrl_studies.board import page

    folder.mkdir(parents=True, exist_ok=True)
    cells = all_cells()
    html, table, own = (folder / name for name in ("index.html", "board.csv", "losses.csv"))
    frame = pd.DataFrame([scores.flat(score, cells) for score in ranked], columns=scores.columns(cells))
    frame.to_csv(table, index=False, float_format="%.5g", lineterminator="\n")
    html.write_text(page.html(ranked), encoding="utf-8")
    losses.write_losses(rows, own)
    return [html, table, own]


def text(ranked: Sequence[Score]) -> str:
    """Return the ranking as text of at most 80 columns."""
    head = f"  {'learner':<{LABEL_WIDTH}}{'tier rank':<22}{'loss in %':<12}{'ada-POMRL':<12}ms"
    second = f"  {'':<{LABEL_WIDTH}}{'':<22}{'mean worst':<12}{'less more':<12}"
    lines = [head, second.rstrip(), *(_line(score) for score in ranked if score.learner.base is None)]
    on_top = [_line_on_top(score) for score in ranked if score.learner.base]
    cells = len(scores.scored_cells(ranked, common_cells()))
    remarks = [
        "tier: differences of ranks within a tier are not decided (docs/board.md)",
        "rank: among shipped learners; its interval resamples families and runs",
        f"%: of no meta-learning, in {cells} cells; less, more: cells with a significant",
        "difference; *: yours",
    ]
    return "\n".join([*lines, "", "  with chosen horizons, in % of the same learner at γ_eval", *on_top, "", *remarks])


def _line(score: Score) -> str:
    rank = f"{score.tier or '':<5}{score.rank.text(1)}" if score.rank else f"{'':<5}limit"
    return f"{_name(score)}{rank:<22}{_percents(score)} {_counts(score)}  {_milliseconds(score)}"


def _line_on_top(score: Score) -> str:
    return f"{_name(score)}{'':<22}{_percents(score)} {_counts(score)}  {_milliseconds(score)}"


def _percents(score: Score) -> str:
    return f"{score.mean_percent:>4.0f}{score.worst[0]:>6.0f} "


def _milliseconds(score: Score) -> str:
    return "–" if isnan(score.milliseconds) else f"{score.milliseconds:g}"


def _name(score: Score) -> str:
    label = score.learner.label
    short = label if len(label) < LABEL_WIDTH else f"{label[: LABEL_WIDTH - 2]}…"
    return f"{'*' if score.learner.is_own else ' '} {short:<{LABEL_WIDTH}}"


def _counts(score: Score) -> str:
    less, worse = (score.count("versus_ada", sign) for sign in (-1, 1))
    return f"{less:>4}{worse:>5} "


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
