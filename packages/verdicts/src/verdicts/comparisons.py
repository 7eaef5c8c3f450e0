"""Comparisons of arrays, as parts of claims.

A function that claims a relation returns its `Part`. Arrays have n units, T steps or G columns. Units with the same
index are paired. `description` is the text in tables.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from verdicts.estimates import Count, ScalarEstimate, check_samples, mean_difference
from verdicts.minima import minimum_difference, minimum_ratio, ratio
from verdicts.parts import INTEREST_SHARE, Part

EQUALITY_MARGIN = 0.1
"""The margin of claims of equal, no worse or no better means, as a share of the comparator."""

PAIRED = "in pairs"
"""The text for a comparison of units in pairs."""


def below_zero(description: str, estimate: ScalarEstimate, comparator: float) -> Part:
    """Claim a negative estimate; effects of interest are shares of |comparator|."""
    return Part(f"{description}, {PAIRED}", estimate, below=0.0, interest=INTEREST_SHARE * abs(comparator))


def less(a: np.ndarray, b: np.ndarray, description: str) -> Part:
    """Claim mean(a) < mean(b), from numbers [n]."""
    return below_zero(description, mean_difference(a, b), b.mean())


def less_in_shares(a: np.ndarray, b: np.ndarray, whole: np.ndarray, description: str) -> Part:
    """Claim mean(a) < mean(b), with the difference as a share of mean(whole), from numbers [n]."""
    check_samples(a, b, whole)
    return below_zero(description, ratio(whole + a - b, whole), b.mean() / whole.mean())


def on_a_par(a: np.ndarray, b: np.ndarray, description: str) -> Part:
    """Claim |mean(a) / mean(b) - 1| < EQUALITY_MARGIN, from numbers [n]."""
    return Part(
        f"{description}, relative, {PAIRED}",
        ratio(a, b),
        above=-EQUALITY_MARGIN,
        below=EQUALITY_MARGIN,
        margin=EQUALITY_MARGIN,
    )


def no_worse(a: np.ndarray, b: np.ndarray, description: str, margin: float = EQUALITY_MARGIN) -> Part:
    """Claim mean(a) < (1 + margin) mean(b), from numbers [n]."""
    return Part(f"{description}, relative, {PAIRED}", ratio(a, b), below=margin, margin=margin)


def no_better(a: np.ndarray, b: np.ndarray, description: str) -> Part:
    """Claim mean(a) > (1 - EQUALITY_MARGIN) mean(b), from numbers [n]."""
    return Part(f"{description}, relative, {PAIRED}", ratio(a, b), above=-EQUALITY_MARGIN, margin=EQUALITY_MARGIN)


def closes_distance(a: np.ndarray, worst: np.ndarray, best: np.ndarray, description: str) -> Part:
    """Claim (worst - a) / (worst - best) > 1 - EQUALITY_MARGIN, in means of numbers [n].

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


def does_not_improve(loss: np.ndarray, description: str) -> Part:
    """Claim a relative fall over the steps of losses [n, T] below EQUALITY_MARGIN."""
    level = loss.mean(1)
    change = ratio(level + slope(loss), level)
    description = f"{description}, slope times {loss.shape[1] - 1} relative to mean"
    return Part(description, change, above=-EQUALITY_MARGIN, margin=EQUALITY_MARGIN)


def slope(values: np.ndarray) -> np.ndarray:
    """Return least-squares slopes over the last axis, times its length less 1."""
    steps = values.shape[-1]
    centred = np.arange(steps) - (steps - 1) / 2
    return (values * (centred / (centred**2).sum() * (steps - 1))).sum(-1)  # `@` depends on the processor


def smaller_minimum(a: np.ndarray, b: np.ndarray, description: str) -> Part:
    """Claim min(mean(a)) < min(mean(b)), from numbers [n, G]."""
    return below_zero(description, minimum_difference(a, b), b.mean(0).min())


def no_larger_minimum(a: np.ndarray, b: np.ndarray, description: str) -> Part:
    """Claim min(mean(a)) < (1 + EQUALITY_MARGIN) min(mean(b)), from numbers [n, G]."""
    return Part(
        f"{description}, relative, {PAIRED}", minimum_ratio(a, b), below=EQUALITY_MARGIN, margin=EQUALITY_MARGIN
    )


def no_smaller_minimum(a: np.ndarray, b: np.ndarray, description: str) -> Part:
    """Claim min(mean(a)) > (1 - EQUALITY_MARGIN) min(mean(b)), from numbers [n, G]."""
    return Part(
        f"{description}, relative, {PAIRED}", minimum_ratio(a, b), above=-EQUALITY_MARGIN, margin=EQUALITY_MARGIN
    )


def under(topic: str, parts: Sequence[Part]) -> list[Part]:
    """Assign a topic to parts, to judge and report them together."""
    return [replace(comparison, topic=topic) for comparison in parts]


def beside(topic: str, parts: Sequence[Part]) -> list[Part]:
    """Assign a topic to parts in another view than the claim's, without weight in its verdict."""
    return [replace(comparison, topic=topic, is_beside=True) for comparison in parts]


def in_more_than(number: float, groups: Sequence[Sequence[Part]], description: str) -> list[Part]:
    """Claim more than `number` groups with all parts true.

    Holm's method corrects the count of groups. One refuted part refutes its group (Bonferroni).

    Returns:
        The claimed count, then all parts without a claim.
    """
    holds = [
        all(comparison.above < comparison.estimate.value < comparison.below for comparison in group) for group in groups
    ]
    is_known = all(np.isfinite(comparison.estimate.value) for group in groups for comparison in group)
    count = Count(
        value=float(sum(holds)) if is_known else np.nan,
        units=min(comparison.estimate.units for group in groups for comparison in group),
        p_true=tuple(max(comparison.p_hold for comparison in group) for group in groups),
        p_false=tuple(min(1.0, len(group) * min(comparison.p_refute for comparison in group)) for group in groups),
    )
    claimed = Part(f"{description} of {len(groups)} in which it holds, Holm", count, above=number)
    return [claimed, *(Part(comparison.compared, comparison.estimate) for group in groups for comparison in group)]
