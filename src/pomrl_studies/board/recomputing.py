"""Compute stored losses again, and compare."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pomrl_studies.board.cells import Cell, all_cells
from pomrl_studies.board.learner import Learner, shipped_learners
from pomrl_studies.board.losses import FILE, CellLosses, compute_cell, current_signature

TOLERANCE = 1e-4
"""The largest allowed relative difference between losses on two processors."""

RECOMPUTED = ("garnet 0.15", "chains 0.01")
"""The cells recomputed before signatures are renewed."""

CHECKED = ("without_meta", "chains 0.01")
"""The shipped learner and cell that show the code of a board: recomputed here, and compared with those of others."""


def is_equal(row: CellLosses, other: CellLosses) -> bool:
    """Return whether losses are equal up to `TOLERANCE`."""
    return row.losses.shape == other.losses.shape and np.allclose(row.losses, other.losses, rtol=TOLERANCE, atol=0.0)


def check_shipped(shipped: Sequence[CellLosses]) -> None:
    """Compute the row of `CHECKED` again; ValueError if its losses differ."""
    name, cell = CHECKED
    (stored,) = (row for row in shipped if (row.learner, row.cell) == CHECKED)
    if not is_equal(_compute_again(stored, shipped_learners()), stored):
        raise ValueError(
            f"{FILE}: the losses of {name} in {cell} differ from the present code; "
            "run `python -m pomrl_studies.board` to compute them again"
        )


def with_current_signatures(
    rows: Sequence[CellLosses], learners: Mapping[str, Learner], cells: Sequence[Cell]
) -> list[CellLosses]:
    """Return rows with present signatures.

    Raises:
        ValueError: Losses in a cell of `RECOMPUTED` differ.
    """
    by_name = {cell.name: cell for cell in cells}
    for row in rows:
        if row.cell in RECOMPUTED and not np.array_equal(_compute_again(row, learners).losses, row.losses):
            raise ValueError(
                f"{FILE}: the losses of {row.learner} in {row.cell} differ from the present code; "
                f"run `python -m pomrl_studies.board {row.learner}` to compute them again"
            )
    return [replace(row, signature=current_signature(learners[row.learner], by_name[row.cell])) for row in rows]


def changed_rows(base: Iterable[CellLosses], rows: Iterable[CellLosses]) -> list[CellLosses]:
    """Return the rows whose losses are not in a table."""
    base_losses = {(row.learner, row.cell): row.losses for row in base}
    return [row for row in rows if not np.array_equal(base_losses.get((row.learner, row.cell), ()), row.losses)]


def draw_rows(rows: Sequence[CellLosses], seed: int, cells: int = 2) -> list[CellLosses]:
    """Draw rows of a few cells of each learner; only of installed cells."""
    installed = {cell.name for cell in all_cells() if cell.is_installed}
    rng = np.random.default_rng(seed)
    selected = []
    for name in sorted({row.learner for row in rows}):
        own = sorted((row for row in rows if row.learner == name and row.cell in installed), key=lambda row: row.cell)
        selected += [own[i] for i in rng.permutation(len(own))[:cells]]
    return selected


def recompute(rows: Iterable[CellLosses], learners: Mapping[str, Learner], report: Callable[[str], object]) -> None:
    """Compute rows again; ValueError if losses differ."""
    for row in rows:
        if not is_equal(_compute_again(row, learners), row):
            raise ValueError(f"{FILE}: the losses of {row.learner} in {row.cell} differ from its code's")
        report(f"{row.learner}: {row.cell} is as stored")


def _compute_again(row: CellLosses, learners: Mapping[str, Learner]) -> CellLosses:
    (cell,) = (cell for cell in all_cells() if cell.name == row.cell)
    return compute_cell(learners[row.learner], cell, row.milliseconds, 1)
