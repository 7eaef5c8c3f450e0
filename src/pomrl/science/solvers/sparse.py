"""The exact value of a policy of an MDP in which few states follow each pair (s, a), by a sparse factorisation."""

# SciPy's sparse linear algebra comes without types.
# pyright: reportMissingTypeStubs=false

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import splu

LARGE = 128
"""Fewest states for which a sparse factorisation can be faster than a dense one."""

SHARE = 0.05
"""Largest share of positive transition probabilities for which it is."""

FEW = 0.1
"""Largest share of positive transition probabilities for which smaller models are solved by LAPACK alone."""


def pays(P: Float[np.ndarray, "S A S"]) -> bool:
    """Return whether a model is large enough, and few enough of its transition probabilities are positive."""
    return len(P) >= LARGE and bool(np.count_nonzero(P) <= SHARE * P.size)


def solved_densely(P: Float[np.ndarray, "M S A S"]) -> Bool[np.ndarray, " M"]:
    """Return which models with few transitions are so small that LAPACK solves them fastest, all in one call.

    They mix slowly, so that relative value iteration takes many sweeps.
    """
    few = np.count_nonzero(P, axis=(1, 2, 3)) <= FEW * P[:1].size
    return few if P.shape[1] < LARGE else np.zeros(len(P), bool)


def rows_of(P: Float[np.ndarray, "S A S"]) -> csr_array:
    """Return the rows P(s, a, ·) as a sparse matrix with a row for each pair, s A + a."""
    return csr_array(P.reshape(-1, P.shape[-1]))


def policy_value(
    rows: csr_array, R: Float[np.ndarray, "S A"], policy: Int[np.ndarray, " S"], gamma: float
) -> Float[np.ndarray, " S"]:
    """Return the value of a policy, the solution of (I - γ P_π) V = R_π, by SuperLU.

    Args:
        rows: The rows of the model (`rows_of`).
        R: Rewards R(s, a).
        policy: The action that the policy takes in each state.
        gamma: Discount factor, in [0, 1).
    """
    S, A = R.shape
    states = np.arange(S)
    system = eye_array(S, format="csr") - gamma * rows[states * A + policy]
    return splu(system.tocsc()).solve(R[states, policy])
