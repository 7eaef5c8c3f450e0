"""Relative value iteration for many discount factors at once (Puterman 1994, Sec. 6.6).

Value iteration applies V <- max_a (R + γ P V). The relative values h are V less its first entry, which does not change
greedy policies. One sweep is one product P h, with a column for each discount factor. The error shrinks as the chain
forgets its state, for random models far quicker than γ.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.science.solvers.action_ties import ROUNDING_SHARE

SWEPT_STATES = 96
"""Fewest states to try sweeps first if few states follow each pair; grids mix slowly."""

_ROUNDING = 8.0 * float(np.finfo(float).eps)
"""Rounding of a step's span, times (1 - γ), in units of the largest |R + γ P h|."""


def solve_grid(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    gammas: Float[np.ndarray, " G"],
    max_sweeps: int,
    tolerance: float | None = None,
) -> tuple[Int[np.ndarray, "G S"], Int[np.ndarray, " unsolved"]]:
    """Plan on one MDP for all discount factors of a grid in [0, 1).

    Returns a policy for each discount factor, and the indices of unsolved ones, with meaningless policies.

    Action values have an error of at most γ span / (1 - γ), with the step's span max - min. A discount factor is solved
    if all actions but one of each state are worse by more than that and rounding (Puterman 1994, Sec. 6.7), or if γ
    span is so small that the greedy policy is tied with an optimal one (`action_ties`). With a tolerance, γ span may be
    the tolerance times the greedy policy's largest |R|, or at the limit of rounding.
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
    """Plan as `solve_grid`, each state within the states that it can reach.

    So steps, rounding errors and rewards of unreachable states do not matter.
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
    """Return which states can follow each state, itself included."""
    reached = (P > 0.0).any(1) | np.eye(len(P), dtype=bool)
    while (successors := (reached.astype(np.float32) @ reached.astype(np.float32)) > 0.0).sum() > reached.sum():
        reached = successors
    return reached
