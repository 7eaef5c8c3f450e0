"""The second basis on which claims are judged: the authors' notebook, which differs from the text in many places.

A claim is the same on both bases: the same comparisons with the same thresholds. Only the experiments differ
(`pomrl.configuration.notebook`). The notebook averages the loss of each run over a hundred batches, so that a run
takes longer than one by the text and says more: claims are judged at smaller numbers of runs. Below 1,000 runs
intervals are not corrected for skewness. The differences of losses in a run have a skewness of about 1 here, and with
2 the error is still about what is allowed (`tests/claims/error_rates.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pomrl.claims.loading import Basis, Settings

TEXT, NOTEBOOK = "text", "notebook"
"""The names of the two bases."""

ANALYSES = (200, 500, 1000, 2000)
"""The numbers of runs at which claims are judged on the notebook's basis."""

ADDED = frozenset({"I.1", "I.2", "A.3", "A.4", "A.5"})
"""Claims about experiments that the notebook does not contain, computed under its definitions of everything else."""

NOT_JUDGED = {"T.1": "the notebook has no simulation of the bound"}
"""Claims that are not judged on the notebook's basis, with the reason."""


@dataclass(frozen=True)
class Turn:
    """The difference between text and notebook that turns the verdict on a claim."""

    words: str
    """The difference in words."""
    basis: str
    """Whose experiments are changed, `text` or `notebook`: with this change alone the verdict is that of the other."""
    overrides: tuple[str, ...]
    """What is set, each as `key=value`."""

    @property
    def sentence(self) -> str:
        """The difference, and the experiment that shows that it turns the verdict."""
        keys = ", ".join(f"`{override}`" for override in self.overrides)
        return f"What turns it: {self.words} (shown by {keys} alone in the experiments of the {self.basis})."


_FEWER_SAMPLES = Turn(
    "m trajectories of 10 steps visit a pair 2.5 times on average, where the text has m = 5 transitions from each",
    TEXT,
    ("data=trajectories", "data.length=10"),
)

_START = "ada-POMRL's first guess of the variance counts as a task for ever, so that it stays in the estimate"

TURNED_BY: Mapping[str, Turn] = {
    "Q2.1": _FEWER_SAMPLES,
    "Q4.5": _FEWER_SAMPLES,
    "A.5": Turn(_START, NOTEBOOK, ("estimator.start_weight=0",)),
}
"""By the id of the claim: the single difference that turns its verdict, where one does. `--turns` judges each again."""

NEARLY = {
    "Q1.5": f"No single difference was shown to turn it. Most of it is that {_START}: with `estimator.start_weight=0` "
    "alone the gap falls to 11 % [8, 14] (500 runs), around the margin of 10 %."
}
"""By the id of the claim: what is known where no single difference turns its verdict for certain."""


def turned_basis(turn: Turn, settings: Settings) -> Basis:
    """Return the basis on which a claim is judged with one difference changed, whose experiments these are."""
    return notebook(settings) if turn.basis == NOTEBOOK else Basis(TEXT, settings)


def difference(id: str) -> str:
    """Return a sentence on the difference that turns the verdict on the claim with this id."""
    if id in TURNED_BY:
        return TURNED_BY[id].sentence
    return NEARLY.get(id, "Which single difference turns it is open.")


def notebook(settings: Settings) -> Basis:
    """Return the basis of the notebook, whose experiments these are."""
    return Basis(NOTEBOOK, settings, analyses=ANALYSES)
