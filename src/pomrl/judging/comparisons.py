"""Comparisons of losses, as parts of claims.

A function that claims a relation returns its `Part`. Arrays have n runs, T tasks or G gammas. Runs with the same random
draws are paired. `description` is the text in tables.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from pomrl.judging.estimates import Count, ScalarEstimate, check_samples, correlation, mean_difference
from pomrl.judging.minima import may_be_best, minimum_difference, minimum_ratio, ratio, smaller_best_gamma
from pomrl.judging.verdict import INTEREST_SHARE, Part
from pomrl.results.result import LossPerRun, Result
from pomrl.science.gamma_star import minimising

EQUALITY_MARGIN = 0.1
"""The margin of claims of equal, no worse or no better means, as a share of the comparator."""

NEAR_GAMMA = 0.1
"""The largest distance between discount factors that count as near."""

ROUNDING = 1e-9
"""The tolerance for rounding errors in comparisons of discount factors."""

PAIRED = "in pairs"
"""The text for a comparison of runs with the same random draws."""


def below_zero(description: str, estimate: ScalarEstimate, comparator: float) -> Part:
    """Claim a negative estimate; effects of interest are shares of |comparator|."""
    return Part(f"{description}, {PAIRED}", estimate, below=0.0, interest=INTEREST_SHARE * abs(comparator))


def less(a: LossPerRun, b: LossPerRun, description: str) -> Part:
    """Claim mean(a) < mean(b)."""
    return below_zero(description, mean_difference(a, b), b.mean())


def less_in_shares(a: LossPerRun, b: LossPerRun, whole: LossPerRun, description: str) -> Part:
    """Claim mean(a) < mean(b), with the difference as a share of mean(whole)."""
    check_samples(a, b, whole)
    return below_zero(description, ratio(whole + a - b, whole), b.mean() / whole.mean())


def on_a_par(a: LossPerRun, b: LossPerRun, description: str) -> Part:
    """Claim |mean(a) / mean(b) - 1| < EQUALITY_MARGIN."""
    return Part(
        f"{description}, relative, {PAIRED}",
        ratio(a, b),
        above=-EQUALITY_MARGIN,
        below=EQUALITY_MARGIN,
        margin=EQUALITY_MARGIN,
    )


def no_worse(a: LossPerRun, b: LossPerRun, description: str, margin: float = EQUALITY_MARGIN) -> Part:
    """Claim mean(a) < (1 + margin) mean(b)."""
    return Part(f"{description}, relative, {PAIRED}", ratio(a, b), below=margin, margin=margin)


def no_better(a: LossPerRun, b: LossPerRun, description: str) -> Part:
    """Claim mean(a) > (1 - EQUALITY_MARGIN) mean(b)."""
    return Part(f"{description}, relative, {PAIRED}", ratio(a, b), above=-EQUALITY_MARGIN, margin=EQUALITY_MARGIN)


def closes_distance(a: LossPerRun, worst: LossPerRun, best: LossPerRun, description: str) -> Part:
    """Claim (worst - a) / (worst - best) > 1 - EQUALITY_MARGIN, in means.

    The estimate is NaN unless mean(worst) > mean(best); also claim this with `less`.
    """
    check_samples(a, worst, best)
    distance = worst - best
    return Part(
        f"{description}, {PAIRED}",
        ratio(distance + worst - a, distance),
        above=1.0 - EQUALITY_MARGIN,
        margin=EQUALITY_MARGIN,
    )


def does_not_improve(loss: Float[np.ndarray, "n T"], description: str) -> Part:
    """Claim a relative fall over tasks below EQUALITY_MARGIN."""
    level = loss.mean(1)
    change = ratio(level + slope(loss), level)
    description = f"{description}, slope times {loss.shape[1] - 1} relative to mean"
    return Part(description, change, above=-EQUALITY_MARGIN, margin=EQUALITY_MARGIN)


def slope(values: Float[np.ndarray, "*n T"]) -> Float[np.ndarray, "*n"]:
    """Return least-squares slopes over the last axis, times T - 1."""
    tasks = values.shape[-1]
    centred = np.arange(tasks) - (tasks - 1) / 2
    return (values * (centred / (centred**2).sum() * (tasks - 1))).sum(-1)  # `@` depends on the processor


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


def smaller_minimum(a: Float[np.ndarray, "n G"], b: Float[np.ndarray, "n G"], description: str) -> Part:
    """Claim min(mean(a)) < min(mean(b))."""
    return below_zero(description, minimum_difference(a, b), b.mean(0).min())


def no_larger_minimum(a: Float[np.ndarray, "n G"], b: Float[np.ndarray, "n G"], description: str) -> Part:
    """Claim min(mean(a)) < (1 + EQUALITY_MARGIN) min(mean(b))."""
    return Part(
        f"{description}, relative, {PAIRED}", minimum_ratio(a, b), below=EQUALITY_MARGIN, margin=EQUALITY_MARGIN
    )


def no_smaller_minimum(a: Float[np.ndarray, "n G"], b: Float[np.ndarray, "n G"], description: str) -> Part:
    """Claim min(mean(a)) > (1 - EQUALITY_MARGIN) min(mean(b))."""
    return Part(
        f"{description}, relative, {PAIRED}", minimum_ratio(a, b), above=-EQUALITY_MARGIN, margin=EQUALITY_MARGIN
    )


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


def smaller_best(losses: Result, a: Float[np.ndarray, "n G"], b: Float[np.ndarray, "n G"], description: str) -> Part:
    """Claim a smaller gamma* for curves a than for curves b."""
    return Part(f"{description}, {PAIRED}", smaller_best_gamma(losses.gammas, a, b), below=0.0)


def under(topic: str, comparisons: Sequence[Part]) -> list[Part]:
    """Assign a topic to parts, to judge and report them together."""
    return [replace(comparison, topic=topic) for comparison in comparisons]


def beside(topic: str, comparisons: Sequence[Part]) -> list[Part]:
    """Assign a topic to parts in another view than the claim's figure, without weight in its verdict."""
    return [replace(comparison, topic=topic, is_beside=True) for comparison in comparisons]


