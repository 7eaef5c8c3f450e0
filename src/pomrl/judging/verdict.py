"""Verdicts on claims at a fixed number of runs, from estimates and their p-values.

The data can show that a claim holds or that it does not, so that a claim has two p-values. `p_hold` is that of the
hypothesis that the claim is false: it is small where the data show that the claim holds. `p_refute` is that of the
hypothesis that the claim is true: it is small where the data refute the claim.

- Of a part, `p_hold` is the larger p-value of its two thresholds, because both have to be kept (two one-sided tests),
  and `p_refute` is the smaller one, because crossing one threshold suffices.
- Of a claim of k parts, `p_hold` is k times the largest of its parts' p-values, and `p_refute` is k times the smallest
  (Bonferroni). Refuting a claim needs the factor k, because each part is a way to refute it. Confirming a claim by
  itself does not, because all parts have to hold (an intersection-union test). The factor is used in both directions
  all the same: then a claim is judged by k intervals that hold simultaneously, the same ones in both directions, so
  that the verdicts on all parts that are listed beneath a claim can be relied on together.

The verdict on a claim by itself allows for an error of 5 %: it is what the simultaneous 95 % intervals of its parts
show. With Holm's correction the p-value of a claim is 2 min(p_hold, p_refute). These are adjusted by Holm's method over
all claims that are computed, and where the adjusted p-value is at most 0.05 the smaller of p_hold and p_refute decides
the direction. So the probability of any false verdict, of either kind, is at most 5 % over all claims, as far as the
p-values are right. With 100 losses as heavy-tailed as here, p-values as small as Holm's method needs occur 3 to 7 times
too often in refutations, and too seldom in confirmations. This is one reason why the answer is given at precision
(`pomrl.judging.precision`), and verdicts at the paper's numbers of runs are a detail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf

import numpy as np

from pomrl.judging.inference import Estimate
from pomrl.results.intervals import ERROR_RATE

INTEREST = 0.02
"""The smallest effect of interest of a claim without a margin: as a share of the comparator's mean, or of gammas,
correlations and shares, as it is."""


class Verdict(StrEnum):
    """What the data say of a claim."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class VerdictLook:
    """How a verdict is shown, and counted."""

    score: int
    """Its agreement with the paper: 1, 0 or -1."""
    symbol: str
    """A character of ASCII, for tables in a terminal."""
    style: str
    """A colour of a terminal."""
    sign: str
    """A character for the report, so that no verdict is told by its colour alone."""
    color: str
    """A fill colour of figures; the three are told apart without red and green, and in print by their lightness."""


LOOKS = {
    Verdict.DOES_NOT_HOLD: VerdictLook(score=-1, symbol="-", style="red", sign="✗", color="#EE8866"),
    Verdict.UNDECIDED: VerdictLook(score=0, symbol=".", style="yellow", sign="?", color="#EEEEEE"),
    Verdict.HOLDS: VerdictLook(score=1, symbol="+", style="green", sign="✓", color="#77AADD"),
}
"""The look of each verdict, in the order in which verdicts are listed: what a reader asks for first comes first."""


def claimed_range(above: float, below: float) -> str:
    """Say in words that a number is claimed to lie above one threshold, below another, or within ± of 0."""
    if above == -below:
        return f"within ±{below:g}"
    return f"< {below:g}" if below < inf else f"> {above:g}"


@dataclass(frozen=True)
class Part:
    """A comparison that a claim consists of: a number, and the open interval in which the claim says that it lies."""

    compared: str
    """The comparison in words."""
    estimate: Estimate
    above: float = -inf
    below: float = inf
    margin: float | None = None
    """The margin of a claim that two numbers are alike or one is no worse; None for a claim of a difference."""
    interest: float = INTEREST
    """The smallest difference from a threshold that matters, in units of the estimate; for a claim of a difference."""
    topic: str = ""
    """What the part is about, where a claim consists of topics that are judged by themselves; else empty."""
    instead: Mapping[str, Estimate] = field(default_factory=dict)
    """What is estimated if a word of the claim, such as "near", means another number, which is the key.

    Verdicts on these are shown beside that on the part, and nothing rests on them.
    """

    @property
    def p_hold(self) -> float:
        """The p-value of the hypothesis that the number lies outside of the interval; 1 with too few runs."""
        return _p(np.max([self.estimate.at_most(self.above), self.estimate.at_least(self.below)]))

    @property
    def p_refute(self) -> float:
        """The p-value of the hypothesis that the number lies in the interval; 1 with too few runs."""
        return _p(np.min([self.estimate.at_least(self.above), self.estimate.at_most(self.below)]))

    def verdict(self, error: float = ERROR_RATE) -> Verdict:
        """Return the verdict that the interval with this error shows."""
        return verdict_of(self.p_hold, self.p_refute, error)


def _p(value: float) -> float:
    """Replace the NaN of too few runs by 1, which shows nothing."""
    return 1.0 if np.isnan(value) else float(value)


def verdict_of(p_hold: float, p_refute: float, error: float) -> Verdict:
    """Return the verdict that two p-values show, where half of the error may be made in either direction."""
    if p_refute <= error / 2:
        return Verdict.DOES_NOT_HOLD
    return Verdict.HOLDS if p_hold <= error / 2 else Verdict.UNDECIDED


@dataclass(frozen=True)
class Evidence:
    """What all parts of a claim say together at one number of runs."""

    parts: tuple[Part, ...]

    @property
    def p_hold(self) -> float:
        """The p-value of the hypothesis that a part does not hold, with the factor of simultaneous intervals."""
        return min(1.0, len(self.parts) * max(part.p_hold for part in self.parts))

    @property
    def p_refute(self) -> float:
        """The p-value of the hypothesis that all parts hold, with the factor of simultaneous intervals."""
        return min(1.0, len(self.parts) * min(part.p_refute for part in self.parts))

    @property
    def p(self) -> float:
        """The two-sided p-value, which Holm's method adjusts."""
        return min(1.0, 2.0 * min(self.p_hold, self.p_refute))

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim by itself, without Holm's correction."""
        return verdict_of(self.p_hold, self.p_refute, ERROR_RATE)

    @property
    def runs(self) -> int:
        """The number of runs (of a simulation: of sequences) behind the part that has fewest."""
        return min(part.estimate.runs for part in self.parts)

    def corrected(self, p_adjusted: float) -> Verdict:
        """Return the verdict with Holm's correction, from the adjusted p-value."""
        if p_adjusted > ERROR_RATE:
            return Verdict.UNDECIDED
        return Verdict.HOLDS if self.p_hold < self.p_refute else Verdict.DOES_NOT_HOLD


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values: Holm's method rejects at a level where the adjusted p-value is at most that."""
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(p, float)[order]))
    return adjusted.tolist()
