"""Synthetic losses, and files with user-defined learners, for tests of the board."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pomrl_studies.board import losses, recomputing
from pomrl_studies.board.cells import common_cells
from pomrl_studies.board.learner import Learner
from pomrl_studies.board.losses import CellLosses

RUNS = 30
"""The runs of a cell in synthetic tables."""

NAMES = ("without_meta", "ada_pomrl", "aggregating", "tied_rows", "oracle", "dong")
"""The learners in these tables, with a limit and a row of the second table."""

MINE = """
import numpy as np
from pomrl.components import Batch, Memory, ModelEstimator, Models, Truth

class Mine(ModelEstimator):
    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        return {estimate}
"""


def made_up(names: Sequence[str]) -> list[CellLosses]:
    """Return paired losses of learners.

    Runs share a factor in each cell. Each learner has its own mean and noise.
    """
    rows = []
    for index, cell in enumerate(common_cells()):
        common = np.random.default_rng(index).gamma(4.0, size=RUNS)
        for i, name in enumerate(names):
            rng = np.random.default_rng((index, i))
            loss = losses.rounded(common * rng.uniform(0.2, 1.5) + rng.uniform(size=RUNS))
            rows.append(CellLosses(name, cell.name, f"{index:06d}{i:06d}", 0.1, 0.9, losses.rounded(loss.mean()), loss))
    return rows


def mine(path: Path) -> Learner:
    return Learner("Mine", "Mine", path, {"estimator": "ada_pomrl"}, is_own=True)


def theirs(path: Path, **change: object) -> Path:
    """The file of somebody whose learner has the losses of James-Stein, with a change in each of its rows."""
    shipped = losses.read_losses()
    rows = [
        replace(row, learner="Theirs") for row in shipped if row.learner == "james_stein" and row.cell != "icu_sepsis"
    ]
    checked = [row for row in shipped if (row.learner, row.cell) == recomputing.CHECKED]
    losses.write_losses([*checked, *(replace(row, **change) for row in rows)], path)  # pyright: ignore[reportArgumentType]
    return path


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("mine", "mine_keys"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path
