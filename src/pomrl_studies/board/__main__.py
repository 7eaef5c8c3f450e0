"""Compute the losses that are shipped: python -m pomrl_studies.board [NAME ...]; names are learners to add alone."""

import sys

from pomrl_studies.board import losses
from pomrl_studies.board.cells import board_cells
from pomrl_studies.board.learners import shipped_learners

if __name__ == "__main__":
    learners, names = shipped_learners(), sys.argv[1:]
    kept = [row for row in losses.read() if row.learner not in names] if names else []
    cells = board_cells()
    new = [losses.compute(learners[name], cells, print, workers=1) for name in names or learners]
    losses.write(sorted([*kept, *(row for rows in new for row in rows)], key=lambda row: row.learner), losses.FILE)
