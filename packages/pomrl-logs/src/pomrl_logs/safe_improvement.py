"""Plan changes of the decisions of a log within the support of its data.

A plan may change the action in a state only if the task has tried the new action often enough (its *support*). This is
safe policy improvement with baseline bootstrapping (SPIBB; Laroche, Trichelair and Tachet des Combes, 2019). The
*baseline* is an additional action that repeats the decisions of the log.

Large state spaces use sparse matrices over pairs of task and state. Probabilities are then frequencies of the task,
plus one transition distributed as in all tasks.
"""

# Sparse matrices of SciPy have no type annotations.
# pyright: reportMissingTypeStubs=false

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse
from scipy.special import softmax

from pomrl.planning import PolicyIteration, chain_value, check_models, float64, stand_ins
from pomrl.planning import sparse as large
from pomrl_logs.logs import Log

MIN_PROBABILITY = 1e-12
"""The probability of transitions excluded by a declared structure."""


@dataclass(frozen=True, eq=False)
class Structure:
    """A declared structure: models as a function of one latent number.

    All its values are equally likely a priori.
    """

    latents: Float[np.ndarray, " g"]
    """The possible values of the latent number."""
    models: Callable[[Float[np.ndarray, " g"]], Any]
    """A function that returns P[g, s, a, s'] for latent values, in the order of states and actions in the log."""

    def means(self, counts: Int[np.ndarray, "K S A S"]) -> Float[np.ndarray, "K S A S"]:
        """Return the posterior mean of the model of each task.

        ValueError if the shape of the models does not fit the log.
        """
        P = float64(self.models(np.asarray(self.latents, float)), "the declared structure")
        shape = [len(self.latents), *counts.shape[1:]]
        if list(P.shape) != shape:
            raise ValueError(f"the models of the declared structure must have shape {shape}, got {list(P.shape)}")
        check_models(P, np.zeros(P.shape[:-1]))
        log_chance = np.log(np.maximum(P, MIN_PROBABILITY)).reshape(len(P), -1)
        weight = softmax(counts.reshape(len(counts), -1) @ log_chance.T, axis=-1)
        return np.tensordot(weight, P, 1)


KEEP = -1
"""The entry of a policy for keeping the decisions in a state."""

Policies = Int[np.ndarray, "K S"]
"""The action of each task in each state, or `KEEP`."""


