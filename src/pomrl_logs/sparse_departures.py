"""Plans that depart from a log of very many states, whose models are sparse matrices.

All tasks are one model: its states are pairs of a task and a state, and no transition leads from one task to another.
Models are frequencies of a task, with one more transition that is shared out as in all tasks.
"""

# SciPy's sparse matrices come without types.
# pyright: reportMissingTypeStubs=false

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from pomrl.models.inputs import stand_ins
from pomrl.science.solvers import sparse as large
from pomrl_logs.departures import KEEP, Estimate, Policies
from pomrl_logs.logs import Log


@dataclass(frozen=True, eq=False)
class SparseEstimate(Estimate):
    """Estimated models of the tasks of a log, whose P is a matrix with a row for each task, state and action."""

    P: sparse.csr_array  # pyright: ignore[reportIncompatibleVariableOverride]
    """The rows of (k S + s) B + b, over the states k S + s'."""

    def plans(self, support: int, gammas: Float[np.ndarray, " G"]) -> Int[np.ndarray, "G K S"]:
        """Return the plans of `Estimate.plans`."""
        K, S, B = self.R.shape
        supported = self.visits >= support
        allowed = np.concatenate([~supported.any(-1, keepdims=True), supported], -1).reshape(K * S, B)
        which = stand_ins(allowed)
        if (allowed.sum(-1) == 1).all():
            return np.broadcast_to(which[:, 0].reshape(K, S) + KEEP, (len(gammas), K, S))
        states = np.arange(K * S)[:, None]
        rows = large.by_action(self.P[(states * B + which).ravel()], B)
        policies, _ = large.plan(rows, self.R.reshape(K * S, B)[states, which], gammas)
        return np.take_along_axis(which, policies.T.astype(np.intp), 1).T.reshape(-1, K, S) + KEEP

    def _chain(self, policies: Policies) -> sparse.csr_array:
        return self.P[np.arange(policies.size) * self.R.shape[-1] + policies.ravel() - KEEP]

    def _rewards(self, policies: Policies) -> Float[np.ndarray, "K S"]:
        return np.take_along_axis(self.R, (policies - KEEP)[..., None], 2)[..., 0]

    def backup(self, policies: Policies, V: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S"]:
        """Return what one step of these policies is worth in each state if these values follow."""
        return self._rewards(policies) + gamma * (self._chain(policies) @ V.ravel()).reshape(V.shape)

    def values(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        """Return the value of these policies in each state."""
        return _solve(self._chain(policies), self._rewards(policies), gamma)

    def occupancy(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        """Return the discounted number of visits to each state, from a first state that is any with the same chance."""
        first = np.full(policies.shape, 1.0 / policies.shape[-1])
        return _solve(sparse.csr_array(self._chain(policies).T), first, gamma)

    def action_values(self, V: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S A"]:
        """Return the value of each action if these values follow."""
        return (self.R + gamma * (self.P @ V.ravel()).reshape(self.R.shape))[..., 1:]


def _solve(chain: sparse.csr_array, R: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S"]:
    return large.policy_values(chain, R.reshape(-1, 1), np.zeros((1, R.size), int), gamma).reshape(R.shape)


def estimate_sparse_models(log: Log, of_ends: Float[np.ndarray, " S"]) -> SparseEstimate:
    """Return the models of the tasks of a log of very many states.

    Args:
        log: The transitions and rewards.
        of_ends: What each state pays in each step if it is an end.
    """
    K, S, A, _ = log.shape
    task, state, action, following = log.places
    pair, pairs = state * A + action, K * S * A
    n, in_all = log.visits.reshape(K, S * A), np.maximum(log.visits.sum(0).ravel(), 1)
    known = np.where(log.seen.ravel(), 1.0, 0.0)
    own = sparse.csr_array((1.0 / (n[task, pair] + 1.0), (task * S * A + pair, task * S + following)), (pairs, K * S))
    of_all = sparse.csr_array((1.0 / in_all[pair], (pair, following)), (S * A, S))
    share = sparse.diags_array((known / (n + 1.0)).ravel())
    rows = own + share @ sparse.block_diag([of_all] * K, format="csr")
    mean = np.bincount(pair, log.paid, S * A) / in_all
    R = (log.sums_of_pairs(log.paid).reshape(K, S * A) + mean) / (n + 1.0)
    visits = log.visits
    pooled = visits.sum(0) / np.maximum(visits.sum((0, 2)), 1)[:, None]
    chance = (visits + pooled) / (visits.sum(-1, keepdims=True) + 1.0)
    return _with_kept(log, rows, R.reshape(K, S, A), chance, of_ends)


def _with_kept(
    log: Log,
    rows: sparse.csr_array,
    R: Float[np.ndarray, "K S A"],
    chance: Float[np.ndarray, "K S A"],
    of_ends: Float[np.ndarray, " S"],
) -> SparseEstimate:
    """Return the estimate with one more action, which keeps to the decisions of the log; ends stay where they are."""
    K, S, A = R.shape
    states, ends = np.arange(K * S), np.tile(~log.left, K)
    take = sparse.csr_array((chance.ravel(), (np.repeat(states, A), np.arange(K * S * A))))
    kept = take @ rows + sparse.diags_array(ends.astype(float))
    order = np.concatenate([states[:, None], K * S + np.arange(K * S * A).reshape(K * S, A)], 1)
    P = sparse.csr_array(sparse.vstack([kept, rows]))[order.ravel()]
    of_kept = np.where(log.left, (chance * R).sum(-1), of_ends)
    return SparseEstimate(P, np.concatenate([of_kept[..., None], R], -1), log.visits)  # type: ignore[arg-type]
