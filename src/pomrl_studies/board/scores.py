"""Score learners: losses in per cent, ranks, tiers, counts and profiles.

A user's learner changes no other row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from jaxtyping import Float

from pomrl.study import Interval, ScalarEstimate, bootstrap_means, mean_difference, ratio
from pomrl_studies.board.cells import Cell, common_cells
from pomrl_studies.board.learner import Learner
from pomrl_studies.board.losses import CellLosses
from pomrl_studies.board.ranks import ERROR, RESAMPLES, Losses, Ranks

NONE, ADA = "without_meta", "ada_pomrl"
"""The reference learners."""

THRESHOLDS = np.linspace(0.0, 200.0, 41)
"""The losses of profiles, in per cent of no meta-learning."""


@dataclass(frozen=True)
class CellScore:
    """The loss of a learner in a cell, in per cent."""

    share: ScalarEstimate
    """The mean loss as a share of that of no meta-learning, less 1; in the second table, of the base."""
    versus_ada: int
    """Comparison with ada-POMRL, in the second table with the base: -1 significantly smaller, 1 larger, 0 neither."""
    versus_none: int
    """The same comparison with no meta-learning."""
    gamma: float
    """The discount factor with the smallest loss; NaN if it is chosen in each task."""
    percent_at_gamma: float
    """The mean loss at this discount factor, in per cent of the same reference."""

    @property
    def mean_percent(self) -> float:
        """The mean loss in per cent of the reference."""
        return 100.0 * (1.0 + self.share.value)

    @cached_property
    def percent(self) -> Interval:
        """The same with its interval."""
        ends = (np.nan, np.nan) if self.share.is_constant else self.share.interval(ERROR)
        return Interval(self.mean_percent, *(100.0 * (1.0 + end) for end in ends))


@dataclass(frozen=True)
class Score:
    """A row of the board."""

    learner: Learner
    milliseconds: float
    cells: Mapping[str, CellScore]
    rank: Interval | None
    """The mean rank over cells; None for a limit, and in the second table."""
    tier: int | None
    """The tier (`Ranks.tiers`); None without a rank."""
    losses: Mapping[str, CellLosses]
    """The losses by cell."""

    @property
    def mean_percent(self) -> float:
        """The mean loss over common cells."""
        return float(np.mean([percent for percent, _ in self._percents()]))

    @property
    def worst(self) -> tuple[float, str]:
        """The largest loss in a common cell, and the cell."""
        return max(self._percents())

    def _percents(self) -> list[tuple[float, str]]:
        names = (cell.name for cell in common_cells() if cell.name in self.cells)
        return [(self.cells[name].mean_percent, name) for name in names]

    def count(self, comparison: str, sign: int) -> int:
        """Count the common cells with this sign of `versus_ada` or `versus_none`."""
        scores = (self.cells[cell.name] for cell in common_cells() if cell.name in self.cells)
        return sum(getattr(score, comparison) == sign for score in scores)


def by_learner(rows: Iterable[CellLosses]) -> Losses:
    """Group losses by learner and cell."""
    losses: dict[str, dict[str, CellLosses]] = {}
    for row in rows:
        losses.setdefault(row.learner, {})[row.cell] = row
    return losses


def score(learners: Iterable[Learner], shipped: Losses, own: Losses) -> list[Score]:
    """Return the scores of learners by table, the best first."""
    learners = [*learners]
    losses = {learner.name: (own if learner.is_own else shipped)[learner.name] for learner in learners}
    ranks = rank(learners, shipped, own, common_cells())
    scores = [_score(learner, losses[learner.name], shipped, ranks) for learner in learners]
    return sorted(scores, key=lambda score: (score.learner.base is not None, _sort_key(score)))


def rank(learners: Iterable[Learner], shipped: Losses, own: Losses, cells: Sequence[Cell]) -> Ranks:
    """Rank the learners that have a rank, in given cells."""
    ranked = [learner for learner in learners if is_ranked(learner)]
    losses = {learner.name: (own if learner.is_own else shipped)[learner.name] for learner in ranked}
    return Ranks.of_losses(losses, [learner.name for learner in ranked if not learner.is_own], cells)


def scored_cells(scores: Sequence[Score], cells: Sequence[Cell]) -> list[Cell]:
    """Select the cells with a loss of any learner."""
    return [cell for cell in cells if any(cell.name in score.cells for score in scores)]


def is_ranked(learner: Learner) -> bool:
    """Return whether a learner has a rank."""
    return learner.base is None and not learner.is_limit


def _sort_key(row: Score) -> float:
    if row.rank or row.learner.is_limit:
        return row.rank.estimate if row.rank else 0.0
    return row.mean_percent


def _score(learner: Learner, losses: Mapping[str, CellLosses], shipped: Losses, ranks: Ranks) -> Score:
    return Score(
        learner,
        next(iter(losses.values())).milliseconds,
        {name: _score_cell(row, shipped, learner) for name, row in losses.items()},
        ranks.interval(learner.name) if is_ranked(learner) else None,
        ranks.tiers[learner.name] if is_ranked(learner) else None,
        losses,
    )


def _score_cell(row: CellLosses, shipped: Losses, learner: Learner) -> CellScore:
    none, ada = shipped[NONE][row.cell].losses, shipped[learner.base or ADA][row.cell].losses
    reference = ada if learner.base else none
    return CellScore(
        ratio(row.losses, reference),
        compare(row.losses, ada),
        compare(row.losses, none),
        row.gamma,
        100.0 * row.loss_at_gamma / reference.mean(),
    )


def compare(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " n"]) -> int:
    """Compare means: -1 if a is significantly smaller, 1 if larger, else 0."""
    not_larger, not_smaller = mean_difference(a, b).p_values(0.0)
    smallest = ERROR / len(common_cells()) / 2
    return int(not_larger < smallest) - int(not_smaller < smallest)


def profiles(losses: Losses, none: Mapping[str, CellLosses]) -> dict[str, Float[np.ndarray, "3 thresholds"]]:
    """Return the performance profiles of Agarwal et al. (2021), with the ends of their intervals.

    A profile is the share of runs that lose at most each of `THRESHOLDS`.
    """
    shares: dict[str, list[Float[np.ndarray, "B+1 thresholds"]]] = {name: [] for name in losses}
    for cell in common_cells():
        names = [name for name in losses if cell.name in losses[name]]
        if not names:
            continue
        runs = np.stack([losses[name][cell.name].losses for name in names], axis=1)
        below = (100.0 * runs[..., None] / none[cell.name].losses.mean() <= THRESHOLDS).astype(float)
        resampled = np.concatenate([below.mean(0, keepdims=True), bootstrap_means(below, RESAMPLES)])
        for name, share in zip(names, np.moveaxis(resampled, 1, 0), strict=True):
            shares[name].append(share)
    means = {name: np.mean(cells, axis=0) for name, cells in shares.items()}
    ends = (ERROR / 2, 1.0 - ERROR / 2)
    return {name: np.stack([mean[0], *np.quantile(mean[1:], ends, axis=0)]) for name, mean in means.items()}


COLUMNS = ("table", "learner", "label", "is_own", "milliseconds", "tier", "rank", "rank_lower", "rank_upper",
           "mean_percent", "worst_percent", "worst_cell", "better_than_ada",
           "worse_than_ada", "better_than_none", "worse_than_none")  # fmt: skip
"""The columns of scores before the columns of cells."""


def columns(cells: Sequence[Cell]) -> list[str]:
    """Return the columns of the score table."""
    names = ("percent", "percent_lower", "percent_upper", "gamma", "at gamma")
    return [*COLUMNS, *(f"{cell.name} {name}" for cell in cells for name in names)]


def flat(score: Score, cells: Sequence[Cell]) -> dict[str, str | int | float]:
    """Return a score as a row of the score table."""
    rank = score.rank or Interval(np.nan, np.nan, np.nan)
    counts = [score.count(f"versus_{reference}", sign) for reference in ("ada", "none") for sign in (-1, 1)]
    table = "horizons" if score.learner.base else "learners"
    values = [table, score.learner.name, score.learner.label, int(score.learner.is_own), score.milliseconds]
    ends = [score.tier or np.nan, rank.estimate, rank.lower, rank.upper, score.mean_percent, *score.worst]
    cell_values = (_flat_cell(cell.name, score.cells[cell.name]) for cell in cells if cell.name in score.cells)
    return dict(zip(COLUMNS, [*values, *ends, *counts], strict=True)) | dict(chain.from_iterable(cell_values))


def _flat_cell(name: str, score: CellScore) -> list[tuple[str, float]]:
    best = {f"{name} gamma": score.gamma, f"{name} at gamma": score.percent_at_gamma}
    return [*score.percent.columns(f"{name} percent").items(), *best.items()]
