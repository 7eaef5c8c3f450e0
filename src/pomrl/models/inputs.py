"""Read and check models given as arrays or sparse matrices.

`CONVENTIONS` lists how each input is read; `science.model_axes` has the order of axes.
"""

# SciPy's sparse matrices come without types.
# pyright: reportMissingTypeStubs=false

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Num
from scipy import sparse

from pomrl.models import sparse_models
from pomrl.science.mdp import for_each_model
from pomrl.science.model_axes import Axes, check_axes, is_list_of_matrices, is_object_array, states_first, warn
from pomrl.science.solvers import input_checks

CONVENTIONS = {
    "P, an array": "`[S, A, S]`, or `[M, S, A, S]` for M models; if S = A, a warning states this reading",
    "P, a list of S x S matrices": "one matrix for each action, dense or sparse",
    "P, a sparse matrix": "`[S A, S]`, with row s A + a for the pair (s, a); with `axes='ass'` row a S + s",
    "negative rounding errors": "entries such as -1e-17 are read as 0, and a warning says so; `tolerance` is the limit",
    "axes": "`'sas'` or `'ass'`: the order of state, action and next state, also in rewards `R[a, s, s']`",
    "R": "`[S]`, `[S, A]` or `[S, A, S]`, or a list of S x S matrices, one for each action",
    "rows that nearly sum to 1": "divided by their sums, and a warning says by how much; `tolerance` is the limit",
    "actions that are not allowed": (
        "`R = -inf`, masked entries, rows of zeros, actions missing from a table, and `allowed[s, a]`; never chosen"
    ),
    "a state without an allowed action": "refused; a state that ends the episode must lead to itself, with reward 0",
    "done, in Gymnasium's table": "the episode ends on the transition: nothing follows, and no state becomes an end",
    "gammas": "in any order, in [0, 1 - 1e-9]; 1 means the best of the policies that end from every state",
    "a gamma near 1": "policies count as tied if their values differ relatively by up to 1e-12 / (1 - gamma) "
    "(`pomrl.science.solvers.action_ties`)",
    "rewards": "finite, and neither so large that values overflow nor so small that they lose their digits",
}
"""How inputs are read, for the documentation."""

MAX_GAMMA = 1.0 - 1e-9
"""Largest discount factor below 1; larger ones lose the digits of 1 - gamma."""

SIX_DIGITS = 1e-6
"""Largest error of a number of six digits, rounded or cut off, or in single precision."""

MAX_VALUE = 1e300
"""Largest value whose sums do not overflow."""

MIN_REWARD = 1e-280
"""Smallest scale of rewards with enough digits for differences of values."""


@dataclass(frozen=True, eq=False)
class Arrays:
    """Checked models as arrays; forbidden pairs have rows of 0 and rewards -inf."""

    P: Float[np.ndarray, "*M S A S"] | sparse.csr_array
    R: Float[np.ndarray, "*M S A"]
    allowed: Bool[np.ndarray, "*M S A"]


