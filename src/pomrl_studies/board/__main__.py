"""Compute the shipped losses.

    python -m pomrl_studies.board [NAME ... | --signatures | --recompute BASE SEED]

With names, only these learners are computed. --signatures renews signatures after an edit without effect on losses.
--recompute computes two random cells of each learner whose losses are not in the table BASE, and compares.
"""

import sys
from pathlib import Path

from pomrl_studies.board import losses, recomputing
from pomrl_studies.board.cells import all_cells
from pomrl_studies.board.learner import shipped_learners


def main(arguments: list[str]) -> None:
    """Carry out a command line."""
    learners, cells = shipped_learners(), all_cells()
    if arguments == ["--signatures"]:
        losses.write_losses(recomputing.with_current_signatures(losses.read_losses(), learners, cells), losses.FILE)
    elif arguments[:1] == ["--recompute"]:
        base, seed = arguments[1:]
        new = recomputing.changed_rows(losses.read_losses(Path(base)), losses.read_losses())
        recomputing.recompute(recomputing.draw_rows(new, int(seed)), learners, print)
    else:
        shipped = [row for row in losses.read_losses() if row.learner not in arguments] if arguments else []
        new = [losses.compute(learners[name], cells, print, workers=1) for name in arguments or learners]
        rows = [*shipped, *(row for rows in new for row in rows)]
        losses.write_losses(sorted(rows, key=lambda row: row.learner), losses.FILE)


if __name__ == "__main__":
    main(sys.argv[1:])
