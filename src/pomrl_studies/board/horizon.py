"""What the best fixed gamma saves, by learner and family.

All shares are of the loss of no meta-learning at gamma_eval, so that families count alike.
"""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from jaxtyping import Float

from pomrl.study import Result, ScalarEstimate, SweepResults, correlation, smooth

FAMILIES = (
    "river_swim", "inventory", "queue", "machine_replacement", "forest", "garnet", "frozen_lake", "frozen_lake_8x8",
    "cliff_walking", "maintenance", "promotions", "triage", "workshop", "fishery", "garnet_rows", "icy_grid",
)  # fmt: skip
"""The families with a spread."""

SPREADS = (0.05, 0.15)
"""The spreads of each family."""

NONE = "without_meta"
"""The learner without a prior."""

TIE = 1e-9
"""The largest difference of tied losses; losses of equal plans differ by rounding."""

Numbers = Float[np.ndarray, "n cells"]
"""Losses averaged over tasks, by run and cell; cells are families and spreads."""


def cells(sweep: SweepResults, **method: object) -> list[Result]:
    """Return the results of a method by cell."""
    pairs = product(FAMILIES, SPREADS)
    return [sweep.at(task_distribution=family, spread=spread, **method) for family, spread in pairs]


def at_eval(results: Sequence[Result]) -> Numbers:
    """Return the losses at gamma_eval by cell."""
    return np.stack([cell.regret for cell in results], axis=1)


def at_gamma(results: Sequence[Result], gamma: float) -> Numbers:
    """Return the losses at a gamma of the grid by cell."""
    return np.stack([cell.average_curve[:, abs(cell.gammas - gamma).argmin()] for cell in results], axis=1)


def saved(results: Sequence[Result]) -> Numbers:
    """Return the losses at gamma_eval less those at the best fixed gamma, by cell.

    The mean of one half of the runs selects this gamma for the other half.
    """
    return np.stack([cell.regret - cell.at_best_fixed() for cell in results], axis=1)


def mean_share(numbers: Numbers, whole: Numbers) -> ScalarEstimate:
    """Estimate the mean over cells of mean(numbers) / mean(whole)."""
    return smooth(lambda means: (means[:, 0] / means[:, 1]).mean(-1), np.stack([numbers, whole], axis=1))


def concordance(losses: Sequence[Numbers], savings: Sequence[Numbers]) -> ScalarEstimate:
    """Estimate the mean over cells of Kendall's rank correlation between loss and saving of learners.

    Even runs give the losses that are compared with the savings of odd runs, and vice versa. So noise in losses does
    not make them agree with savings.
    """
    numbers = np.stack([np.stack(losses, -1), np.stack(savings, -1)], axis=1)
    is_even = (np.arange(len(numbers)) % 2 == 0).reshape(-1, 1, 1, 1)
    halves = np.stack([numbers * is_even, numbers * ~is_even], axis=1)
    shape = halves.shape[1:]

    def rank_correlation(means: Float[np.ndarray, "B numbers"]) -> Float[np.ndarray, " B"]:
        half = means.reshape(-1, *shape)
        crossed = [kendall(half[:, i, 0], half[:, 1 - i, 1]) for i in (0, 1)]
        return np.mean(crossed, axis=(0, -1))

    return correlation(rank_correlation, halves.reshape(len(halves), -1))


def kendall(a: Float[np.ndarray, "*B learners"], b: Float[np.ndarray, "*B learners"]) -> Float[np.ndarray, "*B"]:
    """Return the share of concordant pairs, less the share of discordant pairs; ties count as neither."""
    pairs = [*combinations(range(a.shape[-1]), 2)]
    concordant = [_sign(a[..., i] - a[..., j]) * _sign(b[..., i] - b[..., j]) for i, j in pairs]
    return np.mean(concordant, axis=0)


def _sign(differences: Float[np.ndarray, "*B"]) -> Float[np.ndarray, "*B"]:
    return np.where(np.abs(differences) > TIE, np.sign(differences), 0.0)
