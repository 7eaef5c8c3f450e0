"""Policies optimal in some model, and the bound from their number (Theorems 1, 2)."""

from functools import cache
from itertools import product

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.study import horizon_bias, policy_class_constant


@cache
def all_policies(S: int, A: int) -> Int[np.ndarray, "N S"]:
    """Return all A^S deterministic policies."""
    return np.array(list(product(range(A), repeat=S)))


def is_optimal_somewhere(R: Float[np.ndarray, "S A"], gamma: float) -> Bool[np.ndarray, " N"]:
    """Mark the policies optimal at gamma in [0, 1) for some transition probabilities.

    Let D and M be the largest immediate rewards that a policy gives up and earns in a state. Let m be the smallest over
    states of the best reward. The policy is optimal for some probabilities if and only if D is 0 or at most
    gamma (M - m) / (1 - gamma). The page `notes.md` has the proof.
    """
    earned, best = R[np.arange(len(R)), all_policies(*R.shape)], R.max(1)
    given_up = (best - earned).max(1)
    return (given_up == 0.0) | (given_up * (1.0 - gamma) <= gamma * (earned.max(1) - best.min()))


def model_of_policy(
    R: Float[np.ndarray, "S A"], policy: Int[np.ndarray, " S"], gamma: float
) -> Float[np.ndarray, "S A S"]:
    """Return a model where a policy is optimal at gamma.

    `is_optimal_somewhere` must mark this policy. It leads to its best-paid state, other actions to the state with the
    smallest best reward.
    """
    states, best = np.arange(len(R)), R.max(1)
    earned = R[states, policy]
    worst, top = best.argmin(), earned.argmax()
    P = np.zeros((*R.shape, len(R)))
    P[..., worst] = 1.0
    if (earned < best).any():
        P[states, policy] = states == top
        gain = gamma * (earned[top] - best[worst]) / (1.0 - gamma)
        moves = (best[worst] - earned[worst]) / gain
        P[worst, policy[worst]] = moves * (states == top) + (1.0 - moves) * (states == worst)
    return P


def loss_bound(
    gammas: Float[np.ndarray, " G"],
    policies: Float[np.ndarray, " G"] | float,
    n: int,
    S: int,
    A: int,
    gamma_eval: float,
    error: float,
) -> Float[np.ndarray, " G"]:
    """Return the bound of Theorem 2 on the loss, for rewards in [0, 1].

    It fails with probability `error` at most. The planning `gammas` are at most `gamma_eval`, `policies` counts the
    policies optimal in some model, and n the transitions from each pair. Rewards are unknown too, so the second term
    has no factor gamma.
    """
    C = policy_class_constant(m=n, S=S, A=A, policies=policies, delta=error)
    return np.asarray(horizon_bias(gammas, gamma_eval) + C / (1.0 - gammas) ** 2)
