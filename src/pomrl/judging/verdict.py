"""Parts of claims and the verdicts on them.

Claims share the error of a study equally, and parts share the error of their claim (union bound). A claim *holds* if
all parts hold, and *does not hold* if one is refuted. It shows *no difference of interest* if a narrow interval of a
part contains its threshold. Otherwise it is *undecided*.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, isfinite, nan
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from pomrl.judging.estimates import ScalarEstimate
from pomrl.results.intervals import ERROR_RATE, Interval

INTEREST_SHARE = 0.02
"""The smallest effect of interest of a claim without a margin. It is a share of the comparator's mean; for gammas,
correlations and shares it is absolute."""

SMALL = f" (small: below {100 * INTEREST_SHARE:g} %)"
"""The mark of an effect that holds and is smaller than one of interest."""

MIN_GAP = 1e-12
"""The smallest gap between estimate and threshold in divisors, to avoid division by 0."""

NARROW_SHARE = 0.25
"""The maximum width of a narrow interval, as a share of the claim's margin."""

REPORTED = "reported"
"""The text in place of a verdict if estimates are reported but not judged."""


class Verdict(StrEnum):
    """The verdicts on claims, in the order of counts."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    NO_DIFFERENCE = "no difference of interest"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class VerdictLook:
    """The sign and colour of a verdict."""

    sign: str
    """A character for the report, for readers who do not see the colour."""
    color: str
    """A fill colour for figures, distinct for colour-blind readers and in black and white."""


LOOKS = {
    Verdict.DOES_NOT_HOLD: VerdictLook(sign="✗", color="#EE8866"),
    Verdict.NO_DIFFERENCE: VerdictLook(sign="≈", color="#EEDD88"),
    Verdict.UNDECIDED: VerdictLook(sign="?", color="#EEEEEE"),
    Verdict.HOLDS: VerdictLook(sign="✓", color="#77AADD"),
}
"""The sign and colour of each verdict. Lists of claims have this order, by interest to readers."""


def claimed_range(above: float, below: float) -> str:
    """Format a claimed range, such as `within ±0.1`."""
    if above == -below:
        return f"within ±{below:g}"
    return f"< {below:g}" if below < inf else f"> {above:g}"


@dataclass(frozen=True)
class Part:
    """An estimate with the open interval of its claimed values."""

    compared: str
    """The text of the comparison."""
    estimate: ScalarEstimate
    above: float = -inf
    below: float = inf
    margin: float | None = None
    """The margin of a claim of equal, no worse or no better means; None for a claim of a difference."""
    interest: float = INTEREST_SHARE
    """The smallest difference of interest from a threshold, in units of the estimate; ignored with a margin."""
    topic: str = ""
    """The topic of the part in a claim with separately judged topics; otherwise empty."""
    is_beside: bool = False
    """Whether the part is another view of the claim, judged without weight in the claim's verdict."""

    @property
    def is_claimed(self) -> bool:
        return isfinite(self.above) or isfinite(self.below)

    @property
    def is_small(self) -> bool:
        """Return whether an estimated difference is nearer to its threshold than an effect of interest."""
        ends = [end for end in (self.above, self.below) if isfinite(end)]
        is_difference = self.margin is None and self.estimate.runs > 0 and not self.estimate.is_discrete
        return is_difference and any(abs(self.estimate.value - end) < self.interest for end in ends)

    @property
    def p_hold(self) -> float:
        """The p-value of the hypothesis "the claim is false"; 1 with too few runs.

        It is the larger p-value of both thresholds, because the number must be between them.
        """
        return _p(np.max([self.estimate.p_values(self.above)[0], self.estimate.p_values(self.below)[1]]))

    @property
    def p_refute(self) -> float:
        """The p-value of the hypothesis "the claim is true"; 1 with too few runs.

        It is the smaller p-value of both thresholds, because crossing one is enough.
        """
        return _p(np.min([self.estimate.p_values(self.above)[1], self.estimate.p_values(self.below)[0]]))

    def verdict(self, error: float = ERROR_RATE) -> Verdict:
        """Return the verdict at a two-sided error; never `NO_DIFFERENCE`."""
        if self.p_refute <= error / 2:
            return Verdict.DOES_NOT_HOLD
        return Verdict.HOLDS if self.p_hold <= error / 2 else Verdict.UNDECIDED


