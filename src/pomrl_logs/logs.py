"""Logs of one's own: what transitions of earlier tasks say about the next task.

`log_tables` makes a log from a table. `Log.prior` learns how the models of tasks are distributed, by empirical Bayes
(`pomrl_studies.beyond.estimators.empirical_bayes`). `Log.rewards` learns what they pay. `Log.new_task` gives the model
of a new task with its uncertainty.
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

from pomrl.base import check_memory
from pomrl.models.planning import END, Model, from_arrays
from pomrl.science.data import Batch
from pomrl.science.solvers.input_checks import check_finite, float64
from pomrl_logs.findings import Finding
from pomrl_logs.task_rewards import KnownRewards, LearnedRewards, learn_rewards
from pomrl_studies.beyond.estimators.empirical_bayes import DirichletMemory, EmpiricalBayes

MOST_TASKS = 200
"""The most tasks that the prior is learned from."""


DENSE_BYTES = 2**28
"""The size up to which numbers of transitions are kept as an array."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of the model of a task: an independent Dirichlet distribution of each row."""

    alpha: Float[np.ndarray, "S A S"]
    """The parameters of the distributions."""
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]

    def __repr__(self) -> str:
        return f"Posterior(states={len(self.states)}, actions={len(self.actions)})"

    @property
    def mean(self) -> Float[np.ndarray, "S A S"]:
        """The expected transition probabilities."""
        return self.alpha / self.alpha.sum(-1, keepdims=True)

    def table(self, level: float = 0.95) -> "pd.DataFrame":
        """Return a row for each transition, with columns state, action, next_state, probability, lower, upper.

        Args:
            level: The probability with which a transition probability lies between lower and upper, in (0, 1).

        Raises:
            ValueError: The level is not in (0, 1).
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level={level!r} is no probability between 0 and 1, such as 0.95")
        rest = np.maximum(self.alpha.sum(-1, keepdims=True) - self.alpha, 1e-12)
        ends = [betaincinv(np.maximum(self.alpha, 1e-12), rest, q) for q in ((1 - level) / 2, (1 + level) / 2)]
        index = pd.MultiIndex.from_product([self.states, self.actions, self.states])
        frame = index.to_frame(index=False, name=["state", "action", "next_state"])
        return frame.assign(probability=self.mean.ravel(), lower=ends[0].ravel(), upper=ends[1].ravel())


@dataclass(frozen=True, eq=False)
class Log:
    """The transitions of several tasks, with their rewards; tasks, states and actions keep their names."""

    cell: Int[np.ndarray, " n"]
    """The position of each transition (task, state, action, next state) in `counts`, flattened."""
    reward: Float[np.ndarray, " n"]
    """What it pays."""
    episode: Int[np.ndarray, " n"]
    """The number of its episode, from 0; an episode is of one task."""
    tasks: tuple[Hashable, ...]
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]
    known: Float[np.ndarray, "#K S A S"] | None = None
    """Rewards that are known, in the place of those of the log (`with_rewards`)."""
    ends: frozenset[Hashable] = frozenset()
    """The states that are declared to be ends: nothing is paid after them."""
    findings: tuple[Finding, ...] = ()
    """What the audit of the table says, what weakens advice first."""
    maximised: str = ""
    """The sentence that says what is maximised; empty where nobody says."""

    def __repr__(self) -> str:
        tasks, states, actions, _ = self.shape
        return f"Log(transitions={len(self.cell)}, tasks={tasks}, states={states}, actions={actions})"

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The numbers of tasks, states, actions and next states."""
        return len(self.tasks), len(self.states), len(self.actions), len(self.states)

    @property
    def places(self) -> tuple[Int[np.ndarray, " n"], ...]:
        """The task, state, action and next state of each transition."""
        return np.unravel_index(self.cell, self.shape)

    @cached_property
    def counts(self) -> Int[np.ndarray, "K S A S"]:
        """The number of transitions of each kind.

        Raises:
            ValueError: They would take too much memory; `model` needs none of them.
        """
        what = f"{len(self.tasks)} tasks, {len(self.states)} states, for which model() plans without a prior"
        check_memory(3 * 8 * int(np.prod(self.shape)), what)
        return self.sums(None)

    def sums(self, values: Float[np.ndarray, " n"] | None) -> Any:
        """Return the sums of something over transitions of each kind, or how many there are."""
        return np.bincount(self.cell, values, int(np.prod(self.shape))).reshape(self.shape)

    @cached_property
    def visits(self) -> Int[np.ndarray, "K S A"]:
        """How often each task has tried each action in each state."""
        return self.sums_of_pairs(None)

    def sums_of_pairs(self, values: Float[np.ndarray, " n"] | None) -> Any:
        """Return the sums of something over transitions from each pair of each task, or how many there are."""
        K, S, A, _ = self.shape
        return np.bincount(self.cell // S, values, K * S * A).reshape(K, S, A)

    @property
    def is_large(self) -> bool:
        """Return whether numbers of transitions of each kind are too many for arrays."""
        return 8 * int(np.prod(self.shape)) > DENSE_BYTES

    @cached_property
    def seen(self) -> Bool[np.ndarray, "S A"]:
        """Return whether any task has a transition from each pair."""
        return self._visits_in_all > 0

    @property
    def _visits_in_all(self) -> Int[np.ndarray, "S A"]:
        """How often all tasks together have tried each action."""
        _, S, A, _ = self.shape
        _, state, action, _ = self.places
        return np.bincount(state * A + action, minlength=S * A).reshape(S, A)

    @property
    def left(self) -> Bool[np.ndarray, " S"]:
        """Return whether transitions leave each state."""
        return np.asarray(self.seen.any(1))

    @property
    def undeclared(self) -> Bool[np.ndarray, " S"]:
        """Return whether each state is never left, although nobody says that episodes end there."""
        declared = [state is END or state in self.ends for state in self.states]
        return np.asarray(~self.left & ~np.array(declared, bool))

    @property
    def worst_ends(self) -> Float[np.ndarray, " S"]:
        """The least that undeclared ends may pay in each step: the least of the log, at most 0; 0 for other states."""
        return np.where(self.undeclared, min(float(self.paid.min(initial=0.0)), 0.0), 0.0)

    @cached_property
    def rewards(self) -> LearnedRewards | KnownRewards:
        """What is known of the rewards of each task."""
        if self.known is not None:
            return KnownRewards(self.known)
        return learn_rewards(self.counts, self.sums(self.reward), self.sums(self.reward**2))

    @property
    def paid(self) -> Float[np.ndarray, " n"]:
        """What each transition pays, by the rewards that are known or else by the log."""
        return self.reward if self.known is None else np.broadcast_to(self.known, self.shape).ravel()[self.cell]

    def only(self, chosen: Bool[np.ndarray, " n"]) -> "Log":
        """Return the log of some of the transitions."""
        return replace(self, cell=self.cell[chosen], reward=self.reward[chosen], episode=self.episode[chosen])

    def parts(self, n: int, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
        """Return the part of each transition, where the episodes of each task are dealt out at random to n parts."""
        _, first, episode = np.unique(self.episode, return_index=True, return_inverse=True)
        shuffled = rng.permutation(len(first))
        by_task = shuffled[self.places[0][first[shuffled]].argsort(kind="stable")]
        part = np.empty(len(first), int)
        part[by_task] = np.arange(len(first)) % n
        return part[episode]

    def with_rewards(self, R: Any) -> "Log":
        """Return the log with rewards that are known exactly, such as prices, in the place of the observed ones.

        Args:
            R: Rewards R(s, a) or R(s, a, s'), [S, A] or [S, A, S], or with an axis for tasks in front [K, S, A, S],
                with tasks, states and actions in the order of this log.

        Raises:
            ValueError: The array has another shape, or a reward is not finite.
        """
        found = float64(R, "R")
        S, A = self.counts.shape[1:3]
        found = np.repeat(found[..., None], S, -1) if found.shape == (S, A) else found
        if found.shape not in ((S, A, S), self.counts.shape):
            shapes = f"{[S, A]}, {[S, A, S]} or {list(self.counts.shape)}"
            raise ValueError(f"R has to be {shapes}, and is {list(found.shape)}")
        check_finite(found)
        return replace(self, known=found.reshape(-1, S, A, S))

    @cached_property
    def prior(self) -> Posterior:
        """What the tasks say of the next one: Dirichlet(c P_o) in each pair, with c and P_o from all tasks."""
        learner = EmpiricalBayes()
        memory: DirichletMemory = learner.initial_memory(1, *self.counts.shape[1:3])
        for counts in self.counts[some_of(len(self.tasks))]:
            memory = learner.learn(memory, Batch.of_counts(counts[None], max(int(counts.sum(-1).max()), 1)))
        return Posterior((memory.c * memory.P_o)[0], self.states, self.actions)

    @cached_property
    def models(self) -> Float[np.ndarray, "K S A S"]:
        """The expected models of the tasks, given the prior and their transitions.

        A next state that no task has shown has no chance: many small ones add up over a long horizon.
        """
        shown = (self.counts.sum(0) > 0) | ~self.seen[..., None]
        inside = np.where(shown, self.prior.mean, 0.0)
        of_prior = self.prior.alpha.sum(-1, keepdims=True) * inside / inside.sum(-1, keepdims=True)
        alpha = of_prior + self.counts
        return alpha / alpha.sum(-1, keepdims=True)

    @property
    def audit(self) -> list[str]:
        """What the audit of the table found, a line each; one line if it found nothing."""
        maximised = [self.maximised] if self.maximised and self.known is None else []
        if self.findings:
            return [*(finding.line for finding in self.findings), *maximised]
        return [" ".join([f"The audit of {len(self.cell):,} transitions found nothing that is wrong.", *maximised])]

    @property
    def remarks(self) -> list[str]:
        """A line for each thing that the log does not say, and that is assumed in its place."""
        ends = [self.states[state] for state in np.flatnonzero(~self.left & ~self.undeclared)]
        lines = [f"state {name!r} is an end, after which nothing is paid" for name in ends]
        if missing := int((~self.seen[self.left]).sum()):
            lines.append(f"{missing} pairs of a state and an action are in no task: they are never planned")
        if (judged := len(some_of(len(self.tasks)))) < len(self.tasks):
            lines.append(f"the prior is that of {judged} of the {len(self.tasks)} tasks, evenly spread")
        return lines

    def new_task(self, counts: Int[np.ndarray, "S A S"] | None = None) -> Posterior:
        """Return what is believed of the model of a new task, before or after its first transitions.

        Args:
            counts: The numbers of its transitions, with states and actions in the order of this log; none by default.

        Raises:
            ValueError: The counts have another shape, or one of them is negative or not finite.
        """
        if counts is None:
            return self.prior
        found = float64(counts, "counts")
        if found.shape != self.counts.shape[1:] or not ((found >= 0) & (found < np.inf)).all():
            raise ValueError(f"counts have to be {list(self.counts.shape[1:])} numbers of transitions")
        return Posterior(self.prior.alpha + found, self.states, self.actions)

    def model(self, posterior: Posterior | None = None) -> Model:
        """Return the expected model, for `Model.plan`; pairs without a transition in the log are not allowed.

        Args:
            posterior: What is believed of a task (`new_task`); None: the frequencies and mean rewards of all tasks
                together, as a sparse matrix, which serves any number of states.
        """
        if posterior is None:
            return self._frequencies()
        mean = posterior.mean[None]
        P, R = self.playable(mean, (mean * self.rewards.theta).sum(-1))
        allowed = self.seen | ~self.left[:, None]
        return Model(P[0], R[0], self.states, self.actions, allowed)

    def _frequencies(self) -> Model:
        """Return the model of the frequencies of all tasks together."""
        _, S, A, _ = self.shape
        _, state, action, following = self.places
        visits = np.maximum(self._visits_in_all, 1)
        ends = np.flatnonzero(~self.left)
        last = (ends[:, None] * A + np.arange(A)).ravel()
        pair = np.concatenate([state * A + action, last])
        share = 1.0 / np.concatenate([visits.ravel()[pair[: len(state)]], np.ones(len(last))])
        rows = sparse.csr_array((share, (pair, np.concatenate([following, np.repeat(ends, A)]))), shape=(S * A, S))
        R = np.bincount(pair[: len(state)], self.paid, S * A).reshape(S, A) / visits
        R[ends] = self.worst_ends[ends, None]
        allowed = self.seen | ~self.left[:, None]
        return from_arrays(rows, R, self.states, self.actions, allowed=allowed)

    def playable(
        self,
        P: Float[np.ndarray, "n S A S"],
        R: Float[np.ndarray, "n S A"],
        of_ends: Float[np.ndarray, " S"] | None = None,
    ) -> tuple[Float[np.ndarray, "n S A S"], Float[np.ndarray, "n S A"]]:
        """Return models and rewards in which ends are never left, and unseen pairs pay nothing.

        Args:
            P: Transition probabilities.
            R: Expected rewards.
            of_ends: What each state pays in each step if it is an end; by default `worst_ends`.
        """
        P, R = P / P.sum(-1, keepdims=True), np.array(R)
        ends = np.flatnonzero(~self.left)
        P[:, ends] = 0.0
        P[:, ends, :, ends] = 1.0
        R[:, ~self.seen] = 0.0
        R[:, ends] = (self.worst_ends if of_ends is None else of_ends)[ends, None]
        return P, R


def some_of(tasks: int) -> Int[np.ndarray, " k"]:
    """Return the tasks that the prior is learned from: all, or some, evenly spread."""
    return np.unique(np.linspace(0, tasks - 1, min(tasks, MOST_TASKS)).round().astype(int))