def in_more_than(number: float, groups: Sequence[Sequence[Part]], description: str) -> list[Part]:
    """Claim more than `number` groups whose comparisons all hold.

    Holm's method corrects the count of groups. One refuted comparison refutes its group (Bonferroni).

    Returns:
        The claimed count, then all comparisons as parts without a claim.
    """
    holds = [
        all(comparison.above < comparison.estimate.value < comparison.below for comparison in group) for group in groups
    ]
    is_known = all(np.isfinite(comparison.estimate.value) for group in groups for comparison in group)
    count = Count(
        value=float(sum(holds)) if is_known else np.nan,
        runs=min(comparison.estimate.runs for group in groups for comparison in group),
        p_true=tuple(max(comparison.p_hold for comparison in group) for group in groups),
        p_false=tuple(min(1.0, len(group) * min(comparison.p_refute for comparison in group)) for group in groups),
    )
    claimed = Part(f"{description} of {len(groups)} in which it holds, Holm", count, above=number)
    return [claimed, *(Part(comparison.compared, comparison.estimate) for group in groups for comparison in group)]


def rank_correlation(values: Float[np.ndarray, "*B X"]) -> Float[np.ndarray, "*B"]:
    """Return Spearman's correlation with the index of the last axis; 0 for equal values."""
    columns = np.ascontiguousarray(np.moveaxis(values, -1, 0))  # sums over a short last axis take several times as long
    ranks = np.stack([(columns < column).sum(0) + ((columns == column).sum(0) + 1) / 2 for column in columns])
    ranks -= ranks.mean(0)
    order = np.arange(len(columns)) - (len(columns) - 1) / 2
    norm = np.sqrt((ranks**2).sum(0) * (order**2).sum())
    fallback = np.where(np.isnan(columns).any(0), np.nan, 0.0)
    return np.divide(np.einsum("x,x...->...", order, ranks), norm, out=fallback, where=norm > 0.0)
