"""The scores of learners: losses in per cent of a reference in pairs of runs, ranks, counts of cells, and profiles.

All numbers of a learner depend on its own losses and on those that are shipped, so that no row moves when a learner is
added. Ranks are among the shipped learners of the first table without limits. Ranks, counts and profiles are over the
cells of families and chains, which everybody can compute.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Float

from pomrl.study import Interval, bootstrap_means, mean, percentile, ratio
from pomrl_studies.board.cells import Cell, common_cells
from pomrl_studies.board.learner import Learner
from pomrl_studies.board.losses import CellLosses

NONE, ADA = "without_meta", "ada_pomrl"
"""The learners that others are compared with."""

ERROR = 0.05
"""The error of intervals; of comparisons, that of all cells together."""

RESAMPLES = 1000
"""Resamples of the runs, of all cells together, because the draws of a run are related at several σ."""

THRESHOLDS = np.linspace(0.0, 200.0, 41)
"""The losses, in per cent of no meta-learning, at which profiles are evaluated."""

Losses = Mapping[str, Mapping[str, CellLosses]]
"""The losses by learner and cell."""


@dataclass(frozen=True)
class CellScore:
    """What a learner loses in a cell, in per cent of its reference."""

    percent: Interval
    versus_ada: int
    """-1: shown to lose less than ada-POMRL, in the second table than its base; 1: more; 0: neither."""
    versus_none: int
    """The same for no meta-learning."""
    gamma: float
    """The discount factor with the smallest loss; NaN where it is chosen."""
    percent_at_gamma: float


@dataclass(frozen=True)
class Score:
    """A row of the board."""

    learner: Learner
    milliseconds: float
    cells: Mapping[str, CellScore]
    rank: Interval | None
    """The mean rank over cells; None for a limit, and in the second table."""
    profile: Float[np.ndarray, "3 thresholds"]
    """The share of runs and cells that lose at most as much as a threshold, with the ends of its interval."""

    @property
    def mean_percent(self) -> float:
        """The mean loss over its cells, in per cent of its reference."""
        return float(np.mean([cell.percent.estimate for cell in self.cells.values()]))

    def count(self, comparison: str, sign: int) -> int:
        """Return in how many common cells a comparison, `versus_ada` or `versus_none`, has this sign."""
        scores = (self.cells[cell.name] for cell in common_cells() if cell.name in self.cells)
        return sum(getattr(score, comparison) == sign for score in scores)


def by_learner(rows: Iterable[CellLosses]) -> Losses:
    """Return losses by learner and cell."""
    losses: dict[str, dict[str, CellLosses]] = {}
    for row in rows:
        losses.setdefault(row.learner, {})[row.cell] = row
    return losses


def score(learners: Iterable[Learner], shipped: Losses, own: Losses) -> list[Score]:
    """Return the scores of learners, those of the first table first, the best first."""
    learners = [*learners]
    field = [each.name for each in learners if is_ranked(each) and not each.is_own]
    scores = [_score(each, (own if each.is_own else shipped)[each.name], shipped, field) for each in learners]
    return sorted(scores, key=lambda each: (each.learner.base is not None, _order(each)))


def is_ranked(learner: Learner) -> bool:
    """Return whether a learner has a rank."""
    return learner.base is None and not learner.is_limit


def _order(of: Score) -> float:
    """Return what rows are sorted by: the mean rank, a limit first; the mean loss in the second table."""
    if of.rank or of.learner.is_limit:
        return of.rank.estimate if of.rank else 0.0
    return of.mean_percent


def _score(learner: Learner, losses: Mapping[str, CellLosses], shipped: Losses, field: Sequence[str]) -> Score:
    cells = [cell for cell in common_cells() if cell.name in losses]
    rank = _mean_rank(losses, [shipped[name] for name in field if name != learner.name or learner.is_own], cells)
    return Score(
        learner,
        next(iter(losses.values())).milliseconds,
        {name: _score_cell(of, shipped, learner) for name, of in losses.items()},
        rank if is_ranked(learner) else None,
        _profile(losses, shipped[NONE], cells),
    )


def _score_cell(of: CellLosses, shipped: Losses, learner: Learner) -> CellScore:
    none, ada = shipped[NONE][of.cell].losses, shipped[learner.base or ADA][of.cell].losses
    reference = ada if learner.base else none
    share = ratio(of.losses, reference)
    ends = (np.nan, np.nan) if learner.name == NONE else share.interval(ERROR)
    lower, upper = (100.0 * (1.0 + end) for end in ends)
    return CellScore(
        Interval(100.0 * (1.0 + share.value), lower, upper),
        compare(of.losses, ada),
        compare(of.losses, none),
        of.gamma,
        100.0 * of.loss_at_gamma / reference.mean(),
    )


def compare(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " n"]) -> int:
    """Return -1 if the mean of a is shown to be below that of b, 1 if above, at the error of all cells together."""
    lower, upper = mean(a - b).interval(ERROR / len(common_cells()))
    return int(lower > 0.0) - int(upper < 0.0)


def _mean_rank(
    losses: Mapping[str, CellLosses], others: Sequence[Mapping[str, CellLosses]], cells: Sequence[Cell]
) -> Interval:
    """Return the mean rank over cells, with the interval of resampled runs; the best of all has rank 1."""
    ranks = []
    for cell in cells:
        sample = np.stack([of[cell.name].losses for of in (losses, *others)], axis=1)
        means = np.concatenate([sample.mean(0, keepdims=True), bootstrap_means(sample, RESAMPLES)])
        own, rest = means[:, :1], means[:, 1:]
        ranks.append(1.0 + (rest < own).sum(1) + 0.5 * (rest == own).sum(1))
    of_all, *resampled = np.mean(ranks, axis=0)
    return percentile(of_all, np.array(resampled))


def _profile(
    losses: Mapping[str, CellLosses], none: Mapping[str, CellLosses], cells: Sequence[Cell]
) -> Float[np.ndarray, "3 thresholds"]:
    """Return the performance profile of Agarwal et al. (2021), with intervals of resampled runs.

    It is the share of all runs whose loss is at most a threshold, averaged over cells.
    """
    shares, resampled = [], []
    for cell in cells:
        percent = 100.0 * losses[cell.name].losses / none[cell.name].losses.mean()
        below = (percent[:, None] <= THRESHOLDS).astype(float)
        shares.append(below.mean(0))
        resampled.append(bootstrap_means(below, RESAMPLES))
    return np.stack([np.mean(shares, 0), *np.quantile(np.mean(resampled, 0), (ERROR / 2, 1.0 - ERROR / 2), axis=0)])


COLUMNS = ("table", "learner", "label", "is_own", "milliseconds", "rank", "rank_lower", "rank_upper", "better_than_ada",
           "worse_than_ada", "better_than_none", "worse_than_none")  # fmt: skip
"""The columns of the table of scores, before those of cells."""


def columns(cells: Sequence[Cell]) -> list[str]:
    """Return the columns of the table of scores, so that they are the same whatever learners it has."""
    of_cell = ("percent", "percent_lower", "percent_upper", "gamma", "at gamma")
    return [*COLUMNS, *(f"{cell.name} {column}" for cell in cells for column in of_cell)]


def flat(of: Score, cells: Sequence[Cell]) -> dict[str, str | int | float]:
    """Return a score as a row of the table that people take away; columns of a cell begin with its name."""
    rank = of.rank or Interval(np.nan, np.nan, np.nan)
    counts = [of.count(f"versus_{other}", sign) for other in ("ada", "none") for sign in (-1, 1)]
    table = "horizons" if of.learner.base else "learners"
    values = [table, of.learner.name, of.learner.label, int(of.learner.is_own), of.milliseconds]
    ends = [rank.estimate, rank.lower, rank.upper]
    of_cells = (_flat_cell(cell.name, of.cells[cell.name]) for cell in cells if cell.name in of.cells)
    return dict(zip(COLUMNS, [*values, *ends, *counts], strict=True)) | dict(chain.from_iterable(of_cells))


def _flat_cell(name: str, of: CellScore) -> list[tuple[str, float]]:
    further = {f"{name} gamma": of.gamma, f"{name} at gamma": of.percent_at_gamma}
    return [*of.percent.columns(f"{name} percent").items(), *further.items()]
