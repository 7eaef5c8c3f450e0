"""The transitions that some task of a log has shown, as short arrays, and what stands for all others."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.data import Batch
from pomrl.science.estimators.empirical_bayes import DirichletMemory, EmpiricalBayes

SMALLEST = 1e-12
"""The least probability of a successor that a task has shown."""


def prior_of_tasks(counts: Int[np.ndarray, "K S A S"]) -> DirichletMemory:
    """Return what empirical Bayes learns from the counts of tasks, in their order."""
    learner = EmpiricalBayes()
    memory: DirichletMemory = learner.initial_memory(1, *counts.shape[1:3])
    for each in counts:
        memory = learner.learn(memory, Batch.of_counts(each[None], max(int(each.sum(-1).max()), 1)))
    return memory


@dataclass(frozen=True, eq=False)
class Successors:
    """The E transitions that some task has shown, row by row."""

    index: Int[np.ndarray, " E"]
    """Their places in a model [S, A, S] that is made flat."""
    row: Int[np.ndarray, " E"]
    """The number of their row, among those with transitions."""
    starts: Int[np.ndarray, " N"]
    """The first of each row."""
    others: Float[np.ndarray, "S A S"]
    """The expected number of new draws of p that each other successor is worth."""
    prior: float
    """The number of new draws that each of these successors is worth before any task."""

    @classmethod
    def of(cls, counts: Int[np.ndarray, "K S A S"]) -> "Successors":
        """Return the successors that these tasks have shown."""
        memory = prior_of_tasks(counts)
        pooled = counts.sum(0)
        index = np.flatnonzero(pooled)
        _, starts, row = np.unique(index // pooled.shape[-1], return_index=True, return_inverse=True)
        inside = memory.P_o[0] / memory.P_o[0].sum(-1, keepdims=True)
        seen = np.where(pooled > 0, inside, 0.0).sum(-1, keepdims=True)
        worth = memory.b[0] * np.maximum((pooled > 0).sum(-1, keepdims=True), 1) + pooled.sum(-1, keepdims=True)
        others = np.where(pooled > 0, 0.0, inside * worth / np.where(seen > 0, seen, 1.0))
        return cls(index, row, starts, others, float(memory.b.squeeze()))

    @property
    def worth_unseen(self) -> Float[np.ndarray, " E"]:
        """The new draws that each successor is worth as long as no task has shown it: as many as others of its row."""
        S = len(self.others)
        seen = np.bincount(self.row)[self.row]
        of_row = self.others.sum(-1).ravel()[self.index // S]
        return np.where(seen < S, of_row / np.maximum(S - seen, 1), self.prior / S) + SMALLEST

    def summed(self, values: Float[np.ndarray, "*n E"]) -> Float[np.ndarray, "*n N"]:
        """Return sums over rows."""
        return np.add.reduceat(values, self.starts, axis=-1)

    def rows(self, logits: Float[np.ndarray, "*n E"]) -> Float[np.ndarray, "*n E"]:
        """Return the distributions that are proportional to the exponentials of these numbers."""
        weight = np.exp(logits - np.maximum.reduceat(logits, self.starts, axis=-1)[..., self.row])
        return np.maximum(weight / self.summed(weight)[..., self.row], SMALLEST)

    def models(
        self, rows: Float[np.ndarray, "*n E"], others: Float[np.ndarray, "*n S A S"]
    ) -> Float[np.ndarray, "*n S A S"]:
        """Return models with these rows, of which these probabilities of other successors are taken."""
        found = others.reshape(*rows.shape[:-1], -1).copy()
        left = 1.0 - others.sum(-1).reshape(*rows.shape[:-1], -1)
        found[..., self.index] = rows * left[..., self.index // others.shape[-1]]
        return found.reshape(others.shape)

    def drawn_others(self, weight: Float[np.ndarray, "R E"], rng: np.random.Generator) -> Float[np.ndarray, "R S A S"]:
        """Draw the probabilities of other successors beside these weights of those that the log has shown."""
        drawn = rng.standard_gamma(np.broadcast_to(self.others, (len(weight), *self.others.shape)))
        known = np.zeros((len(weight), self.others[..., 0].size))
        known[:, self.index[self.starts] // self.others.shape[-1]] = self.summed(weight)
        total = drawn.sum(-1, keepdims=True) + known.reshape(*drawn.shape[:-1], 1)
        return drawn / np.where(total > 0, total, 1.0)
