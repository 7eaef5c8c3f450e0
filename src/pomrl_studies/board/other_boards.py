"""Check and read the losses of other boards, to join them."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from pomrl_studies.board.cells import Cell, all_cells
from pomrl_studies.board.learner import Learner
from pomrl_studies.board.losses import CellLosses, read_losses
from pomrl_studies.board.recomputing import CHECKED, is_equal


def read_theirs(file: Path, shipped: Sequence[CellLosses], own: Collection[str] = ()) -> list[CellLosses]:
    """Read the rows of others' learners from `losses.csv` of their board; `own` are the names of yours.

    Raises:
        ValueError: The file is missing or damaged, is of other code, or has unknown cells or names of shipped learners.
    """
    if not file.is_file():
        raise ValueError(f"{file}: must be an existing file, such as outputs/board/losses.csv of another computer")
    ours = {(row.learner, row.cell): row for row in shipped}
    names, cells = {row.learner for row in shipped}, {cell.name: cell for cell in all_cells()}
    rows = read_losses(file)
    _check_code(file, rows, ours[CHECKED])
    for row in rows:
        _check_row(file, row, cells)
        if row.learner in names:
            _check_shipped(file, row, ours)
    theirs = [row for row in rows if row.learner not in names]
    if doubled := {row.learner for row in theirs} & {*own}:
        raise ValueError(f"{file}: a learner of yours is also named {min(doubled)}; rename yours")
    if doubled := [key for key, count in Counter((row.learner, row.cell) for row in theirs).items() if count > 1]:
        raise ValueError(f"{file}: a learner and cell must stand once, got {' in '.join(doubled[0])} twice")
    if not theirs:
        raise ValueError(f"{file}: must have rows of a learner that is not shipped, got none")
    return theirs


def learners_of(rows: Iterable[CellLosses], file: Path) -> list[Learner]:
    """Return the learners of rows, marked as the user's."""
    authors = {row.learner: row.author for row in rows}
    return [
        Learner(name, name, file, {}, about=f"by {author}" if author else "", is_own=True)
        for name, author in authors.items()
    ]


def _check_code(file: Path, rows: Sequence[CellLosses], checked: CellLosses) -> None:
    theirs = [row for row in rows if (row.learner, row.cell) == CHECKED]
    if not theirs:
        raise ValueError(f"{file}: must have the row of {' in '.join(CHECKED)}, which `pomrl board mine.py` writes")
    if theirs[0].signature != checked.signature:
        raise ValueError(
            f"{file}: must be computed by the present code, with the signature {checked.signature} of "
            f"{' in '.join(CHECKED)}, got {theirs[0].signature}"
        )


def _check_row(file: Path, row: CellLosses, cells: Mapping[str, Cell]) -> None:
    if row.cell not in cells:
        raise ValueError(f"{file}: {row.learner}: unknown cell {row.cell!r} of the board")
    if len(row.losses) != cells[row.cell].runs or not np.isfinite(row.losses).all():
        raise ValueError(
            f"{file}: {row.learner}: {row.cell} must have {cells[row.cell].runs} finite losses, got {len(row.losses)}"
        )


def _check_shipped(file: Path, row: CellLosses, ours: Mapping[tuple[str, str], CellLosses]) -> None:
    shipped = ours.get((row.learner, row.cell))
    if shipped is None or not is_equal(row, shipped):
        raise ValueError(
            f"{file}: {row.learner} in {row.cell} must have the shipped losses; rename a learner of your own"
        )