def read_arrays(
    P: Any, R: Any, axes: Axes | None = None, allowed: Any = None, tolerance: float | None = None
) -> Arrays:
    """Read one or several models; arguments are as in `pomrl.plan`.

    Raises:
        ValueError: An input is wrong; the message has the first wrong index.
    """
    check_axes(axes)
    if axes == "ass" and allowed is not None and np.shape(P)[-3:-2] == np.shape(P)[-1:] != (1,):
        warn(
            f"allowed has S = A = {np.shape(P)[-1]} and was read as allowed[s, a]; transpose it if it is allowed[a, s]"
        )
    if sparse_models.is_sparse(P):
        rows, by_action = sparse_models.pair_rows(P, axes), not sparse.issparse(P)
        if not sparse_models.is_small(rows):
            return _sparse_arrays(rows, R, axes, allowed, tolerance, by_action=by_action)
        dense = sparse_models.dense(rows)
        return _dense_arrays(dense, np.zeros(dense.shape[:2], bool), R, axes, allowed, tolerance, by_action=by_action)
    by_action = is_list_of_matrices(P)
    if by_action and isinstance(P[0], list | tuple) and axes is None and len(P) == len(P[0]) > 1:
        warn(
            f"P is a list of {len(P)} matrices with S = A, read as P[action][s][s']; "
            "for P[s, a, s'], give an array or axes='sas'"
        )
    array, masked = _unmasked(np.stack(list(map(np.asarray, P))) if by_action and is_object_array(P) else P, "P")
    if array.ndim not in (3, 4):
        raise ValueError(f"P must be [S, A, S], [M, S, A, S] or sparse matrices, got {list(array.shape)}")
    dense = states_first(array, axes, by_action=by_action)
    masked = masked.swapaxes(-3, -2) if dense is not array else masked
    row = np.asarray(masked.all(-1))
    input_checks.refuse(
        masked & ~row[..., None], masked, "the mask of P", "covers only a part of a row; mask all of it"
    )
    return _dense_arrays(np.ascontiguousarray(dense), row, R, axes, allowed, tolerance, by_action=by_action)


def _unmasked(values: Any, name: str) -> tuple[Float[np.ndarray, "..."], Bool[np.ndarray, "..."]]:
    """Return numbers with 0 at masked places, and the mask."""
    if isinstance(values, list | tuple) and any(isinstance(value, np.ma.MaskedArray) for value in values):
        values = np.ma.stack(list(values))
    mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    array = input_checks.float64(np.ma.filled(values, 0) if mask is not None else values, name)
    return array, np.zeros(array.shape, bool) if mask is None else mask


def _dense_arrays(
    P: Float[np.ndarray, "..."],
    no_row: Bool[np.ndarray, "..."],
    R: Any,
    axes: Axes | None,
    allowed: Any,
    tolerance: float | None,
    *,
    by_action: bool,
) -> Arrays:
    P = _without_negative_rounding(P, P.shape[-1], tolerance)
    if P.shape[-3] != P.shape[-1]:
        raise ValueError(f"P must be [..., S, A, S], states before actions, got {list(P.shape)}")
    rewards, masked = _rewards(R, P, axes, by_action=by_action)
    if P.ndim == 4 and (rewards.shape[:1] != P.shape[:1] or rewards.ndim < 3):
        raise ValueError(f"P and R must have the same number of models, got {list(P.shape)} and {list(rewards.shape)}")
    if rewards.shape not in (P.shape, P.shape[:-1]):
        shapes = f"[S], [S, A] or [S, A, S] = {list(P.shape[-3:])}"
        raise ValueError(f"R must be {shapes}, got {list(np.shape(R))}")
    per_transition = rewards.ndim == P.ndim
    unusable = masked | (rewards == -np.inf)
    no_reward = (unusable & (P > 0)).any(-1) if per_transition else unusable
    legal = P.any(-1) & ~(no_row | no_reward) & as_allowed(allowed, P.shape[:-1])
    _check_every_state(legal)
    P = np.where(legal[..., None], P, 0.0)
    _normalise(P, legal, tolerance)
    usable = np.where(unusable | ~(legal[..., None] if per_transition else legal), 0.0, rewards)
    input_checks.check_finite(usable)
    expected = (P * usable).sum(-1) if per_transition else usable
    return Arrays(P, np.where(legal, expected, -np.inf), legal)


