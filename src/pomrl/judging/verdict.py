"""Parts of claims, the data's evidence on them, and verdicts.

`p_hold` tests that the claim is false: the larger p-value of two thresholds, since both must be kept. `p_refute` tests
that it is true: the smaller one, since crossing one is enough. A `Comparison` is a judged part.

Each claim has an equal share of the error of a study, and each part an equal share of that (union bound). A claim
*holds* when all parts hold, *does not hold* when one is refuted, shows *no difference of interest* when the interval of
one contains its threshold and is narrow, and is *undecided* otherwise.
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
"""The smallest effect of interest of a claim without a margin: as a share of the comparator's mean, or of gammas,
correlations and shares, as it is."""

MIN_GAP = 1e-12
"""The smallest gap between an estimate and a threshold that runs are estimated for."""

NARROW_SHARE = 0.25
"""An interval is narrow if its full width is below this share of the claim's margin."""

REPORTED = "reported"
"""What stands in the place of a verdict where estimates are reported and nothing is judged."""


class Verdict(StrEnum):
    """List what the data may say of a claim, in counting order."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    NO_DIFFERENCE = "no difference of interest"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class VerdictLook:
    """Hold the sign and color of a verdict."""

    sign: str
    """A character for the report, so that no verdict is told by its colour alone."""
    color: str
    """A fill colour of figures; they are told apart without red and green, and in print by their lightness."""


LOOKS = {
    Verdict.DOES_NOT_HOLD: VerdictLook(sign="✗", color="#EE8866"),
    Verdict.NO_DIFFERENCE: VerdictLook(sign="≈", color="#EEDD88"),
    Verdict.UNDECIDED: VerdictLook(sign="?", color="#EEEEEE"),
    Verdict.HOLDS: VerdictLook(sign="✓", color="#77AADD"),
}
"""The look of each verdict, in the order in which verdicts are listed: what a reader asks for first comes first."""


def claimed_range(above: float, below: float) -> str:
    """Return a claimed range in words, such as `within ±0.1`."""
    if above == -below:
        return f"within ±{below:g}"
    return f"< {below:g}" if below < inf else f"> {above:g}"


@dataclass(frozen=True)
class Part:
    """Compare a number with an open interval of claimed values."""

    compared: str
    """The comparison in words."""
    estimate: ScalarEstimate
    above: float = -inf
    below: float = inf
    margin: float | None = None
    """The margin of a claim that two numbers are alike or one is no worse; None for a claim of a difference."""
    interest: float = INTEREST_SHARE
    """The smallest difference from a threshold that matters, in units of the estimate; for a claim of a difference."""
    topic: str = ""
    """What the part is about, where a claim consists of topics that are judged by themselves; else empty."""

    @property
    def is_claimed(self) -> bool:
        """Return whether anything is claimed of the number."""
        return isfinite(self.above) or isfinite(self.below)

    @property
    def p_hold(self) -> float:
        """The p-value of a number outside the interval; 1 without runs."""
        return _p(np.max([self.estimate.p_values(self.above)[0], self.estimate.p_values(self.below)[1]]))

    @property
    def p_refute(self) -> float:
        """The p-value of a number inside the interval; 1 without runs."""
        return _p(np.min([self.estimate.p_values(self.above)[1], self.estimate.p_values(self.below)[0]]))

    def verdict(self, error: float = ERROR_RATE) -> Verdict:
        """Return the verdict of the interval with this error."""
        if self.p_refute <= error / 2:
            return Verdict.DOES_NOT_HOLD
        return Verdict.HOLDS if self.p_hold <= error / 2 else Verdict.UNDECIDED


def _p(value: float) -> float:
    """Replace NaN, of too few runs, by 1."""
    return 1.0 if np.isnan(value) else float(value)


WholeNumber = Annotated[int, BeforeValidator(float)]
"""A number of runs in a column of numbers, where it may be written as 1e+06."""

VerdictOrNone = Annotated[
    Verdict | None,
    BeforeValidator(lambda text: None if text == REPORTED else text),
    PlainSerializer(lambda verdict: verdict or REPORTED),
]
"""A verdict, or None where nothing is claimed or judged."""


class JudgementColumns(BaseModel):
    """Define columns of the table of judgements by aliases of fields."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


