"""Relative value iteration for many discount factors (Puterman 1994, Sec. 6.6).

Relative values h are values minus their first entry, with the same greedy policies. The error shrinks as the chain
forgets its state, for random models far faster than γ.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.science.solvers.action_ties import ROUNDING_SHARE

SWEPT_STATES = 96
"""Smallest number of states for value iteration on sparse models, because grids mix slowly."""

_ROUNDING = 8.0 * float(np.finfo(float).eps)
"""Rounding error of a step's span, times (1 - γ), in units of the largest |R + γ P h|."""


def solve_grid(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    gammas: Float[np.ndarray, " G"],
    max_sweeps: int,
    tolerance: float | None = None,
) -> tuple[Int[np.ndarray, "G S"], Int[np.ndarray, " unsolved"]]:
    """Plan on one MDP for all discount factors of a grid in [0, 1).

    Action values have an error of at most γ span / (1 - γ), with the step's span max - min. A discount factor is solved
    if all actions but one of each state are worse by more than this and rounding (Puterman 1994, Sec. 6.7). It is also
    solved if γ span is so small that the greedy policy is tied with an optimal one (`action_ties`). With a tolerance, γ
    span may instead be the tolerance times the greedy policy's largest |R|, or at the limit of rounding.

    Returns:
        A policy for each discount factor, and the indices of unsolved ones, with meaningless policies.
    """
    S, A = R.shape
    by_action, rewards = P.transpose(1, 0, 2).reshape(A * S, S), R.T[..., None]
    policies, live, h = np.empty((len(gammas), S), np.int16), np.arange(len(gammas)), np.zeros((S, len(gammas)))
    for _ in range(max_sweeps):
        Q = rewards + gammas[live] * (by_action @ h).reshape(A, S, -1)
        value = Q.max(0)
        step, h = value - h, value - value[0]
        error, remaining = gammas[live] * (step.max(0) - step.min(0)), 1.0 - gammas[live]
        rounding = _ROUNDING * np.abs(value).max(0)
        margin = (error + 2.0 * rounding) / remaining
        solved = np.count_nonzero(value - margin <= Q, axis=(0, 1)) == S
        if tolerance is None:
            V = value + 0.5 * gammas[live] * (step.max(0) + step.min(0)) / remaining
            solved |= error + 2.0 * rounding <= 2.0 * ROUNDING_SHARE * np.abs(V).min(0)
        else:
            collected = np.abs(np.take_along_axis(rewards, Q.argmax(0)[None], 0)).max((0, 1))
            solved |= error <= np.maximum(tolerance * collected, rounding / remaining)
        if solved.any():
            policies[live[solved]] = Q[..., solved].argmax(0).T
            live, h = live[~solved], h[:, ~solved]
        if not live.size:
            break
    return policies, live


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
        plans, unsolved_states = solve_grid(P[states][..., states], R[states], gammas, max_sweeps, tolerance)
        own = closure[states] == i
        policies[:, states[own]], unsolved = plans[:, own], np.union1d(unsolved, unsolved_states)
    return policies, unsolved


def _reached(P: Float[np.ndarray, "S A S"]) -> Bool[np.ndarray, "S S"]:
    """Return a mask of the states reachable from each state, itself included."""
    reached = (P > 0.0).any(1) | np.eye(len(P), dtype=bool)
    while (successors := (reached.astype(np.float32) @ reached.astype(np.float32)) > 0.0).sum() > reached.sum():
        reached = successors
    return reached
