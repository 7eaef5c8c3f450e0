"""The values of policies of a model with few transitions, by factorisation or by BiCGSTAB, whichever is cheaper.

A policy's value solves (I - γ P_π) V = R_π. SuperLU solves it exactly, but its factors fill in: those of 2,000 states
with 8 random successors each have 2 million entries, those of a grid of as many states 40 thousand. BiCGSTAB (van der
Vorst 1992) needs products with P_π alone, but more of them the slower the chain mixes. The entries of the factors are
estimated beforehand. BiCGSTAB then gets half the work that a factorisation is expected to take, and the factorisation
follows where that did not suffice. What BiCGSTAB returns is accepted by its residual r, which bounds the error by
max |r| / (1 - γ).
"""

# SciPy's sparse linear algebra comes without types.
# pyright: reportMissingTypeStubs=false

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_array, csr_array, eye_array

from pomrl.science.solvers.action_ties import ACTION_TIE_TOLERANCE
from pomrl.science.solvers.evaluation import reward_scale

TOLERANCE = ACTION_TIE_TOLERANCE / 8
"""Largest residual of values, for rewards in [-1, 1]; their error then stays well below what ties two actions."""

FEW_ENTRIES = 32
"""Entries of the factors for each state up to which a factorisation is cheaper than to ask what else would be."""

SWEPT = 600
"""Fewest states for which anything can be faster than some more factorisations, where these are cheap."""

MOST_ENTRIES = 5e7
"""Expected entries of the factors above which nothing is factorised, because they would take gigabytes."""

_ENTRY, _TRANSITION, _STATE, _CALL = 80.0, 1.5, 15.0, 30_000.0
"""Nanoseconds for an entry of the factors, a transition in a product, a state in vectors, and the calls of a step."""

_MOST_STEPS = 3000
"""Steps of BiCGSTAB after which sweeps follow, where nothing is factorised; tens or hundreds are usual."""

_ROUNDING = 8.0
"""How large rounding lets a residual be, in units of the machine epsilon times the largest |V|."""


