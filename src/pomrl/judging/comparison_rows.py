"""Judged parts of claims, as rows of `claims.csv`."""

from collections.abc import Iterable, Sequence
from math import inf, isfinite, nan
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from pomrl.results.intervals import Interval
from verdicts.parts import INTEREST_SHARE, JudgedPart, Verdict, claimed_range, combine_verdicts

SMALL = f" (small: below {100 * INTEREST_SHARE:g} %)"
"""The mark of an effect that holds and is smaller than one of interest."""

REPORTED = "reported"
"""The text in place of a verdict if estimates are reported but not judged."""

WholeNumber = Annotated[int, BeforeValidator(float)]
"""An integer, also if written as 1e+06."""

VerdictOrNone = Annotated[
    Verdict | None,
    BeforeValidator(lambda text: None if text == REPORTED else text),
    PlainSerializer(lambda verdict: verdict or REPORTED),
]
"""A verdict, or None if nothing is claimed or judged."""


class JudgementColumns(BaseModel):
    """The base class of table rows; aliases of fields are names of columns."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


NAMES_OF_PARTS = {"runs": "part_runs", "verdict": "part_verdict"}
"""The aliases of fields with the name of another field of `Judgement`."""


class Comparison(JudgementColumns):
    """A judged part: a number claimed between `above` and `below`."""

    model_config = ConfigDict(alias_generator=lambda name: NAMES_OF_PARTS.get(name, name))

    topic: str = ""
    compared: str = ""
    estimate: float = nan
    lower: float = nan
    """The lower end of the interval that decides the verdict; NaN with too few runs."""
    upper: float = nan
    """The upper end of the interval that decides the verdict; NaN with too few runs."""
    above: float = nan
    below: float = nan
    runs: WholeNumber = 0
    is_constant: bool = False
    """Whether the number is equal in all runs."""
    verdict: VerdictOrNone = Verdict.UNDECIDED
    """The verdict on the comparison; None if nothing is claimed."""
    decisive: bool = True
    """Whether the comparison decides the verdict on the claim; without a verdict, whether it is the first one."""
    is_beside: bool = False
    """Whether the comparison is another view of the claim, without weight in its verdict."""
    is_small: bool = False
    """Whether the verdict is `holds`, and the effect is smaller than one of interest."""
    p_hold: float = Field(default=1.0, exclude=True)
    p_refute: float = Field(default=1.0, exclude=True)
    min_runs: int = Field(default=0, exclude=True)
    """The smallest number of runs for a verdict on such a number."""
    deciding_runs: float = Field(default=inf, exclude=True)
    """The number of runs for a probable decision if the estimate does not change; infinite if unknown."""

    @staticmethod
    def from_part(judged_part: JudgedPart) -> "Comparison":
        part, estimate = judged_part.part, judged_part.part.estimate
        return Comparison(
            topic=part.topic,
            compared=part.compared,
            estimate=estimate.value,
            lower=judged_part.lower,
            upper=judged_part.upper,
            above=part.above,
            below=part.below,
            runs=estimate.units,
            is_constant=estimate.is_constant,
            verdict=judged_part.verdict if part.is_claimed else None,
            is_beside=part.is_beside,
            is_small=judged_part.is_small,
            p_hold=part.p_hold,
            p_refute=part.p_refute,
            min_runs=estimate.min_units,
            deciding_runs=judged_part.needed if part.is_claimed else inf,
        )

    def but(self, **changed: Any) -> "Comparison":
        return self.model_copy(update=changed)

    @property
    def claimed(self) -> str:
        return "" if self.verdict is None else claimed_range(self.above, self.below)

    @property
    def estimate_text(self) -> str:
        if self.is_constant:
            return f"{Interval(self.estimate, nan, nan).text()} in all runs"
        exactly = "exactly " if self.runs == 0 and isfinite(self.estimate) else ""
        return exactly + Interval(self.estimate, self.lower, self.upper).text() + SMALL * self.is_small


def decisive(comparisons: Sequence[Comparison]) -> Comparison:
    """Return the most clearly refuted or the least clearly supported part."""
    verdict = claim_verdict(comparisons)
    counted = [comparison for comparison in comparisons if not comparison.is_beside]
    candidates = [comparison for comparison in counted if comparison.verdict is verdict]
    if verdict is Verdict.DOES_NOT_HOLD:
        return min(candidates, key=lambda comparison: comparison.p_refute)
    return max(candidates, key=lambda comparison: comparison.p_hold)


def by_topic(verdicts: Iterable[tuple[str, Verdict | None]]) -> dict[str, Verdict]:
    """Combine verdicts of parts by topic."""
    topics: dict[str, list[Verdict | None]] = {}
    for topic, verdict in verdicts:
        topics.setdefault(topic, []).append(verdict)
    return {topic: combine_verdicts(group) for topic, group in topics.items()}


def claim_verdict(comparisons: Sequence[Comparison]) -> Verdict:
    """Combine the verdicts of parts with weight in the claim's verdict."""
    return combine_verdicts([comparison.verdict for comparison in comparisons if not comparison.is_beside])