@dataclass(frozen=True, eq=False)
class TaskModels:
    """Estimated models; action 0 is the baseline, and 1 + a is action a."""

    P: Float[np.ndarray, "K S B S"]
    R: Float[np.ndarray, "K S B"]
    visits: Int[np.ndarray, "K S A"]
    starts: Float[np.ndarray, "K S"]
    """The weight of each first state (`Log.starts`)."""

    def plans(self, support: int, gammas: Float[np.ndarray, " G"]) -> Int[np.ndarray, "G K S"]:
        """Return the best policies over supported actions, by discount factor.

        The baseline is excluded if an action is supported, because its value depends on rarely tried actions. Actions
        that a task always takes are allowed, too; otherwise gains would be overstated.
        """
        supported = self.visits >= support
        open_ = np.concatenate([~supported.any(-1, keepdims=True), supported], -1)
        low, high = min(float(self.R.min()), 0.0), max(float(self.R.max()), 0.0)
        R = np.where(open_, self.R, low - (high - low + 1.0) / (1.0 - gammas[-1]))
        return PolicyIteration().plan(self.P, R, gammas).swapaxes(0, 1) + KEEP

    def chain(self, policies: Policies) -> tuple[Float[np.ndarray, "K S S"], Float[np.ndarray, "K S"]]:
        index = (policies - KEEP)[..., None]
        P = np.take_along_axis(self.P, index[..., None], 2)[:, :, 0]
        return P, np.take_along_axis(self.R, index, 2)[..., 0]

    def values(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        return chain_value(*self.chain(policies), gamma)

    def action_values(self, V: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S A"]:
        """Return the action values, given the values V of next states."""
        return self.R[..., 1:] + gamma * (self.P[:, :, 1:] @ V[:, None, :, None])[..., 0]

    def occupancy(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        """Return the discounted visits to each state, from the first states."""
        P, _ = self.chain(policies)
        return chain_value(P.swapaxes(1, 2), self.starts, gamma)

    def means(self, V: Float[np.ndarray, "K S"]) -> Float[np.ndarray, " K"]:
        """Return the mean value of each task over its first states."""
        return (self.starts * V).sum(-1)

    def backup(self, policies: Policies, V: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S"]:
        P, R = self.chain(policies)
        return R + gamma * (P @ V[..., None])[..., 0]

    def gains(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        """Return the contribution of each changed decision to the mean value.

        It is the advantage over the baseline times the discounted visits (performance difference lemma; Kakade and
        Langford, 2002).
        """
        baseline = self.values(np.full_like(policies, KEEP), gamma)
        advantage = self.backup(policies, baseline, gamma) - baseline
        return np.where(policies != KEEP, self.occupancy(policies, gamma) * advantage, 0.0)


def estimate_models(
    log: Log, structure: Structure | None = None, end_rewards: Float[np.ndarray, " S"] | None = None
) -> TaskModels:
    """Estimate the tasks' models, with the learned prior or a declared structure.

    The baseline includes one more decision, distributed as in all tasks. `end_rewards` has the reward per step in each
    end (default `Log.worst_ends`).
    """
    end_rewards = log.worst_ends if end_rewards is None else end_rewards
    P = log.models if structure is None else structure.means(log.counts)
    R = np.stack([log.rewards.mean(task, model) for task, model in enumerate(P)])
    P, R = log.playable(P, R, end_rewards)
    visits = log.visits
    pooled = visits.sum(0) / np.maximum(visits.sum((0, 2)), 1)[:, None]
    chance = (visits + pooled) / (visits.sum(-1, keepdims=True) + 1.0)
    baseline = np.einsum("ksa,ksat->kst", chance, P, optimize=True)
    baseline[:, ~log.nonterminal] = P[:, ~log.nonterminal, 0]
    baseline_rewards = np.where(log.nonterminal, (chance * R).sum(-1), end_rewards)
    P = np.concatenate([baseline[:, :, None], P], 2)
    return TaskModels(P, np.concatenate([baseline_rewards[..., None], R], -1), visits, log.starts)


@dataclass(frozen=True, eq=False)
class SparseTaskModels(TaskModels):
    """Estimated models with a sparse P."""

    P: sparse.csr_array  # pyright: ignore[reportIncompatibleVariableOverride]
    """The row (k S + s) B + b has the probabilities of the columns k S + s'."""

    def plans(self, support: int, gammas: Float[np.ndarray, " G"]) -> Int[np.ndarray, "G K S"]:
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
        return self._rewards(policies) + gamma * (self._chain(policies) @ V.ravel()).reshape(V.shape)

    def values(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        return _solve(self._chain(policies), self._rewards(policies), gamma)

    def occupancy(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        return _solve(sparse.csr_array(self._chain(policies).T), self.starts, gamma)

    def action_values(self, V: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S A"]:
        return (self.R + gamma * (self.P @ V.ravel()).reshape(self.R.shape))[..., 1:]


def _solve(chain: sparse.csr_array, R: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S"]:
    return large.policy_values(chain, R.reshape(-1, 1), np.zeros((1, R.size), int), gamma).reshape(R.shape)


def estimate_sparse_models(log: Log, end_rewards: Float[np.ndarray, " S"]) -> SparseTaskModels:
    """Estimate the models of tasks as sparse matrices."""
    K, S, A, _ = log.shape
    task, state, action, following = log.indices
    pair, pairs = state * A + action, K * S * A
    n, in_all = log.visits.reshape(K, S * A), np.maximum(log.visits.sum(0).ravel(), 1)
    prior_weight = np.where(log.tried.ravel(), 1.0, 0.0)
    own = sparse.csr_array((1.0 / (n[task, pair] + 1.0), (task * S * A + pair, task * S + following)), (pairs, K * S))
    pooled_rows = sparse.csr_array((1.0 / in_all[pair], (pair, following)), (S * A, S))
    share = sparse.diags_array((prior_weight / (n + 1.0)).ravel())
    rows = own + share @ sparse.block_diag([pooled_rows] * K, format="csr")
    mean = np.bincount(pair, log.paid, S * A) / in_all
    R = (log.sums_of_pairs(log.paid).reshape(K, S * A) + mean) / (n + 1.0)
    visits = log.visits
    pooled = visits.sum(0) / np.maximum(visits.sum((0, 2)), 1)[:, None]
    chance = (visits + pooled) / (visits.sum(-1, keepdims=True) + 1.0)
    return _with_baseline(log, rows, R.reshape(K, S, A), chance, end_rewards)


def _with_baseline(
    log: Log,
    rows: sparse.csr_array,
    R: Float[np.ndarray, "K S A"],
    chance: Float[np.ndarray, "K S A"],
    end_rewards: Float[np.ndarray, " S"],
) -> SparseTaskModels:
    K, S, A = R.shape
    states, ends = np.arange(K * S), np.tile(~log.nonterminal, K)
    take = sparse.csr_array((chance.ravel(), (np.repeat(states, A), np.arange(K * S * A))))
    baseline = take @ rows + sparse.diags_array(ends.astype(float))
    order = np.concatenate([states[:, None], K * S + np.arange(K * S * A).reshape(K * S, A)], 1)
    P = sparse.csr_array(sparse.vstack([baseline, rows]))[order.ravel()]
    baseline_rewards = np.where(log.nonterminal, (chance * R).sum(-1), end_rewards)
    R = np.concatenate([baseline_rewards[..., None], R], -1)
    return SparseTaskModels(P, R, log.visits, log.starts)  # type: ignore[arg-type]


def is_sparse(log: Log, structure: Structure | None) -> bool:
    """Return whether models are sparse, and estimated without the prior."""
    return log.is_large and log.known_rewards is None and structure is None


def estimate_tasks(
    log: Log, structure: Structure | None = None, end_rewards: Float[np.ndarray, " S"] | None = None
) -> TaskModels:
    """Estimate the models of tasks, dense or sparse; see `estimate_models`."""
    if is_sparse(log, structure):
        return estimate_sparse_models(log, log.worst_ends if end_rewards is None else end_rewards)
    models = estimate_models(log, structure, end_rewards)
    is_faster = models.P.shape[1] >= large.SPARSE_STATES and large.has_few_successors(models.P)
    return _with_sparse_rows(models) if is_faster else models


def _with_sparse_rows(models: TaskModels) -> SparseTaskModels:
    K, S, B, _ = models.P.shape
    rows = sparse.csr_array(models.P.reshape(-1, S))
    columns = rows.indices + S * np.repeat(np.arange(K), np.diff(rows.indptr[:: S * B]))
    P = sparse.csr_array((rows.data, columns, rows.indptr), (K * S * B, K * S))
    return SparseTaskModels(P, models.R, models.visits, models.starts)  # type: ignore[arg-type]