def expected_entries(P_pi: csr_array) -> float:
    """Return about how many entries the factors of I - γ P_π have, for grids and random graphs within a factor of four.

    In the order of Cuthill and McKee, the factors stay in the envelope of the matrix, whose mean half-width is w. That
    is a bound; nested dissection has about 4 w² Σ_k 2^(k (1 - 2α)) entries if a part of n states is separated by n^α of
    them, as all S are by w. States that very many others lead to, such as the end of episodes, are left out:
    SuperLU eliminates them last.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # here, because it takes long to load

    S = len(P_pi.indptr) - 1
    pairs: Any = coo_array(P_pi)
    often = np.bincount(pairs.col, minlength=S) > 10.0 * np.sqrt(S)
    row, column = pairs.row[~often[pairs.col]], pairs.col[~often[pairs.col]]
    states = np.arange(S)  # each is its own neighbour, so that no row is empty
    both = (np.concatenate([row, column, states]), np.concatenate([column, row, states]))
    pattern = csr_array((np.ones(len(both[0]), np.int8), both), shape=(S, S))
    order = reverse_cuthill_mckee(pattern, symmetric_mode=True)
    position = np.empty(S, np.intp)
    position[order] = states
    first = np.minimum.reduceat(position[pattern.indices], pattern.indptr[:-1])
    w = max(float(np.maximum(position - first, 0).mean()), 1.0)
    halvings = np.arange(np.log2(S))
    dissected = 4.0 * w**2 * (2.0 ** (halvings * (1.0 - 2.0 * np.log(w) / np.log(max(S, 2))))).sum()
    return float(min(2.0 * S * w, max(dissected, 2.0 * S)))


class ChainSolver:
    """Solves for the values of policies of one model, and keeps what it learns about their cost.

    Its attribute `cost` is what the last solution took, in nanoseconds by the estimate that decides between methods;
    it is no measured time, so that decisions are the same in every run.
    """

    def __init__(self, rows: csr_array, R: Float[np.ndarray, "S A"]) -> None:
        self.rows, self._R, (S, A) = rows, R, R.shape
        self.tolerance = TOLERANCE * reward_scale(R[None]).item()
        any_policy = np.random.default_rng(0).integers(0, A, S)  # those with one action everywhere may fill in less
        self._entries = expected_entries(rows[any_policy * S + np.arange(S)])
        self._iterates = self._entries > FEW_ENTRIES * S
        self.cost = min(_ENTRY * self._entries, 20.0 * self._step(rows.nnz / A))

    def _step(self, transitions: float) -> float:
        """Return the cost of a step of BiCGSTAB, in nanoseconds."""
        return 2.0 * _TRANSITION * transitions + _STATE * len(self._R) + _CALL

    @property
    def only_factorises(self) -> bool:
        """True if a model and its factors are so small that nothing is worth doing to save factorisations."""
        return bool(self._entries <= FEW_ENTRIES * len(self._R)) and len(self._R) < SWEPT

    def limit(self, V: Float[np.ndarray, " S"]) -> float:
        """Return the largest residual with which values are accepted."""
        return _limit(V, self.tolerance)

    def chain(self, policy: Int[np.ndarray, " S"]) -> tuple[csr_array, Float[np.ndarray, " S"]]:
        """Return the transitions and the rewards of a policy."""
        states = np.arange(len(policy))
        return self.rows[policy.astype(np.intp) * len(policy) + states], self._R[states, policy]

    def value(
        self, policy: Int[np.ndarray, " S"], gamma: float, start: Float[np.ndarray, " S"]
    ) -> Float[np.ndarray, " S"]:
        """Return the value of a policy, to rounding or with a residual of at most `TOLERANCE` max(1, max |R|).

        Args:
            policy: The action in each state.
            gamma: Discount factor, in [0, 1).
            start: Values that iteration starts from; the nearer, the quicker.
        """
        from scipy.sparse.linalg import splu  # here, because it takes long to load

        S, (P_pi, R_pi) = len(self._R), self.chain(policy)
        factorises = self._entries <= MOST_ENTRIES
        if not self.only_factorises and np.abs(R_pi + gamma * (P_pi @ start) - start).max() <= self.limit(start):
            return start
        if self._iterates:
            step = self._step(float(P_pi.nnz))
            most = int(0.5 * _ENTRY * self._entries / step) + 10 if factorises else _MOST_STEPS
            V, steps, solved = _by_bicgstab(P_pi, R_pi, gamma, start, self.tolerance, most)
            self.cost = steps * step
            if solved:
                return V
            self._iterates = not factorises
            if not factorises:  # sweeps without end, each of which shrinks the residual by γ at least
                return by_sweeps(P_pi, R_pi, gamma, V, self.tolerance, 10**9)
        factors = splu((eye_array(S, format="csr") - gamma * P_pi).tocsc())
        if not self.only_factorises:
            self._entries = float(factors.L.nnz + factors.U.nnz)
        self.cost = _ENTRY * self._entries
        return factors.solve(R_pi)


def _limit(V: Float[np.ndarray, " S"], tolerance: float) -> float:
    return max(tolerance, _ROUNDING * float(np.finfo(float).eps * np.abs(V).max()))


def _by_bicgstab(
    P_pi: csr_array,
    R_pi: Float[np.ndarray, " S"],
    gamma: float,
    V: Float[np.ndarray, " S"],
    tolerance: float,
    most: int,
) -> tuple[Float[np.ndarray, " S"], int, bool]:
    """Return values, the number of steps, and whether their residual is small.

    BiCGSTAB starts anew from the true residual where it thinks that it has ended, or breaks down.
    """
    best, before, steps = V, np.inf, 0
    while True:
        residual = R_pi + gamma * (P_pi @ V) - V
        largest = float(np.abs(residual).max())
        if largest <= _limit(V, tolerance):
            return V, steps, True
        if steps >= most or not largest < 0.5 * before:
            return best, steps, False
        best, before = V, largest
        change, taken = _bicgstab(P_pi, residual, gamma, 0.5 * _limit(V, tolerance), most - steps)
        V, steps = V + change, steps + taken


def _bicgstab(
    P_pi: csr_array, residual: Float[np.ndarray, " S"], gamma: float, goal: float, most: int
) -> tuple[Float[np.ndarray, " S"], int]:
    """Return x with (I - γ P_π) x about equal to `residual`, and the number of steps.

    The names are those of van der Vorst (1992). SciPy's takes twice as long where there are a thousand states.
    """
    x, r, p, r_0 = np.zeros(len(residual)), residual, residual, residual
    rho = float(r_0 @ r)
    for step in range(1, most + 1):
        v = p - gamma * (P_pi @ p)
        alpha = _ratio(rho, float(r_0 @ v))
        s = r - alpha * v
        t = s - gamma * (P_pi @ s)
        omega = _ratio(float(t @ s), float(t @ t))
        x += alpha * p + omega * s
        r = s - omega * t
        if np.abs(r).max() <= goal or alpha == 0.0 or omega == 0.0:
            return x, step
        rho, of_before = float(r_0 @ r), rho
        p = r + _ratio(rho, of_before) * (alpha / omega) * (p - omega * v)
    return x, most


def _ratio(a: float, b: float) -> float:
    """Return a / b, or 0 where the iteration breaks down."""
    return a / b if b else 0.0


def by_sweeps(
    P_pi: csr_array, R_pi: Float[np.ndarray, " S"], gamma: float, V: Float[np.ndarray, " S"], tolerance: float, n: int
) -> Float[np.ndarray, " S"]:
    """Return values after n sweeps, or as soon as the residual is small."""
    for _ in range(n):
        step = R_pi + gamma * (P_pi @ V) - V
        if np.abs(step).max() <= _limit(V, tolerance):
            break
        V = V + whole_step(step, gamma)
    return V


def whole_step(step: Float[np.ndarray, " S"], gamma: float) -> Float[np.ndarray, " S"]:
    """Return a step of a sweep in which the constant that it adds to all values is summed to its limit (MacQueen 1966).

    No policy depends on the constant.
    """
    return step + gamma / (1.0 - gamma) * 0.5 * float(step.min() + step.max())
