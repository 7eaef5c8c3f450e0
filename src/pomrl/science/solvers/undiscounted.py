"""Undiscounted planning and evaluation of proper policies.

A state is terminal if all actions stay there with reward 0. A policy is proper if it reaches a terminal state from each
state with probability 1. Its value solves (I - P_π) V = R_π on the other states (Bertsekas and Tsitsiklis 1991).
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.science.solvers import ModelStack, PolicyGrid, RewardStack
from pomrl.science.solvers.action_ties import best_of_better, excess, signed_and_absolute
from pomrl.science.solvers.evaluation import action_values, chain_value

MAX_EXPECTED_STEPS = 60_000.0
"""Largest expected number of steps, for errors of values below 1e-6 with rewards in [0, 1]."""


class NeverEndsError(ValueError):
    """An error for a state without an accurate undiscounted value."""


def plan(P: ModelStack, R: RewardStack) -> Int[np.ndarray, "M S"]:
    """Return the best proper policy of each model, by policy iteration.

    NeverEndsError: a policy gains reward for ever, or no policy is proper.
    """
    policy, is_terminal = _proper_policy(P, terminal(P, R)), terminal(P, R)
    models, undiscounted, reason = np.arange(len(P)), np.ones((len(P), 1)), "gains reward for ever under some policy"
    while True:
        sides = [(side, _values(P, side, policy, models, is_terminal, reason)) for side in signed_and_absolute(R)]
        Q = np.stack([action_values(P, side, V[:, None], undiscounted)[:, 0] for side, V in sides])
        gain = excess(Q, np.stack([V for _, V in sides])[..., None])
        is_better = (gain > 0.0).any(-1) & ~is_terminal
        if not is_better.any():
            return policy
        # the improvement of a proper policy is proper, or gains reward for ever
        policy = np.where(is_better, best_of_better(gain), policy)


def policy_values(P: ModelStack, R: RewardStack, policies: PolicyGrid) -> Float[np.ndarray, "k S"]:
    """Return the values of k = M G policies; NeverEndsError for improper ones."""
    M, G, S = policies.shape
    return _values(
        P,
        R,
        policies.reshape(M * G, S),
        np.repeat(np.arange(M), G),
        terminal(P, R),
        "reaches no terminal state under its policy",
    )


def terminal(P: ModelStack, R: RewardStack) -> Bool[np.ndarray, "M S"]:
    """Return a mask of the terminal states."""
    return (P.diagonal(0, 1, 3) == 1.0).all(1) & (R == 0.0).all(-1)


def _proper_policy(P: ModelStack, is_terminal: Bool[np.ndarray, "M S"]) -> Int[np.ndarray, "M S"]:
    reached, policy = is_terminal, np.zeros(is_terminal.shape, np.intp)
    while not reached.all():
        is_nearer = (P * reached[:, None, None]).sum(-1) > 0.0
        is_new = is_nearer.any(-1) & ~reached
        _refuse(
            ~reached & ~is_new.any(-1, keepdims=True), np.arange(len(P)), "reaches no terminal state under any policy"
        )
        policy = np.where(is_new, is_nearer.argmax(-1), policy)
        reached = reached | is_new
    return policy


def _values(
    P: ModelStack,
    R: RewardStack,
    policy: Int[np.ndarray, "k S"],
    model: Int[np.ndarray, " k"],
    is_terminal: Bool[np.ndarray, "M S"],
    reason: str,
) -> Float[np.ndarray, "k S"]:
    rows, is_live = (model[:, None], np.arange(P.shape[1]), policy), ~is_terminal[model]
    # rows of terminal states are 0, so that the equations of a proper policy have one solution
    P_pi = np.where(is_live[..., None], P[rows], 0.0)
    reached, before = ~is_live, np.zeros(1)
    while before.sum() != reached.sum():
        before, reached = reached, reached | ((P_pi * reached[:, None]).sum(-1) > 0.0)
    _refuse(~reached, model, reason)
    steps = chain_value(P_pi, is_live.astype(float), 1.0)
    _refuse(
        ~(steps <= MAX_EXPECTED_STEPS),
        model,
        f"takes more than {MAX_EXPECTED_STEPS:.0f} expected steps to a terminal state",
    )
    return chain_value(P_pi, R[rows], 1.0)


def _refuse(bad: Bool[np.ndarray, "k S"], model: Int[np.ndarray, " k"], reason: str) -> None:
    if bad.any():
        i, state = np.argwhere(bad)[0].tolist()
        raise NeverEndsError(f"model {model[i]}: state {state} {reason}; set gamma or gamma_eval below 1")
