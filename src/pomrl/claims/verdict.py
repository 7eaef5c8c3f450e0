"""Verdicts on claims, from estimates and their p-values.

The data can show that a claim holds or that it does not, so that a claim has two p-values. `p_hold` is that of the
hypothesis that the claim is false: it is small where the data show that the claim holds. `p_refute` is that of the
hypothesis that the claim is true: it is small where the data refute the claim.

- Of a part, `p_hold` is the larger p-value of its two thresholds, because both have to be kept (two one-sided tests),
  and `p_refute` is the smaller one, because crossing one threshold suffices.
- Of a claim, `p_hold` is the largest of its parts' p-values, with no correction, because all parts have to hold, and
  `p_refute` is the smallest, times the number of parts (Bonferroni), because each part is a way to refute the claim.

Without Holm's correction each part is judged by itself, at p <= 0.025 in either direction, which is what its 95 %
interval shows. With the correction the p-value of a claim is 2 min(p_hold, p_refute). These are adjusted by Holm's
method over all claims that are computed, and where the adjusted p-value is at most 0.05 the smaller of p_hold and
p_refute decides the direction. So the probability of any false verdict, of either kind, is at most 5 % over all claims,
as far as the p-values are right. With 100 losses as heavy-tailed as here, p-values as small as Holm's method needs
occur 3 to 7 times too often in refutations, and too seldom in confirmations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

import numpy as np
from scipy.special import ndtri

from pomrl.claims.inference import LEVEL, Estimate

POWER = 0.8
"""The probability with which the number of runs that is said to decide a claim decides it."""

MOST_RUNS = 100_000
"""The largest number of runs that is recommended for deciding a claim."""


class Verdict(StrEnum):
    """What the data say of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"


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
    Verdict.NOT_REPRODUCED: VerdictLook(score=-1, symbol="-", style="red", sign="✗", color="#EE8866"),
    Verdict.INCONCLUSIVE: VerdictLook(score=0, symbol=".", style="yellow", sign="?", color="#EEEEEE"),
    Verdict.REPRODUCED: VerdictLook(score=1, symbol="+", style="green", sign="✓", color="#77AADD"),
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

    @property
    def p_hold(self) -> float:
        """The p-value of the hypothesis that the number lies outside of the interval; 1 with too few runs."""
        return _p(max(self.estimate.at_most(self.above), self.estimate.at_least(self.below)))

    @property
    def p_refute(self) -> float:
        """The p-value of the hypothesis that the number lies in the interval; 1 with too few runs."""
        return _p(min(self.estimate.at_least(self.above), self.estimate.at_most(self.below)))

    @property
    def verdict(self) -> Verdict:
        """The verdict that the 95 % interval shows, without any correction."""
        return _verdict(self.p_hold, self.p_refute, LEVEL / 2)

    @property
    def estimate_agrees(self) -> bool:
        """Return whether the estimate itself lies where the claim says, whatever its interval."""
        return self.above < self.estimate.value < self.below

    def runs_to_decide(self, level: float) -> float:
        """Return about how many runs decide the part at this one-sided level, if the truth is where the estimate is.

        Infinite where the estimate lies on a threshold, or has no interval.
        """
        value, threshold = self.estimate.value, min(self.above, self.below, key=lambda x: abs(self.estimate.value - x))
        distance = abs(value - threshold)
        towards = value - self.estimate.lower if threshold < value else self.estimate.upper - value
        deviation = towards / -ndtri(LEVEL / 2)
        if not distance > 0.0 or not np.isfinite(deviation):
            return inf
        return float(self.estimate.runs * ((ndtri(level) + ndtri(1.0 - POWER)) * deviation / distance) ** 2)


def _p(value: float) -> float:
    """Replace the NaN of too few runs by 1, which shows nothing."""
    return 1.0 if np.isnan(value) else float(value)


def _verdict(p_hold: float, p_refute: float, level: float) -> Verdict:
    if p_refute <= level:
        return Verdict.NOT_REPRODUCED
    return Verdict.REPRODUCED if p_hold <= level else Verdict.INCONCLUSIVE


@dataclass(frozen=True)
class Evidence:
    """What all parts of a claim say together."""

    parts: tuple[Part, ...]

    @property
    def p_hold(self) -> float:
        """The p-value of the hypothesis that the claim is false: the largest of its parts."""
        return max(part.p_hold for part in self.parts)

    @property
    def p_refute(self) -> float:
        """The p-value of the hypothesis that the claim is true: the smallest of its parts, after Bonferroni."""
        return min(1.0, len(self.parts) * min(part.p_refute for part in self.parts))

    @property
    def p(self) -> float:
        """The two-sided p-value, which Holm's method adjusts."""
        return min(1.0, 2.0 * min(self.p_hold, self.p_refute))

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim by itself, without Holm's correction."""
        return _verdict(self.p_hold, min(part.p_refute for part in self.parts), LEVEL / 2)

    @property
    def runs(self) -> int:
        """The number of runs (of a simulation: of sequences) behind the part that has fewest."""
        return min(part.estimate.runs for part in self.parts)

    def corrected(self, p_adjusted: float) -> Verdict:
        """Return the verdict with Holm's correction, from the adjusted p-value."""
        if p_adjusted > LEVEL:
            return Verdict.INCONCLUSIVE
        return Verdict.REPRODUCED if self.p_hold < self.p_refute else Verdict.NOT_REPRODUCED

    @property
    def decisive(self) -> Part:
        """The part on which the verdict rests.

        It is the part that is refuted most clearly, or if none is refuted, the part that is supported least clearly.
        """
        worst = min(self.parts, key=lambda part: part.p_refute)
        return worst if worst.verdict is Verdict.NOT_REPRODUCED else max(self.parts, key=lambda part: part.p_hold)

    def runs_to_decide(self, claims: int) -> int | None:
        """Return about how many runs would decide the claim among `claims` claims; None where more than `MOST_RUNS`.

        A single part whose estimate contradicts the claim can decide it; where there is none, all parts have to hold.
        The runs should be added at once: verdicts that are looked at repeatedly while runs are added are wrong more
        often than they say.
        """
        level = LEVEL / 2 / claims
        against = [part.runs_to_decide(level / len(self.parts)) for part in self.parts if not part.estimate_agrees]
        runs = min(against) if against else max(part.runs_to_decide(level) for part in self.parts)
        if runs > MOST_RUNS:
            return None
        magnitude = 10 ** max(0, len(str(int(runs))) - 2)
        return int(np.ceil(runs / magnitude)) * magnitude


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values: Holm's method rejects at a level where the adjusted p-value is at most that."""
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(p, float)[order]))
    return adjusted.tolist()