def _p(value: float) -> float:
    return 1.0 if np.isnan(value) else float(value)


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
    def from_part(part: Part, error: float) -> "Comparison":
        lower, upper = part.estimate.interval(error)
        return Comparison(
            topic=part.topic,
            compared=part.compared,
            estimate=part.estimate.value,
            lower=lower,
            upper=upper,
            above=part.above,
            below=part.below,
            runs=part.estimate.runs,
            is_constant=part.estimate.is_constant,
            verdict=part.verdict(error) if part.is_claimed else None,
            is_beside=part.is_beside,
            is_small=part.is_claimed and part.verdict(error) is Verdict.HOLDS and part.is_small,
            p_hold=part.p_hold,
            p_refute=part.p_refute,
            min_runs=part.estimate.min_runs,
        )

    def but(self, **changed: Any) -> "Comparison":
        return self.model_copy(update=changed)

    @property
    def claimed(self) -> str:
        return "" if self.verdict is None else claimed_range(self.above, self.below)

    @property
    def found(self) -> str:
        if self.is_constant:
            return f"{Interval(self.estimate, nan, nan).text()} in all runs"
        exactly = "exactly " if self.runs == 0 and isfinite(self.estimate) else ""
        return exactly + Interval(self.estimate, self.lower, self.upper).text() + SMALL * self.is_small


def judge_part(part: Part, error: float) -> Comparison:
    """Judge a part at a two-sided error."""
    comparison = Comparison.from_part(part, error)
    if comparison.verdict is not Verdict.UNDECIDED:
        return comparison
    if _no_difference(part, comparison.lower, comparison.upper):
        return comparison.but(verdict=Verdict.NO_DIFFERENCE)
    return comparison.but(deciding_runs=_deciding_runs(part, comparison.lower, comparison.upper))


def _deciding_runs(part: Part, lower: float, upper: float) -> float:  # widths fall as 1 / sqrt(runs)
    value, runs = part.estimate.value, part.estimate.runs
    if part.estimate.is_discrete or not isfinite(upper - lower):
        return inf
    nearest = min((end for end in (part.above, part.below) if isfinite(end)), key=lambda end: abs(end - value))
    gap, width = abs(nearest - value), upper - value if nearest > value else value - lower
    wider = max(upper - value, value - lower)
    to_clear = (width / max(gap, MIN_GAP)) ** 2
    if part.margin is not None:
        to_be_narrow = ((upper - lower) / (NARROW_SHARE * part.margin)) ** 2
    else:
        to_be_narrow = (wider / max(part.interest - gap, MIN_GAP)) ** 2
    return runs * min(to_clear, to_be_narrow)


def _no_difference(part: Part, lower: float, upper: float) -> bool:
    for threshold in (end for end in (part.above, part.below) if isfinite(end) and lower <= end <= upper):
        if part.margin is not None and upper - lower < NARROW_SHARE * part.margin:
            return True
        if part.margin is None and threshold - part.interest < lower and upper < threshold + part.interest:
            return True
    return False


def decisive(comparisons: Sequence[Comparison]) -> Comparison:
    """Return the most clearly refuted or the least clearly supported part."""
    verdict = verdict_of(comparisons)
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


def verdict_of(comparisons: Sequence[Comparison]) -> Verdict:
    """Combine the verdicts of parts with weight in the claim's verdict."""
    return combine_verdicts([comparison.verdict for comparison in comparisons if not comparison.is_beside])


def combine_verdicts(verdicts: Sequence[Verdict | None]) -> Verdict:
    """Combine verdicts of parts; None is ignored."""
    for against in (Verdict.DOES_NOT_HOLD, Verdict.NO_DIFFERENCE):
        if against in verdicts:
            return against
    return Verdict.HOLDS if {*verdicts} - {None} == {Verdict.HOLDS} else Verdict.UNDECIDED