NAMES_OF_PARTS = {"runs": "part_runs", "verdict": "part_verdict"}
"""The columns of a comparison whose names are not those of its fields, which a judgement has too."""


class Comparison(JudgementColumns):
    """Hold a judged part: a number claimed between `above` and `below`."""

    model_config = ConfigDict(alias_generator=lambda name: NAMES_OF_PARTS.get(name, name))

    topic: str = ""
    compared: str = ""
    estimate: float = nan
    lower: float = nan
    """The lower end of the interval that the verdict rests on; NaN with too few runs."""
    upper: float = nan
    """The upper end of the interval that the verdict rests on; NaN with too few runs."""
    above: float = nan
    below: float = nan
    runs: WholeNumber = 0
    is_constant: bool = False
    """Whether the number is the same in every run."""
    verdict: VerdictOrNone = Verdict.UNDECIDED
    """The verdict on the comparison; None where nothing is claimed."""
    decisive: bool = True
    """Whether the verdict on the claim rests on it; where there is no verdict, whether it is the first one."""
    p_hold: float = Field(default=1.0, exclude=True)
    p_refute: float = Field(default=1.0, exclude=True)
    deciding_runs: float = Field(default=inf, exclude=True)
    """The number of runs that would probably decide it, if the estimate stays; infinite where that is not known."""

    @staticmethod
    def from_part(part: Part, error: float) -> "Comparison":
        """Return a part with the verdict of its interval with this error."""
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
            p_hold=part.p_hold,
            p_refute=part.p_refute,
        )

    def but(self, **changed: Any) -> "Comparison":
        """Return the comparison with other values of some fields."""
        return self.model_copy(update=changed)

    @property
    def claimed(self) -> str:
        """The claimed range; empty where nothing is claimed."""
        return "" if self.verdict is None else claimed_range(self.above, self.below)

    @property
    def found(self) -> str:
        """The estimate with its interval, except for known or constant numbers."""
        if self.is_constant:
            return f"{Interval(self.estimate, nan, nan).text()} in all runs"
        exactly = "exactly " if self.runs == 0 and isfinite(self.estimate) else ""
        return exactly + Interval(self.estimate, self.lower, self.upper).text()


def judge_part(part: Part, error: float) -> Comparison:
    """Judge a part by its interval with this error."""
    comparison = Comparison.from_part(part, error)
    if comparison.verdict is not Verdict.UNDECIDED:
        return comparison
    if _no_difference(part, comparison.lower, comparison.upper):
        return comparison.but(verdict=Verdict.NO_DIFFERENCE)
    return comparison.but(deciding_runs=_deciding_runs(part, comparison.lower, comparison.upper))


def _deciding_runs(part: Part, lower: float, upper: float) -> float:
    """Return about how many runs would decide a part with this estimate.

    Widths fall as 1 / sqrt(runs).
    """
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
    """Return the part refuted most clearly, else the one supported least clearly."""
    verdict = combine_verdicts([comparison.verdict for comparison in comparisons])
    candidates = [comparison for comparison in comparisons if comparison.verdict is verdict]
    if verdict is Verdict.DOES_NOT_HOLD:
        return min(candidates, key=lambda comparison: comparison.p_refute)
    return max(candidates, key=lambda comparison: comparison.p_hold)


def by_topic(verdicts: Iterable[tuple[str, Verdict | None]]) -> dict[str, Verdict]:
    """Return the verdict by topic, from topics and verdicts of parts."""
    topics: dict[str, list[Verdict | None]] = {}
    for topic, verdict in verdicts:
        topics.setdefault(topic, []).append(verdict)
    return {topic: combine_verdicts(group) for topic, group in topics.items()}


def combine_verdicts(verdicts: Sequence[Verdict | None]) -> Verdict:
    """Return the verdict of parts with these verdicts; None is ignored."""
    for against in (Verdict.DOES_NOT_HOLD, Verdict.NO_DIFFERENCE):
        if against in verdicts:
            return against
    return Verdict.HOLDS if {*verdicts} - {None} == {Verdict.HOLDS} else Verdict.UNDECIDED
