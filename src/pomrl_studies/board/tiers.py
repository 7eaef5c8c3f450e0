"""Look up scores and tiers of the board in documents.

Examples are `{board(meta_gradient, worse_than, ada_pomrl)}` and `{board_text(tiers)}`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from pomrl_studies.board import losses, scores
from pomrl_studies.board.cells import Cell, common_cells
from pomrl_studies.board.learner import Learner, shipped_learners
from pomrl_studies.board.ranks import Ranks
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


def board_text(what: str) -> str:
    """Return sentences on the shipped learners.

    `tiers` lists the learners by tier, and `fresh` those of the first tier in version 2's families alone. `one_family`
    names the differences that one family decides, `developed` the problems on which learners were developed.

    Raises:
        LookupError: `what` is unknown.
    """
    texts = {"tiers": _tiers, "fresh": _fresh, "one_family": _one_family, "developed": _developed}
    if what not in texts:
        raise LookupError(f"what must be {', '.join(texts)}, got {what}")
    return texts[what]()


def _tiers() -> str:
    return "\n".join(f"{tier}. {'; '.join(labels)}" for tier, labels in _labels_by_tier(common_cells()).items())


def _fresh() -> str:
    fresh = _labels_by_tier([cell for cell in common_cells() if cell.since == 2])
    return f"In the families of version 2 alone, the first tier is: {'; '.join(fresh[1])}."


def _labels_by_tier(cells: Sequence[Cell]) -> dict[int, list[str]]:
    learners = shipped_learners()
    ranks = scores.rank(learners.values(), _shipped(), {}, cells)
    by_tier: dict[int, list[str]] = {}
    for name in ranks.by_rank:
        by_tier.setdefault(ranks.tiers[name], []).append(learners[name].label)
    return by_tier


def _one_family() -> str:
    learners = shipped_learners()
    return describe_one_family(scores.rank(learners.values(), _shipped(), {}, common_cells()), learners)


def describe_one_family(ranks: Ranks, learners: Mapping[str, Learner]) -> str:
    """Name the differences decided by one family inside of tiers."""
    differences = []
    for (worse, better), families in ranks.decided_by_one_family.items():
        without = " or ".join(f"`{family}`" for family in families)
        differences.append(f"{learners[worse].label}, from {learners[better].label} (not without {without})")
    if not differences:
        return "No difference inside of a tier is significant."
    return f"Inside of a tier, one family decides these differences: {'; '.join(differences)}."


def _developed() -> str:
    return describe_developed(shipped_learners().values())


def describe_developed(learners: Iterable[Learner]) -> str:
    """Name the problems of the development of learners."""
    by_problems: dict[str, list[str]] = {}
    for learner in learners:
        if learner.developed_on:
            by_problems.setdefault(learner.developed_on, []).append(learner.label)
    return " ".join(
        f"{' and '.join(labels).capitalize()} were developed on {problems}." for problems, labels in by_problems.items()
    )


def _compare(learner: str, other: str, cell: Cell) -> int:
    shipped = _shipped()
    return scores.compare(shipped[learner][cell.name].losses, shipped[other][cell.name].losses)


@cache
def _shipped() -> scores.Losses:
    return scores.by_learner(losses.read_losses())


@cache
def _scores() -> dict[str, Score]:
    return {score.learner.name: score for score in scores.score(shipped_learners().values(), _shipped(), {})}