def _rewards(
    R: Any, P: Float[np.ndarray, "..."], axes: Axes | None, *, by_action: bool
) -> tuple[Float[np.ndarray, "..."], Bool[np.ndarray, "..."]]:
    """Return rewards [..., S, A] or [..., S, A, S], and their mask."""
    S, A = P.shape[-3:-1]
    is_list = is_list_of_matrices(R)
    if is_list and any(map(sparse.issparse, R)):
        R = np.stack([matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix) for matrix in R])
    elif sparse.issparse(R):
        R = R.toarray()
        R = R.reshape(A, S, S).swapaxes(0, 1) if axes == "ass" and R.shape == (S * A, S) else R
        R = R.reshape(S, A, S) if R.shape == (S * A, S) else R
        axes = "sas"
    elif is_list and is_object_array(R):
        R = np.stack([np.asarray(matrix) for matrix in R])
    array, masked = _unmasked(R, "R")
    _warn_ambiguous(array, P, axes, nested=is_list and isinstance(R[0], list | tuple) and not by_action)
    is_list = is_list and array.shape == (A, S, S) and P.ndim == 3
    if P.ndim == 3 and array.ndim == 3:
        order = axes or ("ass" if is_list or (by_action and S != A and array.shape == (A, S, S)) else None)
        oriented = array if order is None and array.shape == (S, A, S) != (S, S, S) else states_first(array, order, "R")
        masked = masked.swapaxes(0, 1) if order == "ass" else masked
        return oriented, masked
    if P.ndim == 4 and axes == "ass" and array.shape in ((A, S, S), (len(P), A, S, S)):
        array, masked = (values.swapaxes(-3, -2) for values in (array, masked))
    if array.shape == (A, S) != (S, A) and (axes == "ass" or by_action):
        return array.T, masked.T
    if array.shape == (S,) or (P.ndim == 4 and array.shape == (len(P), S) != (S, A)):
        array, masked = (np.repeat(values[..., None], A, -1) for values in (array, masked))
    if P.ndim == 4:
        return for_each_model(array, P), for_each_model(masked.astype(float), P) > 0.0
    return array, masked


def _warn_ambiguous(
    R: Float[np.ndarray, "..."], P: Float[np.ndarray, "..."], axes: Axes | None, *, nested: bool
) -> None:
    """Warn about rewards with two readings; `nested` lists may be matrices by action, unlike P."""
    S, A = P.shape[-3:-1]
    if S != A or A == 1:
        return
    if R.shape == (S, A) and axes == "ass":
        warn(f"R has S = A = {A} and was read as R[s, a]; transpose it if it is R[a, s]")
    if P.ndim == 3 and R.shape == (S, A, S) and axes is None and nested:
        warn(
            f"R is a list of {A} matrices with S = A, read as R[action][s][s']; "
            "for R[s, a, s'], give an array or axes='sas'"
        )
    if P.ndim == 4 and R.shape == P.shape[:3] == P.shape[1:]:
        warn(f"R has M = S = A = {A} and was read as R[m, s, a]; for R[s, a, s'], repeat it for each model")


def as_allowed(allowed: Any, shape: tuple[int, ...]) -> Bool[np.ndarray, "..."]:
    """Return the argument `allowed` as a boolean array of this shape.

    None allows all pairs. ValueError: a wrong shape or value.
    """
    if allowed is None:
        return np.ones(shape, bool)
    try:
        array = np.asarray(np.ma.filled(allowed, 0) if isinstance(allowed, np.ma.MaskedArray) else allowed)
    except ValueError as error:  # such as lists of different lengths
        raise ValueError(
            f"allowed must be true or false for each pair, [S, A] = {list(shape[-2:])} ({error})"
        ) from error
    has_shape, bad = array.shape in (shape, shape[-2:]), ~np.isin(array, (0, 1))
    if not has_shape or bad.any():
        wrong = repr(array[bad].tolist()[0]) if has_shape else f"the shape {list(array.shape)}"
        raise ValueError(f"allowed must be true or false for each pair, [S, A] = {list(shape[-2:])}, got {wrong}")
    return np.broadcast_to(array.astype(bool), shape)


def _check_every_state(legal: Bool[np.ndarray, "..."]) -> None:
    blocked = np.argwhere(~legal.any(-1))
    if len(blocked):
        *model, state = blocked[0].tolist()
        name = f"state {state}{f' of model {model[0]}' if model else ''}"
        raise ValueError(
            f"{name} has no allowed action: all rows are 0, rewards are -inf or masked, or `allowed` is false; "
            f"a terminal state must have P[{state}, :, {state}] = 1 and R[{state}] = 0"
        )


