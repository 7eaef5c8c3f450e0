"""Relative value iteration of one MDP, for all discount factors of a grid at once (Puterman, Sec. 6.6).

h <- max_a (R + gamma P h), less its first entry: the values up to a constant that depends on gamma, which no greedy
policy depends on. One sweep is one product of matrices, P h, with a column of h for each discount factor. Its error
shrinks at the rate at which the chain forgets its state, which for random models is far quicker than gamma; where the
chain is slow to mix (rings, nearly deterministic models) thousands of sweeps can be needed.
"""

import numpy as np
from jaxtyping import Float, Int

from pomrl.evaluation import TIE_TOLERANCE

_ROUNDING = 4.0


def solve_grid(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    gammas: Float[np.ndarray, " G"],
    tolerance: float,
    max_sweeps: int,
) -> tuple[Int[np.ndarray, "G S"], Int[np.ndarray, " unsolved"]]:
    """Policies for each discount factor, and the indices of those that were not solved in so many sweeps.

    A column is solved when gamma times the span of a step is at most tolerance max(1, |R|), or what rounding leaves of
    it; then the greedy policy loses at most that over 1 - gamma. The policies of unsolved columns mean nothing.
    """
    (S, A), G = R.shape, len(gammas)
    scale = max(1.0, float(np.abs(R).max()))
    by_action = np.ascontiguousarray(P.transpose(1, 0, 2)).reshape(A * S, S)
    rewards = np.ascontiguousarray(R.T)[..., None]
    solution = np.zeros((A, S, G))
    live, h = np.arange(G), np.zeros((S, G))
    for _ in range(max_sweeps):
        Q = (by_action @ h).reshape(A, S, len(live))
        Q *= gammas[live]
        Q += rewards
        value = Q.max(0)
        step = value - h
        h = value - value[0]
        rounding = _ROUNDING * np.finfo(float).eps * np.abs(h).max(0)
        solved = gammas[live] * (step.max(0) - step.min(0)) <= np.maximum(tolerance * scale, rounding)
        if solved.any():
            solution[..., live[solved]] = Q[..., solved]
            live, h = live[~solved], np.ascontiguousarray(h[:, ~solved])
            if not live.size:
                break
    return _greedy(solution, TIE_TOLERANCE * scale), live


def evaluate_policies(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    policies: Int[np.ndarray, "G S"],
    gamma: float,
    tolerance: float,
    max_sweeps: int,
) -> tuple[Float[np.ndarray, "G S"], Int[np.ndarray, " unsolved"]]:
    """Values of many policies of one MDP at one discount factor, and the indices of those that were not solved.

    The same iteration with the policies' rows of P h in place of the best ones. Once the span of a step is small, the
    values are h plus a constant, which the step gives: their error is at most gamma / (1 - gamma) of the span.
    """
    (S, A), G = R.shape, len(policies)
    scale = max(1.0, float(np.abs(R).max()))
    by_action, rewards = P.transpose(1, 0, 2).reshape(A * S, S), R.T.reshape(A * S)
    rows = policies.T * S + np.arange(S)[:, None]
    values = np.zeros((G, S))
    live, h = np.arange(G), np.zeros((S, G))
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


def _greedy(Q: Float[np.ndarray, "A S G"], tolerance: float) -> Int[np.ndarray, "G S"]:
    """Greedy policies along the grid; each keeps the actions of the one before where none is better than they are."""
    best, value = Q.argmax(0), Q.max(0)
    policy = np.empty(best.T.shape, np.intp)
    states, present = np.arange(len(best)), best[:, 0]
    for g in range(Q.shape[2]):
        present = np.where(value[:, g] - Q[present, states, g] > tolerance, best[:, g], present)
        policy[g] = present
    return policy
