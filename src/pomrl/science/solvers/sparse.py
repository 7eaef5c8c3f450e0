"""Planning and evaluation of an MDP in which few states follow each pair (s, a), as a sparse matrix.

Rows P(s, a, ·) stand in the order a S + s, in which maxima over actions take a fifth of the time. No array has S²
entries. A policy's value solves (I - γ P_π) V = R_π. SuperLU solves it exactly, but factors may fill in: for 2,000
states with 8 random successors they have 2 million entries, for a grid 40 thousand. BiCGSTAB needs few products with
P_π where the chain mixes quickly, which is where factors fill in. It is tried for `BICGSTAB_STEPS` steps; once these do
not suffice, later policies are factorised. Its values are accepted if residuals are small beside what the equations add
up. Pivots are those of the diagonal, so that equations of states that others do not reach are not added to theirs.
"""

# SciPy's sparse linear algebra comes without types.
# pyright: reportMissingTypeStubs=false

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array, eye_array

from pomrl.science.solvers.action_ties import ROUNDING_SHARE, best_of_better, excess, signed_and_absolute

SPARSE_STATES = 128
"""Fewest states for which sparse matrices can be faster."""

SPARSE_SHARE = 0.05
"""Largest share of positive transition probabilities for which they are."""

MOST_EVALUATIONS = 10_000
"""Evaluations at one discount factor after which planning fails; tens are usual."""

BICGSTAB_STATES = 600
"""Fewest states for which BiCGSTAB is tried."""

BICGSTAB_STEPS, BICGSTAB_STARTS = 100, 5
"""Steps of BiCGSTAB, and how often it starts anew from the true residual, after which policies are factorised."""

_RESIDUAL_SHARE = ROUNDING_SHARE / 16.0
"""Largest residual over 1 - γ, in units of what an equation adds up; well below errors of ties."""

_ULPS = 8.0 * float(np.finfo(float).eps)
"""How large rounding lets a residual be, in the same units."""


def pays(P: Float[np.ndarray, "S A S"]) -> bool:
    """Return whether a model is large enough, and few enough of its transition probabilities are positive."""
    return len(P) >= SPARSE_STATES and few_follow(P)


def few_follow(P: Float[np.ndarray, "*n S A S"]) -> bool:
    """Return whether few states follow each pair (s, a)."""
    return bool(np.count_nonzero(P) <= SPARSE_SHARE * P.size)


def rows_of(P: Float[np.ndarray, "S A S"]) -> csr_array:
    """Return the rows P(s, a, ·) as a sparse matrix with a row for each pair, a S + s."""
    return csr_array(P.transpose(1, 0, 2).reshape(-1, P.shape[-1]))


def by_action(pairs: csr_array, A: int) -> csr_array:
    """Return the rows in the order a S + s of a matrix that has them in the order s A + a."""
    return pairs[np.arange(len(pairs.indptr) - 1).reshape(-1, A).T.ravel()]


def plan(
    rows: csr_array, R: Float[np.ndarray, "S A"], gammas: Float[np.ndarray, " G"]
) -> tuple[Int[np.ndarray, "G S"], Float[np.ndarray, "G S"]]:
    """Return an optimal policy at each discount factor, and its values, by policy iteration.

    Each discount factor starts from the one before. An action is kept unless another gains more than rounding explains.

    Args:
        rows: The rows of the model (`rows_of`).
        R: Rewards R(s, a).
        gammas: Discount factors in [0, 1); ascending ones are planned fastest.

    Raises:
        ArithmeticError: A policy keeps changing.
    """
    sides = signed_and_absolute(R)
    solver, rewards = ChainSolver(rows, sides), np.ascontiguousarray(sides.swapaxes(1, 2))
    policies, values = np.empty((len(gammas), len(R)), np.int16), np.empty((len(gammas), len(R)))
    policy, V = R.argmax(1), np.zeros((len(sides), len(R)))
    for g, gamma in enumerate(gammas.tolist()):
        for _ in range(MOST_EVALUATIONS):
            V = solver.value(policy, gamma, V)
            Q = rewards + gamma * (rows @ V.T).T.reshape(rewards.shape)
            above = excess(Q, V[:, None])
            better = np.flatnonzero(above.max(0) > 0.0)
            if not better.size:
                break
            policy[better] = best_of_better(above[:, better].T)
        else:
            raise ArithmeticError(
                f"gamma = {gamma}: policy iteration does not end after {MOST_EVALUATIONS} evaluations"
            )
        policies[g], values[g] = policy, V[0]
    return policies, values


def policy_values(
    rows: csr_array, R: Float[np.ndarray, "S A"], policies: Int[np.ndarray, "k S"], gamma: float
) -> Float[np.ndarray, "k S"]:
    """Return the exact values of policies."""
    solver, V, values = ChainSolver(rows, R[None]), np.zeros((1, len(R))), np.empty(policies.shape)
    for i, policy in enumerate(policies):
        V = solver.value(policy, gamma, V)
        values[i] = V[0]
    return values


class ChainSolver:
    """Solves for values of policies of one model with k rewards, by BiCGSTAB until it was once too slow."""

    def __init__(self, rows: csr_array, R: Float[np.ndarray, "k S A"]) -> None:
        self._rows, self._R, self._iterates = rows, R, R.shape[1] >= BICGSTAB_STATES

    def value(
        self, policy: Int[np.ndarray, " S"], gamma: float, start: Float[np.ndarray, "k S"]
    ) -> Float[np.ndarray, "k S"]:
        """Return the values of a policy for each of the rewards, nearly to rounding.

        Args:
            policy: The action in each state.
            gamma: Discount factor, in [0, 1).
            start: Values that iteration starts from.
        """
        from scipy.sparse.linalg import splu  # here, because it takes long to load

        states = np.arange(len(policy))
        P_pi, R_pi = self._rows[policy.astype(np.intp) * len(policy) + states], self._R[:, states, policy]
        chain = eye_array(len(policy), format="csr") - gamma * P_pi
        if self._iterates:
            sides = (_iterated(chain, R, V, gamma) for R, V in zip(R_pi, start, strict=True))
            found = [V for V in sides if V is not None]
            if len(found) == len(R_pi):
                return np.stack(found)
            self._iterates = False
        factors = splu(chain.tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        return factors.solve(R_pi.T).T


def _iterated(
    chain: csr_array, R_pi: Float[np.ndarray, " S"], V: Float[np.ndarray, " S"], gamma: float
) -> Float[np.ndarray, " S"] | None:
    """Return the solution of chain V = R_pi by BiCGSTAB from V on, or None where that takes too long."""
    from scipy.sparse.linalg import bicgstab  # here, because it takes long to load

    for _ in range(BICGSTAB_STARTS):
        residual = R_pi - chain @ V
        goal = max(_RESIDUAL_SHARE * (1.0 - gamma), _ULPS) * (np.abs(R_pi) + abs(chain) @ np.abs(V))
        if (np.abs(residual) <= goal).all():
            return V
        least = goal.min(initial=np.inf, where=goal > 0.0)  # residuals of states without rewards stay 0
        unit = np.ldexp(1.0, np.frexp(np.abs(residual).max())[1])  # SciPy gives up where squares of residuals are small
        V = V + unit * bicgstab(chain, residual / unit, rtol=0.0, atol=0.5 * least / unit, maxiter=BICGSTAB_STEPS)[0]
    return None