def _normalise(P: Float[np.ndarray, "..."], legal: Bool[np.ndarray, "..."], tolerance: float | None) -> None:
    """Divide rows in place by their sums, unless these are 1 up to rounding."""
    if not P.min(initial=0.0) >= 0.0:  # also for NaN
        input_checks.refuse(~(P >= 0.0), P, "P", "is not a probability")
    total, rounding = input_checks.row_sums(P)
    distance = np.where(legal, np.abs(total - 1.0), 0.0)
    if (distance <= rounding).all():
        return
    limit = default_tolerance((P > 0).sum(-1)) if tolerance is None else np.full(distance.shape, float(tolerance))
    limit = np.maximum(limit, rounding)
    bad = ~(distance <= limit)
    within = f"{limit[bad][0]:.1e}" if bad.any() else ""
    input_checks.refuse(bad, total, "the sum of the row P", f"is not 1 (within {within}; tolerance= allows more)")
    _warn_normalised(distance, rounding)
    differs = distance > rounding
    P[differs] /= total[differs, None]


def _without_negative_rounding(
    P: Float[np.ndarray, "..."], S: int, tolerance: float | None
) -> Float[np.ndarray, "..."]:
    """Return P with 0 for small negative numbers; a warning has the smallest."""
    if P.min(initial=0.0) >= 0.0:
        return P
    limit = input_checks.row_sum_tolerance(S) if tolerance is None else tolerance
    small = (P < 0.0) & (np.abs(P) <= limit)
    if not small.any():
        return P
    warn(
        f"P has {int(small.sum())} negative entries, down to {P[small].min():.1g}, read as 0; tolerance=0 refuses them"
    )
    return np.where(small, 0.0, P)


