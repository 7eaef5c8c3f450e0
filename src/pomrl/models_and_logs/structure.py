"""A structure of models that the user declares, and what a log says under it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp

from pomrl.models_and_logs.ties import Counts
from pomrl.science.solvers.evaluation import check_models
from pomrl.science.solvers.faces import float64

DECLARED = "tasks have the structure that you declared"
"""What models of a declared structure are called in reports."""

LEAST_CHANCE = 1e-12
"""The probability of a transition that a declared structure rules out, so that one such row in a log is no error."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What the user declares: the model of a task is a known function of one latent.

    Each value of the latent has the same chance before a task is seen.
    """

    latents: Float[np.ndarray, " g"]
    """The values of the latent that are possible."""
    models: Callable[[Float[np.ndarray, " g"]], Any]
    """Returns the transition probabilities P[g, s, a, s'] of these values, states and actions in the log's order."""

    def learn(self, counts: Int[np.ndarray, "K S A S"]) -> "LearnedStructure":
        """Return what is believed after these counts.

        Raises:
            ValueError: The function returns no models of the log's size.
        """
        P = float64(self.models(np.asarray(self.latents, float)), "the declared structure")
        wanted = [len(self.latents), *counts.shape[1:]]
        if list(P.shape) != wanted:
            raise ValueError(f"the models of the declared structure have to be {wanted}, and are {list(P.shape)}")
        check_models(P, np.zeros(P.shape[:-1]))
        chances = [logsumexp(log_likelihoods(each, P)) - np.log(len(P)) for each in counts]
        return LearnedStructure(P, np.array(chances))


@dataclass(frozen=True, eq=False)
class LearnedStructure:
    """The models of a declared structure, among which the transitions of a task choose."""

    P: Float[np.ndarray, "g S A S"]
    scores: Float[np.ndarray, " K"]
    """The logarithm of the probability of the transitions of each task, before any is known."""
    words: str = DECLARED
    """What it takes rows to do."""

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
