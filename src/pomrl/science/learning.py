"""Passes over the models of batches, in C (`_learning.c`) or NumPy with the same bits.

`Batch`, `Memory` and `estimate_task` call them by the names of the paper's steps.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Num, Shaped

from pomrl.science.solvers.compiled import is_built_from

try:
    from pomrl.science import _learning
except ImportError:  # there was no compiler when the package was installed
    _learning = None

PerPair = Float[np.ndarray, "n #S #A"]
"""A number for each pair (s, a) of each of n runs, or one for all pairs."""

Mask = Bool[np.ndarray, "n #S #A"]
"""Selected pairs, or one mark for all pairs."""

TrialRates = Float[np.ndarray, "n #K #S #A"]
"""Mixing rates alpha_t of K trials; an axis of length 1 is shared."""

Priors = Float[np.ndarray, "n #K S A S"]
"""Priors h_t of K trials, or one for all trials."""


class Sums(NamedTuple):
    """Mean and sums over tasks of the frequencies P_bar (Welford, App. C)."""

    mean: Float[np.ndarray, "n S A S"]
    squares: Float[np.ndarray, "n S A S"]
    """Sum of the squared deviations from the mean."""
    noise: Float[np.ndarray, "n S A S"]
    """Sum of P_bar (1 - P_bar) N / m, with N transitions from the pair."""


@cache
def is_built() -> bool:
    """Return whether the C code was built from the present source."""
    return is_built_from(_learning, Path(__file__).with_name("_learning.c"))


def frequencies(
    counts: Num[np.ndarray, "*n S A S"], *, equal: bool
) -> tuple[Float[np.ndarray, "*n S A S"], Float[np.ndarray, "*n #S #A"]]:
    """Return the frequencies of next states, uniform without visits, and the visits of each pair.

    With `equal`, all pairs must have the same visits, which is not checked; the visits are [*n, 1, 1].
    """
    *leading, A, S = counts.shape
    visits_shape = (*leading[:-1], 1, 1) if equal else counts.shape[:-1]
    if _learning is not None and is_built() and counts.dtype == np.int64 and counts.size:
        P_bar, visits = np.empty(counts.shape), np.empty(visits_shape)
        size = leading[-1] * A * S if equal else S
        _learning.frequencies(np.ascontiguousarray(counts), visits, P_bar, visits.size, size, S)
        return P_bar, visits
    visits = (counts[..., :1, :1, :] if equal else counts).sum(-1, dtype=float)
    P_bar = counts / np.maximum(visits, 1.0)[..., None]
    P_bar[np.broadcast_to(visits == 0, P_bar.shape[:-1])] = 1.0 / S
    return P_bar, visits


def add_task(
    sums: Sums,
    P_bar: Float[np.ndarray, "n S A S"],
    share: PerPair,
    counted: Mask,
    is_first: Mask,
    total: PerPair,
    *,
    by_transitions: bool,
) -> Sums:
    """Return the sums after one more task, by Welford's algorithm (App. C).

    Args:
        sums: The sums over earlier tasks.
        P_bar: The frequencies in the task.
        share: The number N of transitions from each pair, divided by m.
        counted: Pairs that enter mean and squares.
        is_first: Pairs with no earlier task and no initial model; their mean is P_bar.
        total: The weight of the mean, with this task; positive.
        by_transitions: Whether the task weighs `share` in mean and squares, not 1.
    """
    weight = share if by_transitions else np.ones_like(share)
    if _learning is not None and is_built():
        n, S, A, _ = P_bar.shape
        shape = np.broadcast_shapes(share.shape, counted.shape, is_first.shape, total.shape)
        shape = shape if shape[1:] in ((1, 1), (S, A)) else (n, S, A)
        small = [_spread(array, shape) for array in (weight, total, share, counted, is_first)]
        models, after = [*map(np.ascontiguousarray, (P_bar, *sums))], Sums(*(np.empty(P_bar.shape) for _ in sums))
        groups = small[0].size
        _learning.add(*models, *small, *after, groups, P_bar.size // max(groups, 1), by_transitions)
        return after
    before = np.where(is_first[..., None], P_bar, sums.mean)
    deviation = (P_bar - before) * counted[..., None]
    step = (weight / total)[..., None] * deviation if by_transitions else deviation / total[..., None]
    mean = before + step
    squares = sums.squares + weight[..., None] * deviation * (P_bar - mean)
    return Sums(mean, squares, sums.noise + P_bar * (1.0 - P_bar) * share[..., None])


def mix(alpha: TrialRates, h: Priors, P_bar: Float[np.ndarray, "n K S A S"]) -> Float[np.ndarray, "n K S A S"]:
    """Return alpha h + (1 - alpha) P_bar, the solution of Eq. 4."""
    n, K, S, A, _ = P_bar.shape
    if _learning is not None and is_built() and P_bar.size:
        P_hat, pairs = np.empty(P_bar.shape), alpha.shape[2:] if alpha.shape[2:] == (1, 1) else (S, A)
        rates = _spread(alpha, (*alpha.shape[:2], *pairs))
        groups = pairs[0] * pairs[1]
        sizes = n, K, rates.shape[1], h.shape[1], groups, S * A * S // groups
        _learning.mix(rates, np.ascontiguousarray(h), np.ascontiguousarray(P_bar), P_hat, *sizes)
        return P_hat
    P_hat = (1.0 - alpha)[..., None] * P_bar
    P_hat += alpha[..., None] * h
    return P_hat


def largest_errors(P_hat: Float[np.ndarray, "N K S A S"], P: Float[np.ndarray, "N S A S"]) -> Float[np.ndarray, "N K"]:
    """Return the largest absolute error of each of K estimates of N models."""
    N, K = P_hat.shape[:2]
    if _learning is not None and is_built() and P_hat.size:
        errors = np.empty((N, K))
        _learning.errors(np.ascontiguousarray(P_hat), np.ascontiguousarray(P), errors, N, K, P_hat.size // (N * K))
        return errors
    return np.abs(P_hat - P[:, None]).max((2, 3, 4))


def _spread(array: Shaped[np.ndarray, "..."], shape: tuple[int, ...]) -> Float[np.ndarray, "..."]:
    return np.ascontiguousarray(np.broadcast_to(array, shape), float)
