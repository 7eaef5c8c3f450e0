"""Mean ranks of learners over cells, and tiers of learners with undecided differences.

Families are resampled together with runs: a family has other cells than those of the board.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtr, stdtrit

from pomrl.study import Interval, bootstrap_means, percentile
from pomrl_studies.board.cells import Cell
from pomrl_studies.board.losses import CellLosses

ERROR = 0.05
"""The probability of any wrong decision between two shipped learners."""

RESAMPLES = 1000
"""Resamples of runs and families. All cells share those of runs, because a run has related draws at several σ."""

FAMILY_SEED = 1
"""The seed of resampled families, other than that of resampled runs."""

Losses = Mapping[str, Mapping[str, CellLosses]]
"""The losses by learner and cell."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """The ranks of L learners in C cells; index 0 is the estimate, the others are B resamples."""

    names: Sequence[str]
    field: Sequence[str]
    """The learners among which all are ranked."""
    families: Sequence[str]
    """The family of each cell."""
    losses: Float[np.ndarray, "B+1 L C"]
    """The mean loss in each cell; NaN if the learner has no loss in it."""

    @classmethod
    def of_losses(cls, losses: Losses, field: Sequence[str], cells: Sequence[Cell]) -> "Ranks":
        """Rank learners in cells with losses of the field."""
        names, cells = [*losses], [cell for cell in cells if all(cell.name in losses[name] for name in field)]
        means = np.full((RESAMPLES + 1, len(names), len(cells)), np.nan)
        for c, cell in enumerate(cells):
            present = [i for i, name in enumerate(names) if cell.name in losses[name]]
            sample = np.stack([losses[names[i]][cell.name].losses for i in present], axis=1)
            means[0, present, c] = sample.mean(0)
            means[1:, present, c] = bootstrap_means(sample, RESAMPLES)
        return cls(names, field, [cell.family for cell in cells], means)

    @cached_property
    def in_cells(self) -> Float[np.ndarray, "B+1 L C"]:
        """The rank in each cell; of equal learners, each has half of the places."""
        ranks = np.where(np.isnan(self.losses), np.nan, 1.0)
        for i in self._members:
            rival = self.losses[:, [i]]
            ranks += (rival < self.losses) + 0.5 * (rival == self.losses)
        ranks[:, self._members] -= 0.5  # a learner is no rival of its own
        return ranks

    @property
    def _members(self) -> list[int]:
        return [self.names.index(name) for name in self.field]

    def without(self, family: str) -> "Ranks":
        """Leave out a family."""
        kept = np.array([other != family for other in self.families])
        families = [other for other in self.families if other != family]
        return Ranks(self.names, self.field, families, self.losses[..., kept])

    @cached_property
    def mean(self) -> Float[np.ndarray, "B+1 L"]:
        """The mean ranks over cells, with families resampled."""
        names = sorted({*self.families})
        draws = np.random.default_rng(FAMILY_SEED).multinomial(
            len(names), np.full(len(names), 1.0 / len(names)), RESAMPLES
        )
        by_family = np.concatenate([np.ones((1, len(names))), draws])
        weights = by_family[:, None, [names.index(family) for family in self.families]]
        weights = weights * np.isfinite(self.in_cells[:1])
        with np.errstate(invalid="ignore"):  # a learner with few cells may have none in a resample
            return (weights * np.nan_to_num(self.in_cells)).sum(2) / weights.sum(2)

    @property
    def by_rank(self) -> list[str]:
        """The shipped learners, the best first."""
        return sorted(self.field, key=lambda name: self.mean[0, self.names.index(name)])

    def interval(self, name: str) -> Interval:
        """Return the mean rank of a learner with its 95 % interval."""
        estimate, *resampled = self.mean[:, self.names.index(name)]
        values = np.array(resampled)
        return percentile(estimate, values[np.isfinite(values)])

    @cached_property
    def is_significantly_worse(self) -> Bool[np.ndarray, "L L"]:
        """Return whether learner i is significantly worse than j in these families.

        Intervals of all differences hold together: their width is a quantile of the largest studentised difference in
        the field (Romano and Wolf 2005). With few families, resampled deviations are too small, and their tails too
        short: the quantile is that of Student's distribution with the same probability.
        """
        degrees = max(1, len({*self.families}) - 1)
        difference = self.mean[:, :, None] - self.mean[:, None, :]
        deviation = np.nanstd(difference[1:], axis=0) * sqrt((degrees + 1) / degrees)
        pairs = np.ix_(self._members, self._members)
        with np.errstate(invalid="ignore", divide="ignore"):
            studentised = np.abs(difference[1:] - difference[0]) / deviation
        largest = np.nan_to_num(studentised[(slice(None), *pairs)]).max((1, 2))
        return difference[0] > stdtrit(degrees, ndtr(np.quantile(largest, 1.0 - ERROR))) * deviation

    @cached_property
    def is_decidedly_worse(self) -> Bool[np.ndarray, "L L"]:
        """Return whether learner i is significantly worse than j, also without any one family."""
        families = {*self.families} if len({*self.families}) > 1 else ()
        return np.all([ranks.is_significantly_worse for ranks in (self, *map(self.without, families))], axis=0)

    @cached_property
    def tiers(self) -> dict[str, int]:
        """The tier of each learner.

        A tier starts with a learner that is decidedly worse than the first one of the tier before. A learner outside of
        the field is in the tier after those whose first learner is decidedly better.
        """
        first: list[int] = []
        tiers = {}
        for name in self.by_rank:
            index = self.names.index(name)
            if not first or self.is_decidedly_worse[index, first[-1]]:
                first.append(index)
            tiers[name] = len(first)
        for name in [name for name in self.names if name not in tiers]:
            beside = replace(self, field=[*self.field, name]).is_decidedly_worse[self.names.index(name), first]
            tiers[name] = min(len(first), 1 + int(beside.sum()))
        return tiers

    @cached_property
    def decided_by_one_family(self) -> dict[tuple[str, str], list[str]]:
        """The families decisive for a difference inside of a tier, by pair of names.

        A learner is significantly worse than the first of its tier, but not without such a family.
        """
        first = {tier: name for name, tier in reversed([(name, self.tiers[name]) for name in self.by_rank])}
        pairs = [(name, first[self.tiers[name]]) for name in self.by_rank]
        indices = {pair: tuple(map(self.names.index, pair)) for pair in pairs}
        significant = [pair for pair in pairs if self.is_significantly_worse[indices[pair]]]
        families = dict.fromkeys(self.families)
        without = {family: self.without(family).is_significantly_worse for family in families} if significant else {}
        return {pair: [family for family in families if not without[family][indices[pair]]] for pair in significant}