def default_tolerance(positive: Num[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Return the largest error of sums of `positive` six-digit numbers."""
    return SIX_DIGITS * np.maximum(positive, 2)


def _warn_normalised(distance: Float[np.ndarray, "..."], rounding: float) -> None:
    if (distance > rounding).any():
        index = np.unravel_index(int(distance.argmax()), distance.shape)
        location = ", ".join(str(int(i)) for i in index)
        n = int((distance > rounding).sum())
        warn(
            f"P was normalised: {n} row sum{'s' * (n > 1)} differed from 1, by up to {distance.max():.1e} "
            f"(P[{location}]); tolerance=0 refuses such rows"
        )


def _sparse_arrays(
    rows: sparse.csr_array, R: Any, axes: Axes | None, allowed: Any, tolerance: float | None, *, by_action: bool
) -> Arrays:
    """Read a large sparse model, with R [S], [S, A] or sparse."""
    S, A = sparse_models.model_size(rows)
    data = _without_negative_rounding(rows.data, S, tolerance)
    rows = sparse.csr_array((data, rows.indices, rows.indptr), rows.shape)
    pair = np.repeat(np.arange(S * A), np.diff(rows.indptr))
    if sparse_models.is_sparse(R):
        transition_rewards = sparse_models.pair_rows(R, axes, "R")
        if transition_rewards.shape != rows.shape:
            count, actions = sparse_models.model_size(transition_rewards)
            shape = [count * actions, count]
            raise ValueError(f"a sparse R must have the shape of P, [S A, S] = {[S * A, S]}, got {shape}")
        bad = ~np.isfinite(transition_rewards.data)
        if bad.any():
            first, ends = int(bad.argmax()), transition_rewards.indptr
            row, following = int(np.searchsorted(ends, first, "right")) - 1, transition_rewards.indices[first]
            value = transition_rewards.data[first].item()
            raise ValueError(f"R[{row // A}, {row % A}, {following}] = {value!r} is not finite")
        total = np.asarray(rows.sum(1)).reshape(S, A)
        array = np.asarray((rows * transition_rewards).sum(1)).reshape(S, A) / np.where(total > 0.0, total, 1.0)
        masked = np.zeros(array.shape, bool)
    else:
        array, masked = _unmasked(R, "R")
        if array.shape == (A, S) != (S, A) and (axes == "ass" or by_action):
            array, masked = array.T, masked.T
        if array.shape == (S,):
            array, masked = (np.repeat(values[:, None], A, 1) for values in (array, masked))
        if array.shape != (S, A):
            raise ValueError(f"R must be [S] or [S, A] = {[S, A]} with a large sparse P, got {list(array.shape)}")
    total = np.bincount(pair, rows.data, S * A)
    positive = np.bincount(pair, rows.data != 0.0, S * A)
    legal = ((positive > 0) & ~masked.ravel() & (array.ravel() != -np.inf)).reshape(S, A) & as_allowed(allowed, (S, A))
    _check_every_state(legal)
    flat = legal.ravel()
    rounding = input_checks.row_sum_tolerance(S)
    limit = np.maximum(default_tolerance(positive) if tolerance is None else float(tolerance), rounding)
    distance = np.where(flat, np.abs(total - 1.0), 0.0)
    bad = ~(distance <= limit)
    bad[pair[~(rows.data >= 0.0) & flat[pair]]] = True  # also true for NaN
    sparse_models.check_distributions(bad, rows, A)
    _warn_normalised(distance.reshape(S, A), rounding)
    factor = np.where(flat, 1.0 / np.where((distance > rounding) & flat, total, 1.0), 0.0)
    if not (factor == 1.0).all():
        data = np.where(flat[pair], rows.data, 0.0) * factor[pair]
        rows = sparse.csr_array((data, rows.indices, rows.indptr), rows.shape, copy=True)
        rows.eliminate_zeros()  # in place, so not on the caller's indices
    usable = np.where(legal, array, 0.0)
    input_checks.check_finite(usable)
    return Arrays(rows, np.where(legal, usable, -np.inf), legal)


def stand_ins(allowed: Bool[np.ndarray, "*M S A"]) -> Int[np.ndarray, "*M S A"]:
    """Return action indices, with the first allowed one in place of forbidden ones.

    Planning with these copies changes no value.
    """
    return np.where(allowed, np.arange(allowed.shape[-1]), allowed.argmax(-1)[..., None])


def read_gammas(gammas: Any) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " G"], Int[np.ndarray, " n"]]:
    """Return discount factors, their sorted distinct values, and indices into these.

    Raises:
        ValueError: None are given, or one is outside [0, 1 - 1e-9] and not 1.
    """
    values = input_checks.float64(gammas, "gammas")
    if values.ndim != 1 or not values.size:
        raise ValueError(f"gammas must be a non-empty sequence of discount factors, got shape {list(values.shape)}")
    input_checks.check_gammas(values, undiscounted=True)
    near = (values > MAX_GAMMA) & (values < 1.0)
    input_checks.refuse(near, values, "gamma", "is nearer to 1 than 1e-9, where values lose their digits; 1 is allowed")
    if (values[1:] > values[:-1]).all():  # as usual, and much faster than `unique`
        return values, values, np.arange(values.size)
    grid, position = np.unique(values, return_inverse=True)
    return values, grid, position.ravel()


def check_scale(R: Float[np.ndarray, "..."], gamma: float) -> None:
    """Raise a ValueError if values would overflow or lose their digits."""
    size = np.abs(R, where=np.isfinite(R), out=np.zeros(R.shape))
    limit = MAX_VALUE * max(1.0 - gamma, 1e-9)
    input_checks.refuse(size > limit, R, "R", "is so large that values overflow; divide all rewards by a constant")
    if 0.0 < size.max(initial=0.0) < MIN_REWARD:
        input_checks.refuse(
            size > 0.0, R, "R", "is so small that values lose their digits; multiply all rewards by a constant"
        )
