"""Look up scores of the board in documents.

An example is `{board(meta_gradient, worse_than, ada_pomrl)}`.
"""

from functools import cache

from pomrl_studies.board import losses, scores
from pomrl_studies.board.cells import Cell, common_cells
from pomrl_studies.board.learner import shipped_learners
from pomrl_studies.board.scores import Score

SIGNS = {"better_than": -1, "worse_than": 1}
"""The sign of `scores.compare` for each comparison."""


def board(learner: str, what: str, other: str = "", group: str = "families") -> str:
    """Return a number of a shipped learner.

    `rank` is the mean rank, and `loss` the loss in the cell `other`, as in `CellScore.percent`. `better_than` and
    `worse_than` count cells of the group with a significant difference from the learner `other`, as in `13 of 18`.

    Raises:
        LookupError: A learner, cell or group is unknown.
        ValueError: `what` is unknown, or the learner has no rank.
    """
    if what in SIGNS:
        cells = [cell for cell in common_cells() if cell.group == group]
        if not cells:
            raise LookupError(f"unknown group {group!r} of cells")
        count = sum(_compare(learner, other, cell) == SIGNS[what] for cell in cells)
        return f"{count} of {len(cells)}"
    score = _scores()[learner]
    if what == "rank" and score.rank:
        return f"{score.rank.estimate:.1f}"
    if what == "loss":
        return f"{score.cells[other].percent.estimate:.0f} %"
    if what == "rank":
        raise ValueError(
            f"what must not be rank for {learner}, because only learners without is_limit and base have ranks"
        )
    raise ValueError(f"what must be rank, loss, {' or '.join(SIGNS)}, got {what}")


def _compare(learner: str, other: str, cell: Cell) -> int:
    shipped = _shipped()
    return scores.compare(shipped[learner][cell.name].losses, shipped[other][cell.name].losses)


@cache
def _shipped() -> scores.Losses:
    return scores.by_learner(losses.read_losses())


@cache
def _scores() -> dict[str, Score]:
    return {score.learner.name: score for score in scores.score(shipped_learners().values(), _shipped(), {})}
