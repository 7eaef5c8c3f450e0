"""The comparisons that claims are made of, each a part with its words."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float
from scipy import stats

from pomrl.claims.inference import attenuated, mean, ratio, resampled, smooth
from pomrl.claims.losses import Losses, PerRun
from pomrl.claims.verdict import Part

MARGIN = 0.1
"""How far apart two things may be that are on a par, as a share of the second one's mean."""

NEAR = 0.1
"""How far a discount factor may be from one that it is near."""

ROUNDING = 1e-9
"""Of discount factors that are compared with one another."""

PAIRED = "in pairs"
NOT_PAIRED = "not paired: other settings"


def less(a: PerRun, b: PerRun, words: str) -> Part:
    """That a is on average below b, in pairs."""
    return Part(f"{words}, {PAIRED}", mean(a - b), below=0.0)


def less_unpaired(a: PerRun, b: PerRun, words: str) -> Part:
    """That a is on average below b, where they come from other draws."""
    return Part(f"{words}, {NOT_PAIRED}", smooth(lambda of_a, of_b: of_a - of_b, a, b), below=0.0)


def on_a_par(a: PerRun, b: PerRun, words: str) -> Part:
    """That the mean of a is within `MARGIN` of that of b, in pairs."""
    return Part(f"{words}, relative, {PAIRED}", ratio(a, b), above=-MARGIN, below=MARGIN)


def does_not_improve(loss: Float[np.ndarray, "n T"], words: str) -> Part:
    """That a loss per task changes over its tasks by less than `MARGIN` of its mean."""
    level = loss.mean(1)
    change = ratio(level + loss @ slope(loss.shape[1]), level)
    return Part(f"{words}, slope times {loss.shape[1] - 1} relative to mean", change, above=-MARGIN, below=MARGIN)


def slope(tasks: int) -> Float[np.ndarray, " T"]:
    """Weights that give the least-squares slope over tasks, times the steps between the first and the last."""
    centred = np.arange(tasks) - (tasks - 1) / 2
    return centred / (centred @ centred) * (tasks - 1)


def best_is_in(losses: Losses, curve: Float[np.ndarray, "n G"], inside: Bool[np.ndarray, " G"], words: str) -> Part:
    """That the smallest mean loss inside a set of discount factors is below the smallest outside of it, in pairs."""
    estimate = smooth(lambda m: m[..., inside].min(-1) - m[..., ~inside].min(-1), curve)
    found = losses.best(curve.mean(0, keepdims=True)).item()
    return Part(f"{words} (γ* = {found:g}), {PAIRED}", estimate, below=0.0)


def near(losses: Losses, gamma: float) -> Bool[np.ndarray, " G"]:
    """The discount factors that are near this one."""
    return np.abs(losses.gammas - gamma) <= NEAR + ROUNDING


def smaller_minimum(a: Float[np.ndarray, "n G"], b: Float[np.ndarray, "n G"], words: str) -> Part:
    """That the smallest mean loss of a is below that of b, in pairs."""
    both = np.stack([a, b], axis=1)
    estimate = smooth(lambda m: m[..., 0, :].min(-1) - m[..., 1, :].min(-1), both)
    return Part(f"{words}, {PAIRED}", estimate, below=0.0)


def smaller_minimum_unpaired(a: Losses, b: Losses, words: str) -> Part:
    """That the smallest loss on the average curve of a is below that of b, where they come from other draws."""
    estimate = smooth(lambda of_a, of_b: of_a.min(-1) - of_b.min(-1), a.average_curve, b.average_curve)
    return Part(f"{words}, {NOT_PAIRED}", estimate, below=0.0)


def best_grows(losses: Losses, curves: Float[np.ndarray, "n X G"], words: str) -> Part:
    """That gamma* grows along an axis of curves of the same runs."""
    return Part(words, attenuated(lambda means: rank_correlation(losses.best(means)), curves), above=0.0)


def best_grows_unpaired(settings: Sequence[Losses], words: str) -> Part:
    """That gamma* of the average curves grows over settings that come from other draws."""

    def correlation(*means: np.ndarray) -> np.ndarray:
        best = [losses.best(of_setting) for losses, of_setting in zip(settings, means, strict=True)]
        return rank_correlation(np.stack(best, axis=-1))

    estimate = attenuated(correlation, *(losses.average_curve for losses in settings))
    return Part(f"{words}, {NOT_PAIRED}", estimate, above=0.0)


def smaller_best_unpaired(a: Losses, b: Losses, words: str) -> Part:
    """That gamma* of the average curve of a is below that of b, where they come from other draws."""
    estimate = resampled(lambda of_a, of_b: a.best(of_a) - b.best(of_b), a.average_curve, b.average_curve)
    return Part(f"{words}, {NOT_PAIRED}", estimate, below=0.0)


def rank_correlation(values: Float[np.ndarray, "*B X"]) -> Float[np.ndarray, "*B"]:
    """Spearman's correlation of values with their order; 0 where all are equal."""
    ranks = stats.rankdata(values, axis=-1)
    ranks -= ranks.mean(-1, keepdims=True)
    order = np.arange(values.shape[-1]) - (values.shape[-1] - 1) / 2
    norm = np.sqrt((ranks**2).sum(-1) * (order @ order))
    return np.divide(ranks @ order, norm, out=np.zeros_like(norm), where=norm > 0.0)
