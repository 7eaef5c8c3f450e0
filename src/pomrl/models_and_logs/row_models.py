"""How the rows of the models of tasks depend on each other: what a row model is, and which one a log speaks for.

A row model learns from the counts of all tasks, and says what is believed of the model of each (`LearnedRows`). Which
one is right is decided by how well it predicts tasks that were held out. `Structure` is for users who know how a latent
gives the model; `ties` has the models that learn from the log alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp

from pomrl.models_and_logs.models import numbers
from pomrl.science.solvers.evaluation import check_models

Counts = Int[np.ndarray, "S A S"]
"""The transitions of one task."""

LEAST_CHANCE = 1e-12
"""The probability of a transition that a declared structure rules out, so that one such row in a log is no error."""


class LearnedRows(ABC):
    """What a row model believes after the counts of K tasks."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it takes rows to do, as in "rows are independent"."""

    @property
    @abstractmethod
    def scores(self) -> Float[np.ndarray, " K"]:
        """The logarithm of the probability of the transitions of each task, predicted from the other tasks."""

    @abstractmethod
    def mean(self, counts: Counts) -> Float[np.ndarray, "S A S"]:
        """Return the posterior mean of the model of a task with these counts."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, counts: Counts, n: int) -> Float[np.ndarray, "n S A S"]:
        """Draw n models of a task with these counts; what all tasks share is the same in draw i of each task."""


class RowModel(ABC):
    """An assumption about rows. A further one needs no more than this method."""

    @abstractmethod
    def learn(self, counts: Int[np.ndarray, "K S A S"], rng: np.random.Generator) -> LearnedRows:
        """Return what is believed after these counts."""


@dataclass(frozen=True, eq=False)
class Structure(RowModel):
    """A row model that the user declares: the model of a task is a known function of one latent.

    Each value of the latent has the same chance before a task is seen.
    """

    latents: Float[np.ndarray, " g"]
    """The values of the latent that are possible."""
    models: Callable[[Float[np.ndarray, " g"]], Any]
    """Returns the transition probabilities P[g, s, a, s'] of these values, states and actions in the log's order."""

    def learn(self, counts: Int[np.ndarray, "K S A S"], rng: np.random.Generator) -> "LearnedStructure":
        """Return what is believed after these counts.

        Raises:
            ValueError: The function returns no models of the log's size.
        """
        P = numbers(self.models(np.asarray(self.latents, float)), "the declared structure")
        wanted = [len(self.latents), *counts.shape[1:]]
        if list(P.shape) != wanted:
            raise ValueError(f"the models of the declared structure have to be {wanted}, and are {list(P.shape)}")
        check_models(P, np.zeros(P.shape[:-1]))
        chances = [logsumexp(log_likelihoods(each, P)) - np.log(len(P)) for each in counts]
        return LearnedStructure(P, np.array(chances))


@dataclass(frozen=True, eq=False)
class LearnedStructure(LearnedRows):
    """The models of a declared structure, among which the transitions of a task choose."""

    P: Float[np.ndarray, "g S A S"]
    chances: Float[np.ndarray, " K"]
    """The logarithms of the probabilities of the transitions of tasks, before any is known."""

    @property
    def scores(self) -> Float[np.ndarray, " K"]:
        return self.chances

    @property
    def words(self) -> str:
        return "tasks have the structure that you declared"

    def mean(self, counts: Counts) -> Float[np.ndarray, "S A S"]:
        """Return the posterior mean of the model of a task with these counts."""
        return np.tensordot(self._weights(counts), self.P, 1)

    def sample(self, rng: np.random.Generator, counts: Counts, n: int) -> Float[np.ndarray, "n S A S"]:
        """Draw n models of a task with these counts."""
        return self.P[rng.choice(len(self.P), n, p=self._weights(counts))]

    def _weights(self, counts: Counts) -> Float[np.ndarray, " g"]:
        found = log_likelihoods(counts, self.P)
        return np.exp(found - logsumexp(found))


def log_likelihoods(counts: Counts, P: Float[np.ndarray, "g S A S"]) -> Float[np.ndarray, " g"]:
    """Return the logarithm of the probability of a task's transitions under each model."""
    seen = np.nonzero(counts)
    return np.log(np.maximum(P[:, *seen], LEAST_CHANCE)) @ counts[seen]
