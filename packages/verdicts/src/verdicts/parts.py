"""Parts of claims, and verdicts on them.

Claims share the error equally, and parts share the error of their claim (union bound). A claim *holds* if all parts
hold, and *does not hold* if one is refuted. It shows *no difference of interest* if a narrow interval of a part
contains its threshold. Otherwise it is *undecided*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf, isfinite

import numpy as np

from verdicts.estimates import ERROR, ScalarEstimate

INTEREST_SHARE = 0.02
"""The smallest effect of interest of a claim without a margin. It is a share of the comparator's mean; for places,
correlations and shares it is absolute."""

NARROW_SHARE = 0.25
"""The maximum width of a narrow interval, as a share of the claim's margin."""

MIN_GAP = 1e-12
"""The smallest gap between estimate and threshold in divisors, to avoid division by 0."""

MAX_SUGGESTED_UNITS = 1e7
"""The limit of suggested numbers of units; messages suggest no larger ones."""


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
    """A character, for readers who do not see the colour."""
    color: str
    """A fill colour for figures, distinct for colour-blind readers and in black and white."""


LOOKS = {
    Verdict.DOES_NOT_HOLD: VerdictLook(sign="✗", color="#EE8866"),
    Verdict.NO_DIFFERENCE: VerdictLook(sign="≈", color="#EEDD88"),
    Verdict.UNDECIDED: VerdictLook(sign="?", color="#EEEEEE"),
    Verdict.HOLDS: VerdictLook(sign="✓", color="#77AADD"),
}
"""The sign and colour of each verdict. Lists of claims have this order, by interest to readers."""


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
    def thresholds(self) -> list[float]:
        """The finite ends of the claimed range."""
        return [end for end in (self.above, self.below) if isfinite(end)]

    @property
    def is_claimed(self) -> bool:
        return bool(self.thresholds)

    @property
    def is_small(self) -> bool:
        """Return whether an estimated difference is nearer to its threshold than an effect of interest."""
        is_difference = self.margin is None and self.estimate.units > 0 and not self.estimate.is_discrete
        return is_difference and any(abs(self.estimate.value - end) < self.interest for end in self.thresholds)

    @property
    def p_hold(self) -> float:
        """The p-value of the hypothesis "the claim is false"; 1 with too few units.

        It is the larger p-value of both thresholds, because the number must be between them.
        """
        return _p(np.max([self.estimate.p_values(self.above)[0], self.estimate.p_values(self.below)[1]]))

    @property
    def p_refute(self) -> float:
        """The p-value of the hypothesis "the claim is true"; 1 with too few units.

        It is the smaller p-value of both thresholds, because crossing one is enough.
        """
        return _p(np.min([self.estimate.p_values(self.above)[1], self.estimate.p_values(self.below)[0]]))

    def verdict(self, error: float = ERROR) -> Verdict:
        """Return the verdict at a two-sided error; never `NO_DIFFERENCE`."""
        if self.p_refute <= error / 2:
            return Verdict.DOES_NOT_HOLD
        return Verdict.HOLDS if self.p_hold <= error / 2 else Verdict.UNDECIDED


def _p(value: float) -> float:
    return 1.0 if np.isnan(value) else float(value)


@dataclass(frozen=True)
class JudgedPart:
    """A part with its interval and verdict at an error."""

    part: Part
    error: float
    lower: float
    """The lower end of the interval that decides the verdict; NaN with too few units."""
    upper: float
    """The upper end of the interval that decides the verdict; NaN with too few units."""
    verdict: Verdict

    @property
    def is_small(self) -> bool:
        """Return whether the part holds with an effect smaller than one of interest."""
        return self.verdict is Verdict.HOLDS and self.part.is_claimed and self.part.is_small

    @property
    def needed(self) -> float:
        """The units in each group for a probable decision, if the estimate does not change; infinite if unknown."""
        return units_to_decide(self.part, self.lower, self.upper) if self.verdict is Verdict.UNDECIDED else inf

    @property
    def reason(self) -> str:
        """Why the part has its verdict, with its numbers."""
        where = f"{number(self.part.estimate.value)} [{number(self.lower)}, {number(self.upper)}]"
        if self.verdict is Verdict.UNDECIDED:
            return _why_undecided(self, where)
        if self.verdict is Verdict.NO_DIFFERENCE:
            return f"{where} is closer to its threshold than what is of interest ({_of_interest(self.part)})"
        is_as = "is" if self.verdict is Verdict.HOLDS else "is not"
        small = f" (small: below {number(self.part.interest)})" if self.is_small else ""
        return f"{where} {is_as} {claimed_range(self.part.above, self.part.below)}{small}"


