"""Comparisons of gamma*, the discount factors with the smallest mean losses, as parts of claims.

Arrays have n runs, T tasks or G gammas. Runs with the same random draws are paired.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.results.result import Result
from pomrl.science.gamma_star import MEAN_TIE_TOLERANCE, minimising
from verdicts.comparisons import PAIRED, below_zero
from verdicts.correlations import correlation
from verdicts.minima import BestDifference, minimum_difference, p_best
from verdicts.parts import Part

NEAR_GAMMA = 0.1
"""The largest distance between discount factors that count as near."""

ROUNDING = 1e-9
"""The tolerance for rounding errors in comparisons of discount factors."""

FAR_STANDARD_ERRORS = 8.0
"""A distance from the smallest mean, in standard errors; no mean further away is the smallest in 100,000 resamples."""


def best_is_in(
    losses: Result, curve: Float[np.ndarray, "n G"], inside: Bool[np.ndarray, " G"], description: str
) -> Part:
    """Claim the smallest mean loss at one of the `inside` gammas."""
    estimate = minimum_difference(curve[:, inside], curve[:, ~inside])
    gamma_star = losses.best(curve.mean(0, keepdims=True)).item()
    return below_zero(f"{description} (γ* = {gamma_star:g})", estimate, curve.mean(0)[~inside].min())


def best_is_between(losses: Result, subject: str, *, above: float = -np.inf, below: float = np.inf) -> Part:
    """Claim the smallest average loss strictly between two gammas."""
    inside = (losses.gammas > above + ROUNDING) & (losses.gammas < below - ROUNDING)
    ends = {"above": above, "below": below}
    where = " and ".join(f"{side} {end:g}" for side, end in ends.items() if np.isfinite(end))
    description = f"{subject}: smallest loss at a gamma {where} less that elsewhere"
    return best_is_in(losses, losses.average_curve, inside, description)


def near(losses: Result, gamma: float, distance: float = NEAR_GAMMA) -> Bool[np.ndarray, " G"]:
    """Return a mask of the gammas within `distance` of `gamma`."""
    return np.abs(losses.gammas - gamma) <= distance + ROUNDING


def best_grows(losses: Result, curves: Float[np.ndarray, "n *rows X G"], description: str) -> Part:
    """Claim a positive rank correlation of gamma* with axis X, in each row."""
    # only losses at candidates for gamma* are resampled
    by_row = curves.reshape(len(curves), -1, curves.shape[-1])
    candidates = [may_be_best(by_row[:, i]) for i in range(by_row.shape[1])]
    candidate_losses = np.concatenate([by_row[:, i, columns] for i, columns in enumerate(candidates)], axis=1)
    starts = np.cumsum([len(columns) for columns in candidates])[:-1]

    def smallest(means: Float[np.ndarray, "B C"]) -> Float[np.ndarray, " B"]:
        best = [
            minimising(losses.gammas[columns], mean)
            for columns, mean in zip(candidates, np.split(means, starts, 1), strict=True)
        ]
        in_rows = np.stack(best, axis=-1).reshape(len(means), *curves.shape[1:-1])
        return rank_correlation(in_rows).reshape(len(means), -1).min(-1)

    return Part(description, correlation(smallest, candidate_losses), above=0.0)


def may_be_best(curve: Float[np.ndarray, "n G"]) -> Int[np.ndarray, " C"]:
    """Return the columns within `FAR_STANDARD_ERRORS` of the smallest mean."""
    means = curve.mean(0)
    best = int(means.argmin())
    error = (curve - curve[:, [best]]).std(0) / np.sqrt(len(curve))
    return np.flatnonzero(
        ~(means - means[best] > FAR_STANDARD_ERRORS * error + MEAN_TIE_TOLERANCE * max(1.0, float(means.max())))
    )


def rank_correlation(values: Float[np.ndarray, "*B X"]) -> Float[np.ndarray, "*B"]:
    """Return Spearman's correlation with the index of the last axis; 0 for equal values."""
    columns = np.ascontiguousarray(np.moveaxis(values, -1, 0))  # sums over a short last axis take several times as long
    ranks = np.stack([(columns < column).sum(0) + ((columns == column).sum(0) + 1) / 2 for column in columns])
    ranks -= ranks.mean(0)
    order = np.arange(len(columns)) - (len(columns) - 1) / 2
    norm = np.sqrt((ranks**2).sum(0) * (order**2).sum())
    fallback = np.where(np.isnan(columns).any(0), np.nan, 0.0)
    return np.divide(np.einsum("x,x...->...", order, ranks), norm, out=fallback, where=norm > 0.0)


def smaller_best(losses: Result, a: Float[np.ndarray, "n G"], b: Float[np.ndarray, "n G"], description: str) -> Part:
    """Claim a smaller gamma* for curves a than for curves b."""
    return Part(f"{description}, {PAIRED}", smaller_best_gamma(losses.gammas, a, b), below=0.0)


def smaller_best_gamma(
    gammas: Float[np.ndarray, " G"], a: Float[np.ndarray, "n G"], b: Float[np.ndarray, "n G"]
) -> BestDifference:
    """Estimate gamma* of curves a minus gamma* of curves b."""
    value = np.subtract(*minimising(gammas, np.stack([a.mean(0), b.mean(0)])))
    return BestDifference(float(value), len(a), gammas[:, None] - gammas, p_best(a), p_best(b))
