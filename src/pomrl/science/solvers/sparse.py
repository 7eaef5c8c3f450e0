"""Planning and evaluation of a sparse MDP, with few successors of each pair.

Rows are in the order a S + s, where maxima over actions take a fifth of the time. No array has S² entries. SuperLU
is exact, but its factors fill in if the chain mixes quickly; then BiCGSTAB needs few products. It has `BICGSTAB_STARTS`
starts of `BICGSTAB_STEPS` steps, and is accepted by its residuals. After it fails, all later policies are factorised.
Pivots are on the diagonal, so unreachable states do not enter equations.

The engine in C (`_sparse.c`) replaces most steps of policy iteration by approximate ones, before an exact evaluation.
Both ways accept a policy by the same rule, so their values agree; of tied actions, they may choose different ones.
"""

# SciPy's sparse linear algebra comes without types.
# pyright: reportMissingTypeStubs=false

import numpy as np
from jaxtyping import Float, Int, Int16
from scipy.sparse import csr_array, eye_array

from pomrl.science.solvers import compiled
from pomrl.science.solvers.action_ties import ROUNDING_SHARE, best_of_better, excess, signed_and_absolute
from pomrl.science.solvers.relative_values import SIZE_SHARE, SWEPT_STATES

SPARSE_STATES = 128
"""Smallest number of states for sparse matrices."""

SPARSE_SHARE = 0.05
"""Largest share of positive transition probabilities for sparse matrices."""

NARROW_ROWS = 64
"""Largest distance of a successor's index for elimination in C; it needs S w² operations for a distance w."""

MAX_EVALUATIONS = 10_000
"""Evaluations at one discount factor before planning fails; tens are usual."""

BICGSTAB_STATES = 600
"""Smallest number of states for BiCGSTAB."""

BICGSTAB_STEPS, BICGSTAB_STARTS = 100, 5
"""Steps of BiCGSTAB per start, and number of starts from the true residual, before factorisation."""

ROUNDS = 20
"""Rounds of approximate evaluation and improvement in C before an exact evaluation."""

REDUCTION = 1e-3
"""Largest residual of an approximate evaluation, in units of its first residual."""

MISPLACED_SHARE, MAX_SORTS = 0.05, 10
"""Next states with larger values behind their states, per state, before states are sorted; sorts in an evaluation."""

FIRST_SWEEPS = 8
"""Sweeps of value iteration before the first evaluation in C."""

MAX_ENTRIES = 2**31 - 1
"""Largest number of positive probabilities in C, which has 32-bit indices."""

_RESIDUAL_SHARE = ROUNDING_SHARE / 16.0
"""Largest residual over 1 - γ, in units of an equation's terms; well below `ROUNDING_SHARE`."""

_ULPS = 8.0 * float(np.finfo(float).eps)
"""Rounding error of a residual, in the same units."""


def is_sparse(P: Float[np.ndarray, "S A S"]) -> bool:
    """Return whether a model is large and sparse enough for sparse matrices."""
    return len(P) >= SPARSE_STATES and has_few_successors(P)


def has_few_successors(P: Float[np.ndarray, "*n S A S"]) -> bool:
    """Return whether at most `SPARSE_SHARE` of the probabilities are positive."""
    return bool(np.count_nonzero(P) <= SPARSE_SHARE * P.size)


