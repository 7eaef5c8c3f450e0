"""Score learners: losses in per cent, ranks, counts and profiles.

A user's learner changes no other row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Float

from pomrl.study import Interval, bootstrap_means, mean_difference, percentile, ratio
from pomrl_studies.board.cells import Cell, common_cells
from pomrl_studies.board.learner import Learner
from pomrl_studies.board.losses import CellLosses

NONE, ADA = "without_meta", "ada_pomrl"
"""The reference learners."""

ERROR = 0.05
"""The error rate of an interval, and of the comparisons in all cells together."""

RESAMPLES = 1000
"""Resamples of runs, shared by all cells, because a run has related draws at several σ."""

THRESHOLDS = np.linspace(0.0, 200.0, 41)
"""The losses of profiles, in per cent of no meta-learning."""

Losses = Mapping[str, Mapping[str, CellLosses]]
"""The losses by learner and cell."""


@dataclass(frozen=True)
class CellScore:
    """The loss of a learner in a cell, in per cent."""

    percent: Interval
    """The mean loss, in per cent of no meta-learning; in the second table, of the base."""
    versus_ada: int
    """Comparison with ada-POMRL, in the second table with the base: -1 significantly smaller, 1 larger, 0 neither."""
    versus_none: int
    """The same comparison with no meta-learning."""
    gamma: float
    """The discount factor with the smallest loss; NaN if it is chosen in each task."""
    percent_at_gamma: float
    """The mean loss at this discount factor, in per cent of the same reference."""


@dataclass(frozen=True)
class Score:
    """A row of the board."""

    learner: Learner
    milliseconds: float
    cells: Mapping[str, CellScore]
    rank: Interval | None
    """The mean rank over cells; None for a limit, and in the second table."""
    profile: Float[np.ndarray, "3 thresholds"]
    """The share of runs that lose at most a threshold, and the ends of its interval."""

    @property
    def mean_percent(self) -> float:
        return float(np.mean([cell.percent.estimate for cell in self.cells.values()]))

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
    field = [learner.name for learner in learners if is_ranked(learner) and not learner.is_own]
    tables = ((learner, own if learner.is_own else shipped) for learner in learners)
    scores = [_score(learner, losses[learner.name], shipped, field) for learner, losses in tables]
    return sorted(scores, key=lambda score: (score.learner.base is not None, _sort_key(score)))


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


def _score(learner: Learner, losses: Mapping[str, CellLosses], shipped: Losses, field: Sequence[str]) -> Score:
    cells = [cell for cell in common_cells() if cell.name in losses]
    rank = _mean_rank(losses, [shipped[name] for name in field if name != learner.name or learner.is_own], cells)
    return Score(
        learner,
        next(iter(losses.values())).milliseconds,
        {name: _score_cell(row, shipped, learner) for name, row in losses.items()},
        rank if is_ranked(learner) else None,
        _profile(losses, shipped[NONE], cells),
    )


def _score_cell(row: CellLosses, shipped: Losses, learner: Learner) -> CellScore:
    none, ada = shipped[NONE][row.cell].losses, shipped[learner.base or ADA][row.cell].losses
    reference = ada if learner.base else none
    share = ratio(row.losses, reference)
    ends = (np.nan, np.nan) if learner.name == NONE else share.interval(ERROR)
    lower, upper = (100.0 * (1.0 + end) for end in ends)
    return CellScore(
        Interval(100.0 * (1.0 + share.value), lower, upper),
        compare(row.losses, ada),
        compare(row.losses, none),
        row.gamma,
        100.0 * row.loss_at_gamma / reference.mean(),
    )


def compare(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " n"]) -> int:
    """Compare means: -1 if a is significantly smaller, 1 if larger, else 0."""
    lower, upper = mean_difference(a, b).interval(ERROR / len(common_cells()))
    return int(lower > 0.0) - int(upper < 0.0)


def _mean_rank(
    losses: Mapping[str, CellLosses], rivals: Sequence[Mapping[str, CellLosses]], cells: Sequence[Cell]
) -> Interval:
    ranks = []
    for cell in cells:
        sample = np.stack([learner[cell.name].losses for learner in (losses, *rivals)], axis=1)
        means = np.concatenate([sample.mean(0, keepdims=True), bootstrap_means(sample, RESAMPLES)])
        own, rival = means[:, :1], means[:, 1:]
        ranks.append(1.0 + (rival < own).sum(1) + 0.5 * (rival == own).sum(1))
    estimate, *resampled = np.mean(ranks, axis=0)
    return percentile(estimate, np.array(resampled))


def _profile(
    losses: Mapping[str, CellLosses], none: Mapping[str, CellLosses], cells: Sequence[Cell]
) -> Float[np.ndarray, "3 thresholds"]:
    """Return the performance profile of Agarwal et al. (2021)."""
    shares, resampled = [], []
    for cell in cells:
        percent = 100.0 * losses[cell.name].losses / none[cell.name].losses.mean()
        below = (percent[:, None] <= THRESHOLDS).astype(float)
        shares.append(below.mean(0))
        resampled.append(bootstrap_means(below, RESAMPLES))
    return np.stack([np.mean(shares, 0), *np.quantile(np.mean(resampled, 0), (ERROR / 2, 1.0 - ERROR / 2), axis=0)])


COLUMNS = ("table", "learner", "label", "is_own", "milliseconds", "rank", "rank_lower", "rank_upper", "better_than_ada",
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
    ends = [rank.estimate, rank.lower, rank.upper]
    cell_values = (_flat_cell(cell.name, score.cells[cell.name]) for cell in cells if cell.name in score.cells)
    return dict(zip(COLUMNS, [*values, *ends, *counts], strict=True)) | dict(chain.from_iterable(cell_values))


def _flat_cell(name: str, score: CellScore) -> list[tuple[str, float]]:
    best = {f"{name} gamma": score.gamma, f"{name} at gamma": score.percent_at_gamma}
    return [*score.percent.columns(f"{name} percent").items(), *best.items()]
