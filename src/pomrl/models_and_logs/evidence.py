"""How rows depend on each other by what a log says: whichever predicts tasks better that were held out."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pomrl.models_and_logs.structure import DECLARED, LearnedStructure, Structure
from pomrl.models_and_logs.ties import INDEPENDENT, TOGETHER, LearnedTies, learned_ties

DECIDED = 2.0
"""The multiple of its standard error from which on evidence is called decided, if it is also `LEAST`."""

LEAST = 10.0
"""The log-likelihood from which on evidence is called decided, because standard errors over few tasks are too small."""

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
