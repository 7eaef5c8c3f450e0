"""Relative value iteration of one MDP, for many discount factors at once (Puterman 1994, Sec. 6.6).

Value iteration applies V <- max_a (R + γ P V) until V no longer changes. The relative values h are V less its first
entry, a constant that no greedy policy depends on. They satisfy the same recursion up to that constant. One sweep is
one product of matrices, P h, in which h has a column for each discount factor. The error shrinks at the rate at which
the chain forgets its state, which for random models is far quicker than γ.
"""

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.solvers.action_ties import ACTION_TIE_TOLERANCE
from pomrl.science.solvers.evaluation import reward_scale

LARGE = 96
"""Fewest states for which sweeps for a whole grid are the first choice where few states follow each pair.

Dense models forget their state within few sweeps, at every size. Grids do not, and LAPACK solves many models at once.
"""

TOLERANCE = ACTION_TIE_TOLERANCE / 8
"""Tolerance with which the error of the values stays well below what makes one action better than another."""

_ROUNDING = 8.0 * float(np.finfo(float).eps)
"""How large rounding lets the span of a step be, times (1 - γ), in units of the largest |h|."""


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
    (S, A), scale = R.shape, reward_scale(R[None]).item()
    by_action, rewards = P.transpose(1, 0, 2).reshape(A * S, S), R.T[..., None]
    policies, live, h = np.empty((len(gammas), S), np.int16), np.arange(len(gammas)), np.zeros((S, len(gammas)))
    for _ in range(max_sweeps):
        Q = rewards + gammas[live] * (by_action @ h).reshape(A, S, -1)
        value = Q.max(0)
        step, h = value - h, value - value[0]
        error, remaining = gammas[live] * (step.max(0) - step.min(0)), 1.0 - gammas[live]
        rounding = _ROUNDING * np.abs(h).max(0)
        margin = (error + 2.0 * (ACTION_TIE_TOLERANCE * scale + rounding)) / remaining
        alone = np.count_nonzero(value - margin <= Q, axis=(0, 1)) == S
        solved = alone | (error <= np.maximum(tolerance * scale, rounding / remaining))
        if solved.any():
            policies[live[solved]] = Q[..., solved].argmax(0).T
            live, h = live[~solved], h[:, ~solved]
        if not live.size:
            break
    return policies, live
