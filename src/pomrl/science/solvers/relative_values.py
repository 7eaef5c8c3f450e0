"""Relative value iteration of one MDP, for many discount factors or many policies at once (Puterman 1994, Sec. 6.6).

Value iteration applies V <- max_a (R + γ P V) until V no longer changes. The relative values h are V less its first
entry, a constant that no greedy policy depends on. They satisfy the same recursion up to that constant,

    h(s) <- max_a [ R(s, a) + γ Σ_s' P(s, a, s') h(s') ] - c,    with c such that h(first state) = 0.

One sweep is one product of matrices, P h, in which h has a column for each discount factor. The error shrinks at the
rate at which the chain forgets its state, which for random models is far quicker than γ. A discount factor is finished
as soon as bounds on the action values prove that in every state all actions but one are worse. Where a chain mixes
slowly, as rings and nearly deterministic models do, thousands of sweeps can be needed; the functions then return the
columns that they have not solved, for the caller to solve otherwise.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from pomrl.science.solvers.evaluation import ACTION_TIE_TOLERANCE, policy_value, reward_scale

LARGE = 48
"""Smallest number of states for which a product for `GRID` columns is faster than solving them one by one by LAPACK."""

GRID = 8
"""Smallest number of columns for which their common product is faster than solving them one by one by LAPACK."""

TOLERANCE = ACTION_TIE_TOLERANCE / 8
"""Tolerance with which the error of the values stays well below what makes one action better than another."""

_ROUNDING = 4.0
"""How much of the span of a step rounding may account for, in units of the machine epsilon times the largest |h|."""


_ROUGH_SWEEPS = 5
"""Sweeps in single precision, which take half the time, before those in double precision that decide."""


_SLOW = 256
"""Number of sweeps after each of which greedy policies are verified by evaluating them."""


def few_sweeps(S: int, A: int) -> int:
    """Return a number of sweeps that costs about as much as solving all columns by LAPACK, after which to give up."""
    return 20 + S // (2 * A)


def solve_grid(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    gammas: Float[np.ndarray, " G"],
    tolerance: float,
    max_sweeps: int,
) -> tuple[Int[np.ndarray, "G S"], Int[np.ndarray, " unsolved"]]:
    """Plan on one MDP for all discount factors of a grid.

    A discount factor is solved when γ times the span (max - min) of the step from h to the next one is at most
    tolerance max(1, max |R|), or as small as rounding lets it become. The greedy policy then loses at most that, over
    1 - γ, of the optimal value. It is solved earlier where all actions but one of each state can be eliminated
    (Puterman 1994, Sec. 6.7): V* - h lies between the smallest and the largest entry of the step, over 1 - γ, in every
    state, so that the difference between two action values has an error of at most γ span / (1 - γ), and an action that
    is worse by more than that and a margin for ties is not optimal.

    Where convergence is slow, as in models with several closed classes of states and a discount factor near 1, the
    greedy policy is evaluated exactly now and then. Its discount factor is solved if no action gains more than the
    tolerance against that policy. Otherwise the iteration goes on from the policy's values: these only rise from then
    on, each policy that is evaluated is better than the one before, and the iteration ends, because policies are
    finitely many.

    Args:
        P: Transition probabilities.
        R: Rewards.
        gammas: Discount factors, in [0, 1).
        tolerance: Largest loss of the policies, times (1 - γ), for rewards in [-1, 1].
        max_sweeps: Number of sweeps after which to stop.

    Returns:
        A policy for each discount factor, and the indices of the discount factors that were not solved within
        `max_sweeps`, whose policies are meaningless.
    """
    (S, A), G = R.shape, len(gammas)
    scale = reward_scale(R[None]).item()
    by_action = np.ascontiguousarray(P.transpose(1, 0, 2)).reshape(A * S, S)
    rewards = np.ascontiguousarray(R.T)[..., None]
    solution = np.zeros((A, S, G))
    P_32, R_32, discount = (array.astype(np.float32) for array in (by_action, rewards / scale, gammas))
    live = np.arange(G)
    h = scale * _rough_start(lambda h: ((P_32 @ (discount * h)).reshape(A, S, G) + R_32).max(0), S, G)
    for sweep in range(1, max_sweeps + 1):
        Q = (by_action @ h).reshape(A, S, len(live))
        Q *= gammas[live]
        Q += rewards
        value = Q.max(0)
        step = value - h
        h = value - value[0]
        solved = _is_solved(Q, value, step, h, gammas[live], tolerance * scale, ACTION_TIE_TOLERANCE * scale)
        if sweep % _SLOW == 0:
            for i in np.flatnonzero(~solved):
                gamma = float(gammas[live[i]])
                Q[..., i], solved[i] = _verify_greedy_policy(P, R, gamma, Q[..., i], tolerance * scale)
            h = Q.max(0) - Q[:, 0].max(0)
        if solved.any():
            solution[..., live[solved]] = Q[..., solved]
            live, h = live[~solved], np.ascontiguousarray(h[:, ~solved])
            if not live.size:
                break
    return _greedy(solution, ACTION_TIE_TOLERANCE * scale), live


def _is_solved(
    Q: Float[np.ndarray, "A S G"],
    value: Float[np.ndarray, "S G"],
    step: Float[np.ndarray, "S G"],
    h: Float[np.ndarray, "S G"],
    gammas: Float[np.ndarray, " G"],
    tolerance: float,
    tie: float,
) -> Bool[np.ndarray, " G"]:
    """Return for which discount factors a sweep has converged, or has left one action in each state.

    Args:
        Q: The action values after the sweep.
        value: The largest of them in each state.
        step: By how much the sweep has changed the values.
        h: The values after the sweep, relative to the first state.
        gammas: The discount factors.
        tolerance: Largest loss of the greedy policy, times (1 - γ), in units of the rewards.
        tie: Largest difference, times (1 - γ), of action values that count as equal, in units of the rewards.
    """
    rounding = _ROUNDING * np.finfo(float).eps * np.abs(h).max(0)
    error = gammas * (step.max(0) - step.min(0))
    margin = (error + 2.0 * (tie + rounding)) / (1.0 - gammas)
    actions_left = np.count_nonzero(value - margin <= Q, axis=(0, 1))
    return (error <= np.maximum(tolerance, rounding)) | (actions_left == len(h))


def evaluate_policies(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    policies: Int[np.ndarray, "G S"],
    gamma: float,
    tolerance: float,
    max_sweeps: int,
) -> tuple[Float[np.ndarray, "G S"], Int[np.ndarray, " unsolved"]]:
    """Evaluate many policies of one MDP at one discount factor.

    The iteration is that of `solve_grid`, with the action of each policy in place of the best action. Once the span of
    a step is small, V is h plus a constant that follows from the step, with an error of at most γ / (1 - γ) times the
    span.

    Args:
        P: Transition probabilities.
        R: Rewards.
        policies: The actions of G policies.
        gamma: Discount factor, in [0, 1).
        tolerance: Largest error of the values, times (1 - γ), for rewards in [-1, 1].
        max_sweeps: Number of sweeps after which to stop.

    Returns:
        The values of the policies, and the indices of the policies that were not solved within `max_sweeps`, whose
        values are meaningless.
    """
    (S, A), G = R.shape, len(policies)
    scale = reward_scale(R[None]).item()
    by_action, rewards = P.transpose(1, 0, 2).reshape(A * S, S), R.T.reshape(A * S)
    used, rows = np.unique(policies.T.astype(np.intp) * S + np.arange(S)[:, None], return_inverse=True)
    by_action, rewards = by_action[used], rewards[used]
    values = np.zeros((G, S))
    P_32, R_32, discount = by_action.astype(np.float32), (rewards / scale).astype(np.float32)[rows], np.float32(gamma)
    live = np.arange(G)
    h = scale * _rough_start(lambda h: np.take_along_axis(P_32 @ (discount * h), rows, 0) + R_32, S, G)
    for _ in range(max_sweeps):
        value = rewards[rows] + gamma * np.take_along_axis(by_action @ h, rows, 0)
        step = value - h
        low, high = step.min(0), step.max(0)
        solved = gamma * (high - low) <= tolerance * scale
        if solved.any():
            constant = gamma / (1.0 - gamma) * 0.5 * (low + high)[solved]
            values[live[solved]] = (value[:, solved] + constant).T
            live, rows = live[~solved], rows[:, ~solved]
            if not live.size:
                break
        h = np.ascontiguousarray(value[:, ~solved])
    return values, live


def _verify_greedy_policy(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    gamma: float,
    Q: Float[np.ndarray, "A S"],
    tolerance: float,
) -> tuple[Float[np.ndarray, "A S"], bool]:
    """Return the action values of Q's greedy policy, and whether no action gains more than the tolerance."""
    V = policy_value(P, R, Q.argmax(0), gamma)
    exact = R + gamma * (P @ V)
    rounding = _ROUNDING * len(V) * np.finfo(float).eps * np.abs(V).max()
    return exact.T, bool((exact.max(1) - V).max() <= max(tolerance, rounding))


def _rough_start(
    sweep: Callable[[Float32[np.ndarray, "S G"]], Float32[np.ndarray, "S G"]], S: int, G: int
) -> Float[np.ndarray, "S G"]:
    """Return relative values after a few sweeps in single precision; any start is right, and a near one is quicker."""
    h = np.zeros((S, G), np.float32)
    for _ in range(_ROUGH_SWEEPS):
        value = sweep(h)
        h = value - value[0]
    return h.astype(float)


def _greedy(Q: Float[np.ndarray, "A S G"], tolerance: float) -> Int[np.ndarray, "G S"]:
    """Return the greedy policy of each column; it keeps an action of the previous column unless another is better."""
    best, value = Q.argmax(0), Q.max(0)
    policies = np.empty(best.T.shape, np.int16)
    states, current = np.arange(len(best)), best[:, 0]
    for g in range(Q.shape[2]):
        current = np.where(value[:, g] - Q[current, states, g] > tolerance, best[:, g], current)
        policies[g] = current
    return policies
