"""Planning and evaluation of an MDP in which few states follow each pair (s, a), as a sparse matrix.

The rows P(s, a, ·) are a sparse matrix with a row for each pair, in the order a S + s, in which maxima over actions are
those of whole arrays and take a fifth of the time. Nothing here makes an array of S² entries.

A policy's value solves (I - γ P_π) V = R_π. SuperLU solves it exactly, but its factors may fill in: those of 2,000
states with 8 random successors each have 2 million entries, those of a grid of as many states 40 thousand. BiCGSTAB
needs products with P_π alone, and few of them where the chain mixes quickly, which is where factors fill in. It is
tried for `STEPS` steps; once these do not suffice, later policies of the model are factorised. Its values are accepted
by their residual r, which bounds the error by max |r| / (1 - γ).
"""

# SciPy's sparse linear algebra comes without types.
# pyright: reportMissingTypeStubs=false

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array, eye_array

from pomrl.science.solvers.action_ties import ACTION_TIE_TOLERANCE, action_tie_tolerance
from pomrl.science.solvers.evaluation import reward_scale

LARGE = 128
"""Fewest states for which sparse matrices can be faster than dense ones."""

SHARE = 0.05
"""Largest share of positive transition probabilities for which they are."""

MOST_ROUNDS = 10_000
"""Evaluations at one discount factor after which planning fails; tens are usual."""

ITERATED = 600
"""Fewest states for which BiCGSTAB is tried."""

STEPS, STARTS = 100, 5
"""Steps of BiCGSTAB, and how often it starts anew from the true residual, after which policies are factorised."""

TOLERANCE = ACTION_TIE_TOLERANCE / 8
"""Largest residual of values, for rewards in [-1, 1]; their error then stays well below what ties two actions."""

_ROUNDING = 8.0
"""How large rounding lets a residual be, in units of the machine epsilon times the largest |V|."""


def pays(P: Float[np.ndarray, "S A S"]) -> bool:
    """Return whether a model is large enough, and few enough of its transition probabilities are positive."""
    return len(P) >= LARGE and few_follow(P)


def few_follow(P: Float[np.ndarray, "*n S A S"]) -> bool:
    """Return whether few states follow each pair (s, a)."""
    return bool(np.count_nonzero(P) <= SHARE * P.size)


def rows_of(P: Float[np.ndarray, "S A S"]) -> csr_array:
    """Return the rows P(s, a, ·) as a sparse matrix with a row for each pair, a S + s."""
    return csr_array(P.transpose(1, 0, 2).reshape(-1, P.shape[-1]))


def by_action(pairs: csr_array, A: int) -> csr_array:
    """Return the rows in the order a S + s of a matrix that has them in the order s A + a."""
    return pairs[np.arange(len(pairs.indptr) - 1).reshape(-1, A).T.ravel()]


def plan(
    rows: csr_array, R: Float[np.ndarray, "S A"], gammas: Float[np.ndarray, " G"]
) -> tuple[Int[np.ndarray, "G S"], Float[np.ndarray, "G S"]]:
    """Return an optimal policy at each discount factor, and its values there, by policy iteration.

    Each discount factor starts from the policy and the values of the one before. An action is kept unless another is
    better by more than `action_tie_tolerance`.

    Args:
        rows: The rows of the model (`rows_of`).
        R: Rewards R(s, a).
        gammas: Discount factors in [0, 1); ascending ones are planned fastest.

    Raises:
        ArithmeticError: A policy keeps changing, which only rounding errors beyond the tolerance can cause.
    """
    solver, scale, rewards = ChainSolver(rows, R), reward_scale(R[None]), np.ascontiguousarray(R.T)
    policies, values = np.empty((len(gammas), len(R)), np.int16), np.empty((len(gammas), len(R)))
    policy, V = R.argmax(1), np.zeros(len(R))
    for g, gamma in enumerate(gammas.tolist()):
        tie = action_tie_tolerance(scale, gamma).item()
        for _ in range(MOST_ROUNDS):
            V = solver.value(policy, gamma, V)
            Q = rewards + gamma * (rows @ V).reshape(rewards.shape)
            better = np.flatnonzero(Q.max(0) - V > tie)
            if not better.size:
                break
            policy[better] = Q[:, better].argmax(0)
        else:
            raise ArithmeticError(f"gamma = {gamma}: policy iteration does not end after {MOST_ROUNDS} evaluations")
        policies[g], values[g] = policy, V
    return policies, values


def policy_values(
    rows: csr_array, R: Float[np.ndarray, "S A"], policies: Int[np.ndarray, "k S"], gamma: float
) -> Float[np.ndarray, "k S"]:
    """Return the exact values of policies."""
    solver, V, values = ChainSolver(rows, R), np.zeros(len(R)), np.empty(policies.shape)
    for i, policy in enumerate(policies):
        V = values[i] = solver.value(policy, gamma, V)
    return values


class ChainSolver:
    """Solves for the values of policies of one model, by BiCGSTAB until it was once too slow."""

    def __init__(self, rows: csr_array, R: Float[np.ndarray, "S A"]) -> None:
        self._rows, self._R = rows, R
        self._tolerance = TOLERANCE * reward_scale(R[None]).item()
        self._iterates = len(R) >= ITERATED

    def value(
        self, policy: Int[np.ndarray, " S"], gamma: float, start: Float[np.ndarray, " S"]
    ) -> Float[np.ndarray, " S"]:
        """Return the value of a policy, to rounding or with a residual of at most `TOLERANCE` max(1, max |R|).

        Args:
            policy: The action in each state.
            gamma: Discount factor, in [0, 1).
            start: Values that iteration starts from; the nearer, the quicker.
        """
        from scipy.sparse.linalg import bicgstab, splu  # here, because it takes long to load

        states, V = np.arange(len(policy)), start
        P_pi, R_pi = self._rows[policy.astype(np.intp) * len(policy) + states], self._R[states, policy]
        chain = eye_array(len(policy), format="csr") - gamma * P_pi
        for _ in range(STARTS * self._iterates):
            residual = R_pi - chain @ V
            goal = max(self._tolerance, _ROUNDING * float(np.finfo(float).eps * np.abs(V).max()))
            if np.abs(residual).max() <= goal:
                return V
            V = V + bicgstab(chain, residual, rtol=0.0, atol=0.5 * goal, maxiter=STEPS)[0]
        self._iterates = False
        return splu(chain.tocsc()).solve(R_pi)
