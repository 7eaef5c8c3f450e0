"""Compute the shipped losses.

    python -m pomrl_studies.board [NAME ... | --signatures]

With names, only these learners are computed. --signatures renews signatures after an edit without effect on losses.
"""

import sys

from pomrl_studies.board import losses
from pomrl_studies.board.cells import all_cells
from pomrl_studies.board.learner import shipped_learners

if __name__ == "__main__":
    learners, cells, names = shipped_learners(), all_cells(), sys.argv[1:]
    if names == ["--signatures"]:
        losses.write_losses(losses.with_current_signatures(losses.read_losses(), learners, cells), losses.FILE)
    else:
        shipped = [row for row in losses.read_losses() if row.learner not in names] if names else []
        new = [losses.compute(learners[name], cells, print, workers=1) for name in names or learners]
        rows = [*shipped, *(row for rows in new for row in rows)]
        losses.write_losses(sorted(rows, key=lambda row: row.learner), losses.FILE)
