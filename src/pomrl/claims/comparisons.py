"""The kinds of comparisons that claims consist of; each returns a part of a claim.

`words` name what is compared. To them is added how: in pairs over runs, or as independent samples.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from pomrl.claims.inference import attenuated, mean, ratio, resampled, smooth
from pomrl.claims.verdict import Part
from pomrl.results.losses import Losses, LossPerRun, SweepLosses

MARGIN = 0.1
"""How far apart two means may be that are on a par, as a share of the second one."""

NEAR = 0.1
"""How far apart two discount factors may be that are near each other."""

ROUNDING = 1e-9
"""An allowance for rounding errors in comparisons of discount factors."""

PAIRED = "in pairs"
"""The words for comparisons of methods at one problem, whose runs see the same draws."""

NOT_PAIRED = "not paired: other settings"
"""The words for comparisons of different problems, whose runs are compared as independent samples."""


def less(a: LossPerRun, b: LossPerRun, words: str, *, paired: bool = True) -> Part:
    """Compare whether the mean of a is below that of b."""
    estimate = mean(a - b) if paired else smooth(lambda of_a, of_b: of_a - of_b, a, b)
    return Part(f"{words}, {PAIRED if paired else NOT_PAIRED}", estimate, below=0.0)


def on_a_par(a: LossPerRun, b: LossPerRun, words: str) -> Part:
    """Compare whether the mean of a is within a `MARGIN` of the mean of b, in pairs."""
    return Part(f"{words}, relative, {PAIRED}", ratio(a, b), above=-MARGIN, below=MARGIN)


def gain(sweep: SweepLosses, **settings: Any) -> LossPerRun:
    """Return the gain at these settings: the regret without meta-learning less that of ada-POMRL."""
    without, ada = (sweep.at(**settings, estimator=name).regret for name in ("without_meta", "ada_pomrl"))
    return without - ada


def does_not_improve(loss: Float[np.ndarray, "n T"], words: str) -> Part:
    """Compare whether a loss changes from the first task to the last by less than a `MARGIN` of its mean."""
    level = loss.mean(1)
    change = ratio(level + loss @ slope(loss.shape[1]), level)
    return Part(f"{words}, slope times {loss.shape[1] - 1} relative to mean", change, above=-MARGIN, below=MARGIN)


def slope(tasks: int) -> Float[np.ndarray, " T"]:
    """Return weights w so that, for losses y in T tasks, y @ w is (T - 1) times the least-squares slope of y."""
    centred = np.arange(tasks) - (tasks - 1) / 2
    return centred / (centred @ centred) * (tasks - 1)


def best_is_in(losses: Losses, curve: Float[np.ndarray, "n G"], inside: Bool[np.ndarray, " G"], words: str) -> Part:
    """Compare whether the smallest mean loss inside a set of discount factors is below that outside, in pairs."""
    estimate = smooth(lambda m: m[..., inside].min(-1) - m[..., ~inside].min(-1), curve)
    gamma_star = losses.best(curve.mean(0, keepdims=True)).item()
    return Part(f"{words} (γ* = {gamma_star:g}), {PAIRED}", estimate, below=0.0)


def near(losses: Losses, gamma: float) -> Bool[np.ndarray, " G"]:
    """Return which discount factors are at most `NEAR` away from this one."""
    return np.abs(losses.gammas - gamma) <= NEAR + ROUNDING


def smaller_minimum(
    a: Float[np.ndarray, "n G"], b: Float[np.ndarray, "m G"], words: str, *, paired: bool = True
) -> Part:
    """Compare whether the smallest mean loss of a is below that of b."""

    def difference(of_a: np.ndarray, of_b: np.ndarray) -> np.ndarray:
        return of_a.min(-1) - of_b.min(-1)

    if not paired:
        return Part(f"{words}, {NOT_PAIRED}", smooth(difference, a, b), below=0.0)
    both = np.stack([a, b], axis=1)
    return Part(f"{words}, {PAIRED}", smooth(lambda m: difference(m[..., 0, :], m[..., 1, :]), both), below=0.0)


def best_grows(losses: Losses, curves: Float[np.ndarray, "n X G"], words: str) -> Part:
    """Compare whether gamma* grows with the index X of curves of the same runs."""
    return Part(words, attenuated(lambda means: rank_correlation(losses.best(means)), curves), above=0.0)


def best_grows_unpaired(settings: Sequence[Losses], words: str) -> Part:
    """Compare whether gamma* of the average over tasks grows along settings, as independent samples."""

    def correlation(*means: np.ndarray) -> np.ndarray:
        best = [losses.best(of_setting) for losses, of_setting in zip(settings, means, strict=True)]
        return rank_correlation(np.stack(best, axis=-1))

    estimate = attenuated(correlation, *(losses.average_curve for losses in settings))
    return Part(f"{words}, {NOT_PAIRED}", estimate, above=0.0)


def smaller_best_unpaired(a: Losses, b: Losses, words: str) -> Part:
    """Compare whether gamma* of the average over tasks of a is below that of b, as independent samples."""
    estimate = resampled(lambda of_a, of_b: a.best(of_a) - b.best(of_b), a.average_curve, b.average_curve)
    return Part(f"{words}, {NOT_PAIRED}", estimate, below=0.0)


def rank_correlation(values: Float[np.ndarray, "*B X"]) -> Float[np.ndarray, "*B"]:
    """Return Spearman's correlation of values with their index; 0 where all values are equal."""
    others, each = values[..., None, :], values[..., :, None]
    ranks = (others < each).sum(-1) + ((others == each).sum(-1) + 1) / 2
    ranks -= ranks.mean(-1, keepdims=True)
    order = np.arange(values.shape[-1]) - (values.shape[-1] - 1) / 2
    norm = np.sqrt((ranks**2).sum(-1) * (order @ order))
    return np.divide(ranks @ order, norm, out=np.zeros_like(norm), where=norm > 0.0)
