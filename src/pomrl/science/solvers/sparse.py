"""Planning and evaluation of an MDP in which few states follow each pair (s, a), as a sparse matrix.

The rows P(s, a, ·) are a sparse matrix with a row for each pair, in the order a S + s, in which maxima over actions are
those of whole arrays and take a fifth of the time. Nothing here makes an array of S² entries.

Planning alternates the exact evaluation of a policy with sweeps of value iteration,

    V <- (I - γ P_π)⁻¹ R_π,    V <- max_a R + γ P V  n times,    π <- argmax_a R + γ P V,

and is modified policy iteration (Puterman 1994, Sec. 6.5) in between: after each sweep that leaves the policy as it is,
`_PARTIAL` sweeps for the policy alone follow, which cost a fraction. So few policies are evaluated that would change
anyhow. Sweeps go on for as long as they cost `_SWEPT_FOR` times what an evaluation does. In grids with a distant goal
they find exact values within that, and nothing is factorised. Where they once do not, as near γ = 1 in models that mix
slowly, later ones end when the policy has settled. Planning ends where the value of the policy proves that no action is
better.
"""

# SciPy's sparse linear algebra comes without types.
# pyright: reportMissingTypeStubs=false

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from pomrl.science.solvers.action_ties import action_tie_tolerance
from pomrl.science.solvers.evaluation import reward_scale
from pomrl.science.solvers.sparse_chains import ChainSolver, by_sweeps, whole_step

LARGE = 128
"""Fewest states for which sparse matrices can be faster than dense ones."""

SHARE = 0.05
"""Largest share of positive transition probabilities for which they are."""

MOST_ROUNDS = 10_000
"""Evaluations at one discount factor after which planning fails; tens are usual."""

_SWEPT_FOR = 1.5
"""Largest cost of the sweeps before an evaluation, in units of what the evaluation costs."""

_PARTIAL = 20
"""Sweeps for the policy alone between two that may improve it."""

_SETTLED = 2
"""How often such sweeps leave the policy as it is before it has settled."""

_TRANSITION, _PAIR, _CALL = 1.5, 2.0, 20_000.0
"""Nanoseconds for a transition, a pair and the calls of a sweep; `sparse_chains` counts in the same unit."""


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
    """Return an optimal policy at each discount factor, and its values there.

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
    policy, V, suffice = R.argmax(1), np.zeros(len(R)), True
    for g, gamma in enumerate(gammas.tolist()):
        tie = action_tie_tolerance(scale, gamma).item()
        for _ in range(MOST_ROUNDS):
            V, suffice = _swept(rewards, gamma, policy, V, tie, solver, suffice=suffice)
            V = solver.value(policy, gamma, V)
            if not _improve(policy, action_values(rows, rewards, V, gamma), V, tie):
                break
        else:
            raise ArithmeticError(f"gamma = {gamma}: policy iteration does not end after {MOST_ROUNDS} evaluations")
        policies[g], values[g] = policy, V
    return policies, values


def action_values(
    rows: csr_array, rewards: Float[np.ndarray, "A S"], V: Float[np.ndarray, " S"], gamma: float
) -> Float[np.ndarray, "A S"]:
    """Return R(s, a) + γ Σ_s' P(s, a, s') V(s') for each action and state."""
    Q = (rows @ V).reshape(rewards.shape)
    Q *= gamma
    Q += rewards
    return Q


def _swept(
    rewards: Float[np.ndarray, "A S"],
    gamma: float,
    policy: Int[np.ndarray, " S"],
    V: Float[np.ndarray, " S"],
    tie: float,
    solver: ChainSolver,
    *,
    suffice: bool,
) -> tuple[Float[np.ndarray, " S"], bool]:
    """Return values after sweeps, which update the policy, and whether sweeps alone may find exact values next time.

    They end when they have cost `_SWEPT_FOR` evaluations, when the values are exact, or, unless sweeps `suffice`, when
    the policy has settled: that is, when sweeps for it alone have followed `_SETTLED` times since it last changed.
    """
    left = 0.0 if solver.only_factorises else _SWEPT_FOR * solver.cost
    sweep = _TRANSITION * solver.rows.nnz + _PAIR * rewards.size + _CALL
    partial, settled = _PARTIAL * (sweep / len(rewards) + _CALL), 0
    while left > 0.0 and (suffice or settled < _SETTLED):
        Q = action_values(solver.rows, rewards, V, gamma)
        settled = 0 if _improve(policy, Q, _values_taken(Q, policy), tie) else settled + 1
        step, left = _values_taken(Q, policy) - V, left - sweep
        if np.abs(step).max() <= solver.limit(V):
            return V, suffice
        V = V + whole_step(step, gamma)
        if settled and left > partial:
            V = by_sweeps(*solver.chain(policy), gamma, V, solver.tolerance, _PARTIAL)
            left -= partial
    return V, suffice and not settled


def _values_taken(Q: Float[np.ndarray, "A S"], policy: Int[np.ndarray, " S"]) -> Float[np.ndarray, " S"]:
    """Return the values of the actions that a policy takes."""
    return Q.ravel().take(policy * Q.shape[1] + np.arange(Q.shape[1]))


def _improve(
    policy: Int[np.ndarray, " S"], Q: Float[np.ndarray, "A S"], of_policy: Float[np.ndarray, " S"], tie: float
) -> bool:
    """Take the best action where it is better by more than `tie`, and return whether it is anywhere."""
    better = np.flatnonzero(Q.max(0) - of_policy > tie)
    policy[better] = Q[:, better].argmax(0)
    return bool(better.size)


def policy_values(
    rows: csr_array, R: Float[np.ndarray, "S A"], policies: Int[np.ndarray, "k S"], gamma: float
) -> Float[np.ndarray, "k S"]:
    """Return the values of policies at one discount factor; each starts from those of the one before."""
    solver, V, values = ChainSolver(rows, R), np.zeros(len(R)), np.empty(policies.shape)
    for i, policy in enumerate(policies):
        V = values[i] = solver.value(policy, gamma, V)
    return values
