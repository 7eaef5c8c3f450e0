"""Draws of models, transitions and trajectories in NumPy, which say what `_sampling.c` draws.

A task has a key; its batches, their rows and the entries of rows have keys of their own below it. Hence no draw moves
another one: of two settings that differ in sigma or m, the same entries and transitions come from the same numbers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from pomrl.science.randomness import Keys, fold
from pomrl.science.sampling.elementary import Numbers, exp, log, normal_quantile

MOST_ONE_BY_ONE = 50
"""The most transitions from a row that are drawn one by one."""

LARGEST_BELOW_ONE = float(np.nextafter(1.0, 0.0))


def uniform(keys: Keys, index: int | Num[np.ndarray, "..."]) -> Numbers:
    """Return a number of each key in the open interval (0, 1), one of 2^52 equally spaced ones."""
    return ((fold(keys, index) >> 12).astype(float) + 0.5) * 2.0**-52


def gamma_variates(keys: Keys, shape: Numbers) -> Numbers:
    """Draw a gamma variate of each shape of at least 1 (Marsaglia and Tsang 2000). Number 0 of a key is left over."""
    value, waiting, index = np.empty(shape.shape), np.arange(shape.size), 1
    d = shape - 1.0 / 3.0
    c = (1.0 / 3.0) / np.sqrt(d)
    while waiting.size:
        x = normal_quantile(uniform(keys[waiting], index))
        root, u, square = 1.0 + c[waiting] * x, uniform(keys[waiting], index + 1), x * x
        v = np.where(root > 0.0, root * root * root, 1.0)
        bound = 0.5 * square + d[waiting] * (1.0 - v + log(v))
        is_taken = (root > 0.0) & ((u < 1.0 - 0.0331 * (square * square)) | (log(u) < bound))
        value[waiting[is_taken]] = d[waiting[is_taken]] * v[is_taken]
        waiting, index = waiting[~is_taken], index + 2
    return value


def dirichlet(keys: Keys, shape: Float[np.ndarray, "rows S"]) -> Float[np.ndarray, "N rows S"]:
    """Draw the models of N tasks, with rows that are Dirichlet distributed with these shapes.

    Rows are normalised gamma variates. A row with a shape below 1 comes from their logarithms, G(a) = G(a + 1) U^(1/a),
    so that not all of its entries underflow.
    """
    row, entry = np.nonzero(shape)
    a = shape[row, entry]
    is_small = (a < 1.0) & np.ones((len(keys), 1), bool)
    entry_keys = fold(fold(keys[:, None], row), entry)
    a = np.broadcast_to(a, entry_keys.shape)
    variates = gamma_variates(entry_keys.ravel(), np.where(is_small, a + 1.0, a).ravel()).reshape(a.shape)
    logarithms = log(variates)
    logarithms[is_small] += log(uniform(entry_keys[is_small], 0)) / a[is_small]
    weight = np.zeros((len(keys), *shape.shape))
    weight[:, row, entry] = variates
    of_logarithms = np.full(weight.shape, -np.inf)
    of_logarithms[:, row, entry] = logarithms
    small_rows = ((shape > 0.0) & (shape < 1.0)).any(-1)
    largest = of_logarithms[:, small_rows].max(-1, keepdims=True)
    weight[:, small_rows] = exp(of_logarithms[:, small_rows] - largest)
    return weight / weight.cumsum(-1)[..., -1:]  # sums from the first entry to the last, as C adds


@dataclass(frozen=True, eq=False)
class _Intervals:
    """Intervals of (0, 1) with n independent uniform numbers each, which stand for transitions from rows."""

    keys: Keys
    row: Int[np.ndarray, " k"]
    n: Int[np.ndarray, " k"]
    low: Numbers
    high: Numbers

    def part(self, mask: Bool[np.ndarray, " k"]) -> "_Intervals":
        """Return the intervals where the mask is true."""
        return _Intervals(*(array[mask] for array in vars(self).values()))


def transitions(
    keys: Keys, P: Float[np.ndarray, "N rows S"], batches: int, m: int
) -> Int[np.ndarray, "N batches rows S"]:
    """Draw the counts of m transitions from each row, in so many batches of each task.

    Up to `MOST_ONE_BY_ONE` transitions are drawn one by one. Of more, the uniform number with the middle rank is drawn,
    which is beta distributed, and then those below and above it. What lies within one state needs no further number,
    so that the work grows with the logarithm of m.
    """
    N, rows, S = P.shape
    row_keys = fold(fold(keys[:, None], np.arange(batches))[..., None], np.arange(rows)).ravel()
    of_rows = np.broadcast_to(cumulative(P)[:, None], (N, batches, rows, S)).reshape(-1, S)
    counts, k = np.zeros((len(row_keys), S), np.int64), len(row_keys)
    left = _Intervals(row_keys, np.arange(k), np.full(k, m), np.zeros(k), np.ones(k))
    while len(left.row):
        is_short = left.n <= MOST_ONE_BY_ONE
        _count_one_by_one(left.part(is_short), of_rows, counts)
        long = left.part(~is_short)
        first = _states(of_rows, long.row, long.low)
        is_whole = of_rows[long.row, first] >= long.high
        np.add.at(counts, (long.row[is_whole], first[is_whole]), long.n[is_whole])
        left = _split(long.part(~is_whole), of_rows, counts)
    return counts.reshape(N, batches, rows, S)


def _states(
    of_rows: Float[np.ndarray, "rows S"], row: Int[np.ndarray, "*k"], u: Float[np.ndarray, "*k"]
) -> Int[np.ndarray, "*k"]:
    """Return the state in a row of cumulative probabilities of each number, which may have been rounded up to 1."""
    return next_states((below.take(row) for below in of_rows.T), np.minimum(u, LARGEST_BELOW_ONE))


def _count_one_by_one(
    short: _Intervals, of_rows: Float[np.ndarray, "rows S"], counts: Int[np.ndarray, "rows S"]
) -> None:
    """Add the states of all numbers of the intervals to the counts."""
    for i in range(int(short.n.max(initial=0))):
        some = short.part(short.n > i)
        u = some.low + (some.high - some.low) * uniform(some.keys, i)
        np.add.at(counts, (some.row, _states(of_rows, some.row, u)), 1)


def _split(long: _Intervals, of_rows: Float[np.ndarray, "rows S"], counts: Int[np.ndarray, "rows S"]) -> _Intervals:
    """Return the intervals on both sides of the number with the middle rank, after its state has been counted."""
    rank = (long.n + 1) // 2
    before = gamma_variates(fold(long.keys, 0), rank.astype(float))
    after = gamma_variates(fold(long.keys, 1), (long.n + 1 - rank).astype(float))
    middle = long.low + (long.high - long.low) * (before / (before + after))
    np.add.at(counts, (long.row, _states(of_rows, long.row, middle)), 1)
    return _Intervals(
        np.concatenate([fold(long.keys, 2), fold(long.keys, 3)]),
        np.tile(long.row, 2),
        np.concatenate([rank - 1, long.n - rank]),
        np.concatenate([long.low, middle]),
        np.concatenate([middle, long.high]),
    )


class Pooled(NamedTuple):
    """Sums over the batches of each task."""

    counts: Int[np.ndarray, "*N S A S"]
    """The number of transitions N(s, a, s')."""
    frequencies: Float[np.ndarray, "*N S A S"]
    """The frequencies of next states in each batch; a pair without transitions adds 0."""
    visited: Int[np.ndarray, "*N S A"]
    """The number of batches in which a pair was visited."""


def trajectories(
    keys: Keys, P: Float[np.ndarray, "N S A S"], batches: int, m: int, length: int
) -> Int[np.ndarray, "N batches S A S"]:
    """Draw the counts of the transitions of m trajectories with uniform starts and actions, in each batch."""
    N, S, A, _ = P.shape
    batch = np.arange(N * batches).reshape(N, batches, 1, 1) * (S * A * S)
    places = batch + _cells(keys, P, batches, m, length)
    return np.bincount(places.ravel(), minlength=batches * P.size).reshape(N, batches, S, A, S)


def pooled_trajectories(keys: Keys, P: Float[np.ndarray, "N S A S"], batches: int, m: int, length: int) -> Pooled:
    """Draw the batches of `trajectories`, and return sums over them."""
    N, S, A, _ = P.shape
    cells = _cells(keys, P, batches, m, length)
    pairs = cells // S + np.arange(N * batches).reshape(N, batches, 1, 1) * (S * A)
    visits = np.bincount(pairs.ravel(), minlength=N * batches * S * A)
    places = (cells + np.arange(N)[:, None, None, None] * (S * A * S)).ravel()
    frequencies = np.bincount(places, 1.0 / visits[pairs.ravel()], P.size)
    return Pooled(
        np.bincount(places, minlength=P.size).reshape(P.shape),
        frequencies.astype(float).reshape(P.shape),  # an empty one has integers
        (visits > 0).reshape(N, batches, S, A).sum(1),
    )


def _cells(
    keys: Keys, P: Float[np.ndarray, "N S A S"], batches: int, m: int, length: int
) -> Int[np.ndarray, "N batches length m"]:
    """Return the position of each transition in its model.

    One number chooses an action, and what is left of it, which is uniform again, the next state.
    """
    N, S, A, _ = P.shape
    trajectory_keys = fold(fold(keys[:, None], np.arange(batches))[..., None], np.arange(m))
    of_rows = cumulative(P).reshape(-1, S)
    model = np.arange(N)[:, None, None] * (S * A)
    state = (uniform(trajectory_keys, 0) * S).astype(np.int64)
    cells = np.empty((N, batches, length, m), np.int64)
    for step in range(length):
        rest, action = np.modf(uniform(trajectory_keys, 1 + step) * A)
        pair = state * A + action.astype(np.int64)
        state = _states(of_rows, model + pair, rest)
        cells[:, :, step] = pair * S + state
    return cells


def cumulative(P: Float[np.ndarray, "*n S"]) -> Float[np.ndarray, "*n S"]:
    """Return the cumulative probabilities of rows, with 1 from the last supported state on, whatever rounding did."""
    below = P.cumsum(-1)
    below[below == below[..., -1:]] = 1.0
    return below


def next_states(below: Iterable[Float[np.ndarray, "*#N"]], u: Float[np.ndarray, "*N"]) -> Num[np.ndarray, "*N"]:
    """Return next states by the inverse of their cumulative probabilities, which `below` has state by state."""
    state = np.zeros(u.shape, np.intp)
    for of_state in below:
        state += of_state <= u
    return state
