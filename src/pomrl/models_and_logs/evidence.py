"""Which row model a log speaks for, by how well each predicts tasks that were held out."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pomrl.models_and_logs.row_models import LearnedRows, RowModel
from pomrl.models_and_logs.ties import INDEPENDENT, TOGETHER, Ties

DECIDED = 2.0
"""The multiple of its standard error from which on evidence is called decided, if it is also `LEAST`."""

LEAST = 10.0
"""The log-likelihood from which on evidence is called decided, because standard errors over few tasks are too small."""

EXACT = 1000.0
"""If what one number of a task says of a row is worth fewer transitions than this, the report says so."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the tasks of a log say about how the rows of their models depend on each other."""

    winner: str
    loser: str
    gain: Float[np.ndarray, " K"]
    """By how much the winner predicts each held-out task better, as a logarithm of probabilities."""
    rest: float = np.inf
    """What the winner's prediction of a row is worth, in transitions: beyond it, rows are taken as independent."""

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

    @property
    def warnings(self) -> list[str]:
        """What is open, as a sentence."""
        if not self.is_decided:
            return [
                "As long as it is open how tasks differ, the intervals may be too narrow: in trials they then held the "
                "true loss in about 8 of 10 logs. More tasks decide it, or a structure that you declare "
                "(pomrl.Structure)."
            ]
        if self.rest < EXACT:
            return [
                "What moves together is taken as one number of each task, and the rest as independent. If the rest is "
                "not, the intervals may be too narrow; declare the structure if you know it."
            ]
        return []


def weigh(
    counts: Int[np.ndarray, "K S A S"], structure: RowModel | None, rng: np.random.Generator
) -> tuple[LearnedRows, Evidence]:
    """Return what is believed of rows, by the row model that predicts held-out tasks best, and the evidence for it.

    What the user declares stands unless the evidence against it is decided.
    """
    ties = Ties().learn(counts, rng)
    if structure is None:
        gain = ties.gain
        tied = Evidence(TOGETHER, INDEPENDENT, gain, ties.rest)
        return ties, tied if gain.sum() > 0 else Evidence(INDEPENDENT, TOGETHER, -gain)
    declared = structure.learn(counts, rng)
    against = Evidence(ties.words, declared.words, ties.scores - declared.scores, ties.rest)
    return (ties, against) if against.is_decided else (declared, Evidence(declared.words, ties.words, -against.gain))