def judge_part(part: Part, error: float) -> JudgedPart:
    """Judge a part at a two-sided error."""
    lower, upper = part.estimate.interval(error)
    verdict = part.verdict(error)
    if verdict is Verdict.UNDECIDED and _no_difference(part, lower, upper):
        verdict = Verdict.NO_DIFFERENCE
    return JudgedPart(part, error, lower, upper, verdict)


def units_to_decide(comparison: Part, lower: float, upper: float) -> float:
    """Return the number of units for a probable decision; widths fall as 1 / sqrt(units)."""
    value, units = comparison.estimate.value, comparison.estimate.units
    if comparison.estimate.is_discrete or not isfinite(upper - lower):
        return inf
    nearest = min(comparison.thresholds, key=lambda end: abs(end - value))
    gap, width = abs(nearest - value), upper - value if nearest > value else value - lower
    wider = max(upper - value, value - lower)
    to_clear = (width / max(gap, MIN_GAP)) ** 2
    if comparison.margin is not None:
        to_be_narrow = ((upper - lower) / (NARROW_SHARE * comparison.margin)) ** 2
    else:
        to_be_narrow = (wider / max(comparison.interest - gap, MIN_GAP)) ** 2
    return units * min(to_clear, to_be_narrow)


def _no_difference(comparison: Part, lower: float, upper: float) -> bool:
    for threshold in (end for end in comparison.thresholds if lower <= end <= upper):
        if comparison.margin is not None and upper - lower < NARROW_SHARE * comparison.margin:
            return True
        if (
            comparison.margin is None
            and threshold - comparison.interest < lower
            and upper < threshold + comparison.interest
        ):
            return True
    return False


def _why_undecided(outcome: JudgedPart, where: str) -> str:
    estimate, level = outcome.part.estimate, outcome.error / 2
    if not estimate.is_known:
        return "the estimate must be a finite number; a ratio needs a mean above 0"
    if not estimate.is_possible:
        return f"{estimate.sizes_text}: at least {estimate.min_units} in each are needed for an estimate of this kind"
    if estimate.smallest_p > level:
        needed = estimate.units_needed(level)
        smallest = f"the smallest possible p is {estimate.smallest_p:.2g}, needed is {level:.2g}"
        return f"{estimate.sizes_text}: {smallest}; at least {needed} in each would be needed"
    tail = f"; about {round_up(outcome.needed):,} would probably tell" if outcome.needed < MAX_SUGGESTED_UNITS else ""
    return f"{where} is too wide to tell with {estimate.sizes_text}{tail}"


def _of_interest(comparison: Part) -> str:
    return (
        number(comparison.interest)
        if comparison.margin is None
        else f"{NARROW_SHARE:g} of the margin {number(comparison.margin)}"
    )


def claimed_range(above: float, below: float) -> str:
    """Format a claimed range, such as `within ±0.1`."""
    if above == -below:
        return f"within ±{below:g}"
    if above > -inf and below < inf:
        return f"between {above:g} and {below:g}"
    return f"< {below:g}" if below < inf else f"> {above:g}"


def number(value: float) -> str:
    """Format a number with three digits; NaN as a dash."""
    if np.isnan(value):
        return "–"
    return f"{value:.3g}" if isfinite(value) else ("-∞" if value < 0 else "∞")


def round_up(units: float) -> int:
    """Round a number of units up to one digit."""
    unit = 10 ** int(np.log10(units))
    return int(np.ceil(units / unit)) * unit


def combine(outcomes: Sequence[JudgedPart]) -> tuple[Verdict, JudgedPart]:
    """Return the verdict on a claim of several parts, and its decisive part.

    That is the most clearly refuted or the least clearly supported one.
    """
    counted = [outcome for outcome in outcomes if not outcome.part.is_beside]
    verdict = combine_verdicts([outcome.verdict for outcome in counted])
    candidates = [outcome for outcome in counted if outcome.verdict is verdict]
    if verdict is Verdict.DOES_NOT_HOLD:
        return verdict, min(candidates, key=lambda outcome: outcome.part.p_refute)
    return verdict, max(candidates, key=lambda outcome: outcome.part.p_hold)


def combine_verdicts(verdicts: Sequence[Verdict | None]) -> Verdict:
    """Combine verdicts of parts; None is ignored."""
    for against in (Verdict.DOES_NOT_HOLD, Verdict.NO_DIFFERENCE):
        if against in verdicts:
            return against
    return Verdict.HOLDS if {*verdicts} - {None} == {Verdict.HOLDS} else Verdict.UNDECIDED
