"""Relative value iteration for many discount factors (Puterman 1994, Sec. 6.6).

Relative values h are values minus their first entry, with the same greedy policies. The error shrinks as the chain
forgets its state, for random models far faster than γ.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.science.solvers.action_ties import ROUNDING_SHARE

SWEPT_STATES = 96
"""Smallest number of states for value iteration on sparse models, because grids mix slowly."""

VALUE_SHARE = ROUNDING_SHARE / 8.0
"""Largest error of iterated values, in units of the smallest |V|; below the tolerance of ties."""

SIZE_SHARE = 1e-6
"""Largest error of iterated values of |R|, in the same units; they only bound rounding errors."""

SWEEPS_PER_CHECK = 5
"""Sweeps of an evaluation between checks of its error, which take as long as a sweep."""

_ROUNDING = 8.0 * float(np.finfo(float).eps)
"""Rounding error of a step's span, times (1 - γ), in units of the largest |R + γ P h|."""


def solve_grid(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    gammas: Float[np.ndarray, " G"],
    max_sweeps: int,
    tolerance: float | None = None,
) -> tuple[Int[np.ndarray, "G S"], Int[np.ndarray, " unsolved"], Float[np.ndarray, "G S"]]:
    """Plan on one MDP for all discount factors of a grid in [0, 1).

    Action values have an error of at most γ span / (1 - γ), with the step's span max - min. A discount factor is solved
    if all actions but one of each state are worse by more than this and rounding (Puterman 1994, Sec. 6.7). It is also
    solved if γ span is so small that the greedy policy is tied with an optimal one (`action_ties`). With a tolerance, γ
    span may instead be the tolerance times the greedy policy's largest |R|, or at the limit of rounding.

    Returns:
        A policy for each discount factor; the indices of unsolved ones, with meaningless policies; relative values.
    """
    S, A = R.shape
    by_action, rewards = P.transpose(1, 0, 2).reshape(A * S, S), R.T[..., None]
    policies, live, h = np.empty((len(gammas), S), np.int16), np.arange(len(gammas)), np.zeros((S, len(gammas)))
    relative, every_pair = np.zeros(policies.shape), np.ones(A * S)
    for _ in range(max_sweeps):
        Q = rewards + gammas[live] * (by_action @ h).reshape(A, S, -1)
        value = Q.max(0)
        step, h = value - h, value - value[0]
        low, high, size = step.min(0), step.max(0), np.abs(value).max(0)
        error, remaining, rounding = gammas[live] * (high - low), 1.0 - gammas[live], _ROUNDING * size
        is_optimal = value - (error + 2.0 * rounding) / remaining <= Q
        solved = every_pair @ is_optimal.reshape(A * S, -1).astype(float) == S  # faster than a count of booleans
        if tolerance is None:
            middle = 0.5 * gammas[live] * (high + low) / remaining
            if (error + 2.0 * rounding <= 2.0 * ROUNDING_SHARE * (size + np.abs(middle))).any():
                solved |= error + 2.0 * rounding <= 2.0 * ROUNDING_SHARE * np.abs(value + middle).min(0)
        else:
            collected = np.abs(np.take_along_axis(rewards, Q.argmax(0)[None], 0)).max((0, 1))
            solved |= error <= np.maximum(tolerance * collected, rounding / remaining)
        if solved.any():
            policies[live[solved]], relative[live[solved]] = Q[..., solved].argmax(0).T, h[:, solved].T
            live, h = live[~solved], h[:, ~solved]
        if not live.size:
            break
    return policies, live, relative


def evaluate_grid(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "k S A"],
    policies: Int[np.ndarray, "G S"],
    gammas: Float[np.ndarray, " G"],
    start: Float[np.ndarray, "G S"],
    max_checks: int,
) -> tuple[Float[np.ndarray, "k G S"], Int[np.ndarray, " unsolved"]]:
    """Evaluate a policy at each discount factor of a grid in [0, 1), for R and, with k = 2, |R|.

    With relative values h, V is R + γ P h plus γ / (1 - γ) times a number within the bounds of the step. A discount
    factor is solved if the error is at most `VALUE_SHARE` of the smallest |V| of the last rewards, or `SIZE_SHARE` for
    |R|. Sweeps begin at `start`, in groups of `SWEEPS_PER_CHECK`.

    Returns:
        The values, and the indices of unsolved discount factors, with meaningless values.
    """
    k, S, A = R.shape
    pairs, is_used = np.arange(S)[:, None] * A + policies.T, np.zeros(S * A, bool)
    is_used[pairs] = True
    rows, position = P.reshape(S * A, S)[is_used], (is_used.cumsum() - 1)[pairs]
    rewards = R.reshape(k, S * A).T[pairs].swapaxes(1, 2)
    values, live, h = np.empty((k, *policies.shape)), np.arange(len(gammas)), np.zeros(rewards.shape)
    h[:, 0], shares = start.T, np.array([[VALUE_SHARE], [SIZE_SHARE]])[:k]
    for _ in range(max_checks):
        entry = position[:, None, live] * h[0].size + np.arange(h[0].size).reshape(h[0].shape)
        paid, before, discount = rewards[..., live], h, gammas[live]
        for _ in range(SWEEPS_PER_CHECK):
            before, h = h, (rows @ h.reshape(S, -1)).take(entry) * discount + paid
        low, high = (h - before).min(0), (h - before).max(0)
        share = discount / (1.0 - discount)
        V, error = h + 0.5 * share * (low + high), share * (high - low + 2.0 * _ROUNDING * np.abs(h).max(0))
        solved = (error <= shares * np.abs(V[:, -1]).min(0)).all(0)
        values[:, live[solved]] = V[..., solved].transpose(1, 2, 0)
        live, h = live[~solved], (h - h[0])[..., ~solved]
        if not live.size:
            break
    return values, live


def solve_by_closures(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    gammas: Float[np.ndarray, " G"],
    max_sweeps: int,
    tolerance: float,
) -> tuple[Int[np.ndarray, "G S"], Int[np.ndarray, " unsolved"]]:
    """Plan by `solve_grid` separately on the states reachable from each state.

    So unreachable states do not affect steps, rounding errors or rewards.
    """
    policies, unsolved = np.empty((len(gammas), len(R)), np.int16), np.empty(0, np.intp)
    closures, closure = np.unique(_reached(P), axis=0, return_inverse=True)
    for i, members in enumerate(closures):
        states = np.flatnonzero(members)
        plans, unsolved_states, _ = solve_grid(P[states][..., states], R[states], gammas, max_sweeps, tolerance)
        own = closure[states] == i
        policies[:, states[own]], unsolved = plans[:, own], np.union1d(unsolved, unsolved_states)
    return policies, unsolved


def _reached(P: Float[np.ndarray, "S A S"]) -> Bool[np.ndarray, "S S"]:
    """Return a mask of the states reachable from each state, itself included."""
    reached = (P > 0.0).any(1) | np.eye(len(P), dtype=bool)
    while (successors := (reached.astype(np.float32) @ reached.astype(np.float32)) > 0.0).sum() > reached.sum():
        reached = successors
    return reached