def has_narrow_rows(P: Float[np.ndarray, "S A S"]) -> bool:
    """Return whether a model has few successors, near the diagonal if it is large."""
    S, A, _ = P.shape
    is_successor = P.ravel() != 0.0
    if np.count_nonzero(is_successor) > SPARSE_SHARE * P.size:
        return False
    pair, successor = np.divmod(np.flatnonzero(is_successor), S)
    return S < SWEPT_STATES or bool(np.abs(successor - pair // A).max() <= NARROW_ROWS)


def sparse_rows(P: Float[np.ndarray, "S A S"]) -> csr_array:
    """Return the rows as a sparse matrix in the order a S + s."""
    return csr_array(P.transpose(1, 0, 2).reshape(-1, P.shape[-1]))


def by_action(pairs: csr_array, A: int) -> csr_array:
    """Reorder rows from s A + a to a S + s."""
    return pairs[np.arange(len(pairs.indptr) - 1).reshape(-1, A).T.ravel()]


def plan(
    rows: csr_array, R: Float[np.ndarray, "S A"], gammas: Float[np.ndarray, " G"]
) -> tuple[Int[np.ndarray, "G S"], Float[np.ndarray, "G S"]]:
    """Return an optimal policy at each discount factor, and its values.

    Policy iteration starts from the previous policy, and keeps its actions that are as good; ascending discount factors
    in [0, 1) are fastest. ArithmeticError: a policy keeps changing.
    """
    policies, values = plan_and_evaluate(rows, R, gammas, keeps_ties=True)
    return policies, values[0]


def plan_and_evaluate(
    rows: csr_array, R: Float[np.ndarray, "S A"], gammas: Float[np.ndarray, " G"], *, keeps_ties: bool = False
) -> tuple[Int[np.ndarray, "G S"], Float[np.ndarray, "k G S"]]:
    """Return optimal policies, and their values for `action_ties.signed_and_absolute`.

    With `keeps_ties`, actions of the previous policy are kept if they are as good.
    """
    sides = signed_and_absolute(R)
    solver, rewards = ChainSolver(rows, sides), np.ascontiguousarray(sides.swapaxes(1, 2))
    policies, values = np.empty((len(gammas), len(R)), np.int16), np.empty((len(sides), len(gammas), len(R)))
    policy, V = R.argmax(1).astype(np.int16), np.zeros((len(sides), len(R)))
    for g, gamma in enumerate(gammas.tolist()):
        for _ in range(MAX_EVALUATIONS):
            policy, V = solver.improve(policy, gamma, V)
            Q = rewards + gamma * (rows @ V.T).T.reshape(rewards.shape)
            gain = excess(Q, V[:, None])
            better = np.flatnonzero(gain.max(0) > 0.0)
            if not better.size:
                break
            policy[better] = best_of_better(gain[:, better].T)
        else:
            raise ArithmeticError(
                f"gamma = {gamma}: policy iteration did not converge in {MAX_EVALUATIONS} evaluations"
            )
        if keeps_ties and g:
            tied_policy = _keep(policies[g - 1], policy, Q, V)
            if (tied_policy != policy).any():
                policy, V = solver.improve(tied_policy, gamma, V, rounds=0)
        policies[g], values[:, g] = policy, V
    return policies, values


def _keep(
    previous: Int16[np.ndarray, " S"],
    policy: Int16[np.ndarray, " S"],
    Q: Float[np.ndarray, "k A S"],
    V: Float[np.ndarray, "k S"],
) -> Int16[np.ndarray, " S"]:
    """Replace actions by those of the previous policy where both are as good."""
    Q_previous = np.take_along_axis(Q, previous[None, None].astype(np.intp), 1)
    return np.where(excess(V[:, None], Q_previous)[0] <= 0.0, previous, policy)


def policy_values(
    rows: csr_array, R: Float[np.ndarray, "S A"], policies: Int[np.ndarray, "k S"], gamma: float
) -> Float[np.ndarray, "k S"]:
    """Return the exact values of policies."""
    solver, V, values = ChainSolver(rows, R[None]), np.zeros((1, len(R))), np.empty(policies.shape)
    for i, policy in enumerate(policies):
        _, V = solver.improve(policy.astype(np.int16), gamma, V, rounds=0)
        values[i] = V[0]
    return values


class ChainSolver:
    """A solver of policy values for k rewards, by BiCGSTAB until it fails."""

    def __init__(self, rows: csr_array, R: Float[np.ndarray, "k S A"]) -> None:
        self._rows, self._R, self._iterates = rows, R, R.shape[1] >= BICGSTAB_STATES
        self._ordered = _OrderedModel(rows, R) if compiled.is_built() and rows.nnz <= MAX_ENTRIES else None

    def improve(
        self, policy: Int16[np.ndarray, " S"], gamma: float, start: Float[np.ndarray, "k S"], rounds: int = ROUNDS
    ) -> tuple[Int16[np.ndarray, " S"], Float[np.ndarray, "k S"]]:
        """Return a policy, improved in up to `rounds` rounds in C, and its values for each reward.

        Iterations begin at `start`; gamma < 1. Without the engine, or where it fails, the policy is only evaluated.
        """
        if self._ordered is not None:
            if improved := self._ordered.improve(policy, gamma, start, rounds):
                return improved
            self._ordered, self._iterates = None, False
        return policy, self._value(policy, gamma, start)

    def _value(
        self, policy: Int[np.ndarray, " S"], gamma: float, start: Float[np.ndarray, "k S"]
    ) -> Float[np.ndarray, "k S"]:
        from scipy.sparse.linalg import splu  # here, because it takes long to load

        states = np.arange(len(policy))
        P_pi, R_pi = self._rows[policy.astype(np.intp) * len(policy) + states], self._R[:, states, policy]
        chain = eye_array(len(policy), format="csr") - gamma * P_pi
        if self._iterates:
            sides = (_iterated(chain, *side, gamma) for side in zip(R_pi, start, _shares(len(start)), strict=True))
            solutions = [V for V in sides if V is not None]
            if len(solutions) == len(R_pi):
                return np.stack(solutions)
            self._iterates = False
        factors = splu(chain.tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        return factors.solve(R_pi.T).T


class _OrderedModel:
    """A model for the engine, with rows s A + a and states in the order of falling values."""

    def __init__(self, rows: csr_array, R: Float[np.ndarray, "k S A"]) -> None:
        _, S, A = R.shape
        self._R, self._order = np.ascontiguousarray(R), np.arange(S)
        self._rows = rows[(np.arange(S)[:, None] + S * np.arange(A)).ravel()]

    def improve(
        self, policy: Int16[np.ndarray, " S"], gamma: float, start: Float[np.ndarray, "k S"], rounds: int
    ) -> tuple[Int16[np.ndarray, " S"], Float[np.ndarray, "k S"]] | None:
        """Return a policy and its values as `ChainSolver.improve`; None without convergence."""
        policy, V = policy.copy(), start.copy()
        # with rewards of both signs, rounding errors are in units of |R|
        noise = 2.0 * ROUNDING_SHARE * np.abs(self._R[-1]).max() / (1.0 - gamma) if len(V) > 1 else 0.0
        for index, side, share in zip(range(len(V)), V, _shares(len(V)), strict=True):
            limits = compiled.SparseLimits(
                residual=max(share * (1.0 - gamma), _ULPS),
                reduction=REDUCTION,
                rounding=ROUNDING_SHARE,
                noise=noise,
                steps=BICGSTAB_STEPS,
                starts=BICGSTAB_STARTS,
                sweeps=FIRST_SWEEPS if rounds and not index and not side.any() else 0,
                rounds=0 if index else rounds,
                misplaced=int(MISPLACED_SHARE * len(policy)),
            )
            if not self._converges(index, policy, side, gamma, limits):
                return None
        return policy, V

    def _converges(
        self,
        side: int,
        policy: Int16[np.ndarray, " S"],
        V: Float[np.ndarray, " S"],
        gamma: float,
        limits: compiled.SparseLimits,
    ) -> bool:
        """Improve a policy and one side of its values in place; return whether the evaluation converged."""
        end = compiled.UNSORTED
        for misplaced in [limits.misplaced] * MAX_SORTS + [MAX_ENTRIES]:
            actions, values = policy[self._order], V[self._order]
            limits = limits._replace(misplaced=misplaced)
            end = compiled.improve_sparse(self._rows, self._R[side], values, actions, gamma, limits)
            policy[self._order], V[self._order] = actions, values
            if end != compiled.UNSORTED:
                break
            limits = limits._replace(sweeps=0)
            self._sort(values)
        return end != compiled.FAILED

    def _sort(self, values: Float[np.ndarray, " S"]) -> None:
        """Sort states by their values, given in the present order."""
        moves, A = np.argsort(-values, kind="stable"), self._R.shape[2]
        position = np.empty(len(moves), np.int32)
        position[moves] = np.arange(len(moves))
        rows = self._rows[(moves[:, None] * A + np.arange(A)).ravel()]
        self._rows = csr_array((rows.data, position[rows.indices], rows.indptr), rows.shape)
        self._order, self._R = self._order[moves], np.ascontiguousarray(self._R[:, moves])


def _shares(k: int) -> tuple[float, ...]:
    """Return the largest residual over 1 - γ for R and, with k = 2, |R|."""
    return (_RESIDUAL_SHARE, SIZE_SHARE)[:k]


def _iterated(
    chain: csr_array, R_pi: Float[np.ndarray, " S"], V: Float[np.ndarray, " S"], share: float, gamma: float
) -> Float[np.ndarray, " S"] | None:
    """Solve chain V = R_pi by BiCGSTAB, starting at V; None without convergence."""
    from scipy.sparse.linalg import bicgstab  # here, because it takes long to load

    for start in range(BICGSTAB_STARTS + 1):
        residual = R_pi - chain @ V
        goal = max(share * (1.0 - gamma), _ULPS) * (np.abs(R_pi) + abs(chain) @ np.abs(V))
        if (np.abs(residual) <= goal).all():
            return V
        if start == BICGSTAB_STARTS:
            break
        floor = goal.min(initial=np.inf, where=goal > 0.0)  # residuals of states without rewards stay 0
        unit = np.ldexp(1.0, np.frexp(np.abs(residual).max())[1])  # SciPy gives up where squares of residuals are small
        V = V + unit * bicgstab(chain, residual / unit, rtol=0.0, atol=0.5 * floor / unit, maxiter=BICGSTAB_STEPS)[0]
    return None
