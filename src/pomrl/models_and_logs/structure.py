"""How tasks differ: a structure that the user declares, against what the log itself shows (`ties`).

Whichever predicts tasks better that were held out is believed, but what is declared stands unless that is decided.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp

from pomrl.models_and_logs.ties import INDEPENDENT, TOGETHER, Counts, LearnedTies, learned_ties
from pomrl.science.solvers.evaluation import check_models
from pomrl.science.solvers.faces import float64

DECLARED = "tasks have the structure that you declared"
"""What models of a declared structure are called in reports."""

DECIDED = 2.0
"""The multiple of its standard error from which on evidence is called decided, if it is also `LEAST`."""

LEAST = 10.0
"""The log-likelihood from which on evidence is called decided, because standard errors over few tasks are too small."""

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


LearnedRows = LearnedTies | LearnedStructure
"""What is believed of the rows of the models of tasks: its `words` and `scores`, and a `mean` and a `sample`."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the tasks of a log say about how the rows of their models depend on each other."""

    winner: str
    loser: str
    gain: Float[np.ndarray, " K"]
    """By how much the winner predicts each held-out task better, as a logarithm of probabilities."""

    @property
    def error(self) -> float:
        """The standard error of the sum of gains."""
        return float(self.gain.std(ddof=1) * np.sqrt(len(self.gain))) if len(self.gain) > 1 else np.inf

    @property
    def is_decided(self) -> bool:
        """Return whether the sum of gains is more than chance."""
        return bool(self.gain.sum() > max(DECIDED * self.error, LEAST))

    @property
    def words(self) -> str:
        """The evidence as a sentence."""
        if not self.gain.any():
            return f"The report assumes that {self.winner}."
        said = f"log-likelihood of held-out tasks {self.gain.sum():+.1f}, standard error {self.error:.1f}"
        if self.is_decided:
            return f"The log shows that {self.winner}, against the assumption that {self.loser} ({said})."
        return (
            f"The log does not decide whether {self.winner}, or whether {self.loser}; the report assumes the former "
            f"({said})."
        )


def weigh(
    counts: Int[np.ndarray, "K S A S"], structure: Structure | None, rng: np.random.Generator
) -> tuple[LearnedRows, Evidence]:
    """Return what is believed of rows, by what predicts held-out tasks best, and the evidence for it.

    What the user declares stands unless the evidence against it is decided.
    """
    ties = learned_ties(counts, rng)
    if structure is None:
        tied = Evidence(TOGETHER, INDEPENDENT, ties.gain)
        return ties, tied if ties.words == TOGETHER else Evidence(INDEPENDENT, TOGETHER, -ties.gain)
    declared = structure.learn(counts)
    against = Evidence(ties.words, DECLARED, ties.scores - declared.scores)
    return (ties, against) if against.is_decided else (declared, Evidence(DECLARED, ties.words, -against.gain))
