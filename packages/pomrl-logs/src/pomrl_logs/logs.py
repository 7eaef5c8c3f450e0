"""Define logs of earlier tasks, and predict the next task from them.

`Log.prior` learns the distribution of models by empirical Bayes (`pomrl.priors`), and `Log.rewards` learns the rewards.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.special import betaincinv

from pomrl.planning import END, Model, check_finite, check_memory, dirichlet_prior, float64, from_arrays
from pomrl_logs.amounts import REWARD, Unit
from pomrl_logs.findings import Finding
from pomrl_logs.task_rewards import KnownRewards, LearnedRewards, learn_rewards

MAX_PRIOR_TASKS = 200
"""The largest number of tasks from which the prior is learned."""

MAX_DENSE_BYTES = 2**28
"""The largest dense array of counts, in bytes."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior of a task's model, a Dirichlet distribution for each pair."""

    alpha: Float[np.ndarray, "S A S"]
    """The parameters of the Dirichlet distributions."""
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]

    def __repr__(self) -> str:
        return f"Posterior(states={len(self.states)}, actions={len(self.actions)})"

    @property
    def mean(self) -> Float[np.ndarray, "S A S"]:
        return self.alpha / self.alpha.sum(-1, keepdims=True)

    def table(self, level: float = 0.95) -> "pd.DataFrame":
        """Return a table of transition probabilities with credible intervals.

        The columns are state, action, next_state, probability, lower and upper. `level` is the probability of the
        interval. ValueError if it is not in (0, 1).
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be between 0 and 1, such as 0.95, got {level!r}")
        complement = np.maximum(self.alpha.sum(-1, keepdims=True) - self.alpha, 1e-12)
        ends = [betaincinv(np.maximum(self.alpha, 1e-12), complement, q) for q in ((1 - level) / 2, (1 + level) / 2)]
        index = pd.MultiIndex.from_product([self.states, self.actions, self.states])
        frame = index.to_frame(index=False, name=["state", "action", "next_state"])
        return frame.assign(probability=self.mean.ravel(), lower=ends[0].ravel(), upper=ends[1].ravel())


@dataclass(frozen=True, eq=False)
class Log:
    """The transitions of several tasks, with rewards and names."""

    cell: Int[np.ndarray, " n"]
    """The flat index of each transition (task, state, action, next state) in `counts`."""
    reward: Float[np.ndarray, " n"]
    """The observed reward of each transition."""
    episode: Int[np.ndarray, " n"]
    """The episode of each transition, from 0. An episode belongs to one task."""
    tasks: tuple[Hashable, ...]
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]
    known_rewards: Float[np.ndarray, "#K S A S"] | None = None
    """Exact rewards, replacing the observed rewards (see `with_rewards`)."""
    ends: frozenset[Hashable] = frozenset()
    """The states declared as ends of episodes, without later rewards."""
    findings: tuple[Finding, ...] = ()
    """The findings of the audit; findings that remove the limit come first."""
    maximised: str = ""
    """A sentence about the maximised quantity, or an empty string."""
    unit: Unit = REWARD
    """The unit of gains."""
    start_shares: Float[np.ndarray, "K S"] | None = None
    """The weight of each state in averages over a task; None counts episodes (see `starts`)."""

    def __repr__(self) -> str:
        tasks, states, actions, _ = self.shape
        return f"Log(transitions={len(self.cell)}, tasks={tasks}, states={states}, actions={actions})"

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self.tasks), len(self.states), len(self.actions), len(self.states)

    @property
    def indices(self) -> tuple[Int[np.ndarray, " n"], ...]:
        return np.unravel_index(self.cell, self.shape)

    @cached_property
    def counts(self) -> Int[np.ndarray, "K S A S"]:
        """The number of transitions by task, state, action and next state.

        ValueError if the array needs too much memory; `model` works without it.
        """
        what = f"{len(self.tasks)} tasks, {len(self.states)} states, for which model() plans without a prior"
        check_memory(3 * 8 * int(np.prod(self.shape)), what)
        return self.sums(None)

    def sums(self, values: Float[np.ndarray, " n"] | None) -> Any:
        """Sum values by task, state, action and next state; None counts transitions."""
        return np.bincount(self.cell, values, int(np.prod(self.shape))).reshape(self.shape)

    @cached_property
    def visits(self) -> Int[np.ndarray, "K S A"]:
        """The number of times each task tried each action."""
        return self.sums_of_pairs(None)

    def sums_of_pairs(self, values: Float[np.ndarray, " n"] | None) -> Any:
        """Sum values by task, state and action; None counts transitions."""
        K, S, A, _ = self.shape
        return np.bincount(self.cell // S, values, K * S * A).reshape(K, S, A)

    @cached_property
    def has_episodes(self) -> bool:
        """Return whether any episode has several transitions."""
        return len(np.unique(self.episode)) < len(self.episode)

    @cached_property
    def decides(self) -> Bool[np.ndarray, "K S"]:
        """Return whether each task has decisions in each state."""
        return np.asarray(self.visits.any(-1))

    @cached_property
    def starts(self) -> Float[np.ndarray, "K S"]:
        """The share of each task's episodes starting in each state.

        Without episodes, all states with decisions of the task count alike.
        """
        if self.start_shares is not None:
            return self.start_shares
        counts = self.decides.astype(float)
        if self.has_episodes:
            first = np.unique(self.episode, return_index=True)[1]
            task, state, _, _ = self.indices
            counts = np.zeros(counts.shape)
            np.add.at(counts, (task[first], state[first]), 1.0)
        return counts / np.maximum(counts.sum(-1, keepdims=True), 1.0)

    @property
    def is_large(self) -> bool:
        return 8 * int(np.prod(self.shape)) > MAX_DENSE_BYTES

    @cached_property
    def tried(self) -> Bool[np.ndarray, "S A"]:
        """Return whether any task tried each action in each state."""
        return self._visits_in_all > 0

    @property
    def _visits_in_all(self) -> Int[np.ndarray, "S A"]:
        _, S, A, _ = self.shape
        _, state, action, _ = self.indices
        return np.bincount(state * A + action, minlength=S * A).reshape(S, A)

    @property
    def nonterminal(self) -> Bool[np.ndarray, " S"]:
        """Return whether any action was tried in each state."""
        return np.asarray(self.tried.any(1))

    @property
    def undeclared(self) -> Bool[np.ndarray, " S"]:
        """Return whether each state is neither left nor a declared end."""
        declared = [state is END or state in self.ends for state in self.states]
        return np.asarray(~self.nonterminal & ~np.array(declared, bool))

    @property
    def worst_ends(self) -> Float[np.ndarray, " S"]:
        """The lowest reward, at most 0, for undeclared ends; otherwise 0."""
        return np.where(self.undeclared, min(float(self.paid.min(initial=0.0)), 0.0), 0.0)

    @cached_property
    def rewards(self) -> LearnedRewards | KnownRewards:
        if self.known_rewards is not None:
            return KnownRewards(self.known_rewards)
        return learn_rewards(self.counts, self.sums(self.reward), self.sums(self.reward**2))

    @property
    def paid(self) -> Float[np.ndarray, " n"]:
        """The known or observed reward of each transition."""
        return (
            self.reward
            if self.known_rewards is None
            else np.broadcast_to(self.known_rewards, self.shape).ravel()[self.cell]
        )

    def only(self, chosen: Bool[np.ndarray, " n"]) -> "Log":
        """Select transitions; gains stay averages over the starts of this log."""
        columns = {name: getattr(self, name)[chosen] for name in ("cell", "reward", "episode")}
        return replace(self, **columns, start_shares=self.starts)

    def merge_ends(self) -> "Log":
        """Let all episodes end in one state, unless known rewards depend on it.

        Declared and undeclared ends stay apart.
        """
        if self.known_rewards is not None:
            return self
        following = np.arange(len(self.states))
        for ends in (self.undeclared, ~self.nonterminal & ~self.undeclared):
            following[ends] = ends.argmax()
        *pair, entered = self.indices
        return replace(self, cell=np.ravel_multi_index((*pair, following[entered]), self.shape))

    def split(self, n: int, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
        """Split each task's episodes at random; return each transition's part, below n."""
        _, first, episode = np.unique(self.episode, return_index=True, return_inverse=True)
        shuffled = rng.permutation(len(first))
        by_task = shuffled[self.indices[0][first[shuffled]].argsort(kind="stable")]
        part = np.empty(len(first), int)
        part[by_task] = np.arange(len(first)) % n
        return part[episode]

    def with_rewards(self, R: Any) -> "Log":
        """Return the log with exact rewards, such as prices.

        `R` has shape `[S, A]`, `[S, A, S]` or `[K, S, A, S]`, in the order of the log. ValueError for another shape,
        or a reward that is not finite.
        """
        rewards = float64(R, "R")
        S, A = self.counts.shape[1:3]
        rewards = np.repeat(rewards[..., None], S, -1) if rewards.shape == (S, A) else rewards
        if rewards.shape not in ((S, A, S), self.counts.shape):
            shapes = f"{[S, A]}, {[S, A, S]} or {list(self.counts.shape)}"
            raise ValueError(f"R must have shape {shapes}, got {list(rewards.shape)}")
        check_finite(rewards)
        return replace(self, known_rewards=rewards.reshape(-1, S, A, S), unit=REWARD)

    @cached_property
    def prior(self) -> Posterior:
        """The learned prior of a new task's model."""
        counts = self.counts[prior_tasks(len(self.tasks))]
        return Posterior(dirichlet_prior(counts), self.states, self.actions)

    @cached_property
    def models(self) -> Float[np.ndarray, "K S A S"]:
        """The posterior mean models of the tasks.

        Next states unseen in all tasks get probability 0, because many small probabilities add up.
        """
        support = (self.counts.sum(0) > 0) | ~self.tried[..., None]
        inside = np.where(support, self.prior.mean, 0.0)
        prior_alpha = self.prior.alpha.sum(-1, keepdims=True) * inside / inside.sum(-1, keepdims=True)
        alpha = prior_alpha + self.counts
        return alpha / alpha.sum(-1, keepdims=True)

    @property
    def audit(self) -> list[str]:
        """A line for each finding of the audit, or for their absence."""
        maximised = [self.maximised] if self.maximised and self.known_rewards is None else []
        if self.findings:
            return [*(finding.line for finding in self.findings), *maximised]
        return [" ".join([f"The audit of {len(self.cell):,} transitions found no problems.", *maximised])]

    @property
    def remarks(self) -> list[str]:
        """The assumptions about information missing in the log."""
        ends = [self.states[state] for state in np.flatnonzero(~self.nonterminal & ~self.undeclared)]
        lines = [f"episodes end in state {name!r}, without later rewards" for name in ends]
        if missing := int((~self.tried[self.nonterminal]).sum()):
            lines.append(f"no task tried {missing} of the pairs of state and action, and no plan uses them")
        if (n_prior_tasks := len(prior_tasks(len(self.tasks)))) < len(self.tasks):
            lines.append(f"the prior is learned from {n_prior_tasks} of the {len(self.tasks)} tasks, evenly spread")
        return lines

    def new_task(self, counts: Int[np.ndarray, "S A S"] | None = None) -> Posterior:
        """Return the posterior of the model of a new task.

        `counts` are its transitions, with axes in the order of the log; None gives the prior. ValueError for another
        shape, or a number that is negative or not finite.
        """
        if counts is None:
            return self.prior
        observed = float64(counts, "counts")
        if observed.shape != self.counts.shape[1:] or not ((observed >= 0) & (observed < np.inf)).all():
            shape = list(self.counts.shape[1:])
            got = "a negative or infinite number" if list(observed.shape) == shape else f"shape {list(observed.shape)}"
            raise ValueError(f"counts must be finite numbers of transitions of shape {shape}, got {got}")
        return Posterior(self.prior.alpha + observed, self.states, self.actions)

    def model(self, posterior: Posterior | None = None) -> Model:
        """Return the expected model, with only tried actions allowed.

        `posterior` is for a task (see `new_task`). None gives a sparse model of pooled frequencies and mean rewards,
        for any number of states.
        """
        if posterior is None:
            return self._frequencies()
        mean = posterior.mean[None]
        P, R = self.playable(mean, (mean * self.rewards.theta).sum(-1))
        allowed = self.tried | ~self.nonterminal[:, None]
        return Model(P[0], R[0], self.states, self.actions, allowed)

    def _frequencies(self) -> Model:
        _, S, A, _ = self.shape
        _, state, action, following = self.indices
        visits = np.maximum(self._visits_in_all, 1)
        ends = np.flatnonzero(~self.nonterminal)
        last = (ends[:, None] * A + np.arange(A)).ravel()
        pair = np.concatenate([state * A + action, last])
        share = 1.0 / np.concatenate([visits.ravel()[pair[: len(state)]], np.ones(len(last))])
        rows = sparse.csr_array((share, (pair, np.concatenate([following, np.repeat(ends, A)]))), shape=(S * A, S))
        R = np.bincount(pair[: len(state)], self.paid, S * A).reshape(S, A) / visits
        R[ends] = self.worst_ends[ends, None]
        allowed = self.tried | ~self.nonterminal[:, None]
        return from_arrays(rows, R, self.states, self.actions, allowed=allowed)

    def playable(
        self,
        P: Float[np.ndarray, "n S A S"],
        R: Float[np.ndarray, "n S A"],
        end_rewards: Float[np.ndarray, " S"] | None = None,
    ) -> tuple[Float[np.ndarray, "n S A S"], Float[np.ndarray, "n S A"]]:
        """Make ends absorbing and the rewards of untried pairs 0.

        `end_rewards` has the reward per step in each end (default `worst_ends`).
        """
        P, R = P / P.sum(-1, keepdims=True), np.array(R)
        ends = np.flatnonzero(~self.nonterminal)
        P[:, ends] = 0.0
        P[:, ends, :, ends] = 1.0
        R[:, ~self.tried] = 0.0
        R[:, ends] = (self.worst_ends if end_rewards is None else end_rewards)[ends, None]
        return P, R


def prior_tasks(tasks: int) -> Int[np.ndarray, " k"]:
    """Return indices of the tasks for the prior: all, or evenly spread."""
    return np.unique(np.linspace(0, tasks - 1, min(tasks, MAX_PRIOR_TASKS)).round().astype(int))
