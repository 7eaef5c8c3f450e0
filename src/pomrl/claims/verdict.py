"""From estimates to verdicts.

A claim can be wrong in two ways, so that it has two p-values. `p_hold` is that of the hypothesis that the claim is
false: small where the data show that it holds. `p_refute` is that of the hypothesis that it is true.

- A part: `p_hold` is the larger p-value of its thresholds (both have to be kept: two one-sided tests), `p_refute` the
  smallest (one that is crossed suffices).
- A claim: `p_hold` is the largest of its parts', with no correction, because all of them have to hold; `p_refute` the
  smallest, times the number of parts (Bonferroni), because there are so many ways to refute it.

Without Holm each part is judged by itself: with p at most 0.025 in either direction, which is what its 95 % interval
shows. With Holm the p-value of a claim is 2 min(p_hold, p_refute), these are adjusted by Holm's method over all claims
that are computed, and where the adjusted one is at most 0.05 the smaller of the two decides the direction. So the
probability of any false verdict, of either kind, is at most 5 % over all claims, as far as the p-values are right: of
100 losses as heavy-tailed as here, those so small as Holm's method needs are so 3 to 7 times too often for a refutation
(and too seldom for a claim that holds).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

import numpy as np
from scipy.stats import norm

from pomrl.claims.inference import LEVEL, Estimate

POWER = 0.8
"""Of the number of runs that is said to decide a claim."""

MOST_RUNS = 100_000
"""More than these are not recommended to anybody."""


class Verdict(StrEnum):
    """What the data say of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Part:
    """A number, and the open interval from `above` to `below` in which the claim says it lies."""

    compared: str
    estimate: Estimate
    above: float = -inf
    below: float = inf

    @property
    def p_hold(self) -> float:
        return _p(max(self.estimate.at_most(self.above), self.estimate.at_least(self.below)))

    @property
    def p_refute(self) -> float:
        return _p(min(self.estimate.at_least(self.above), self.estimate.at_most(self.below)))

    @property
    def verdict(self) -> Verdict:
        """As the 95 % interval shows it, without any correction."""
        return _verdict(self.p_hold, self.p_refute, LEVEL / 2)

    @property
    def claimed(self) -> bool:
        """Whether the estimate itself lies where the claim says."""
        return self.above < self.estimate.value < self.below

    def runs_to_decide(self, level: float) -> float:
        """About how many runs decide the part at this one-sided level, if the truth is where the estimate is."""
        value, threshold = self.estimate.value, min(self.above, self.below, key=lambda x: abs(self.estimate.value - x))
        distance = abs(value - threshold)
        towards = value - self.estimate.lower if threshold < value else self.estimate.upper - value
        deviation = towards / norm.isf(LEVEL / 2)
        if not distance > 0.0 or not np.isfinite(deviation):
            return inf
        return float(self.estimate.runs * ((norm.isf(level) + norm.isf(1.0 - POWER)) * deviation / distance) ** 2)


def _p(value: float) -> float:
    """With too few runs nothing is shown."""
    return 1.0 if np.isnan(value) else float(value)


def _verdict(p_hold: float, p_refute: float, level: float) -> Verdict:
    if p_refute <= level:
        return Verdict.NOT_REPRODUCED
    return Verdict.REPRODUCED if p_hold <= level else Verdict.INCONCLUSIVE


@dataclass(frozen=True)
class Evidence:
    """The parts of a claim, together."""

    parts: tuple[Part, ...]

    @property
    def p_hold(self) -> float:
        return max(part.p_hold for part in self.parts)

    @property
    def p_refute(self) -> float:
        return min(1.0, len(self.parts) * min(part.p_refute for part in self.parts))

    @property
    def p(self) -> float:
        """Of both directions together."""
        return min(1.0, 2.0 * min(self.p_hold, self.p_refute))

    @property
    def verdict(self) -> Verdict:
        """Of the claim by itself, without Holm."""
        return _verdict(self.p_hold, min(part.p_refute for part in self.parts), LEVEL / 2)

    def corrected(self, p_adjusted: float) -> Verdict:
        """With Holm, by the adjusted p-value."""
        if p_adjusted > LEVEL:
            return Verdict.INCONCLUSIVE
        return Verdict.REPRODUCED if self.p_hold < self.p_refute else Verdict.NOT_REPRODUCED

    @property
    def decisive(self) -> Part:
        """The part on which the verdict rests: one that is refuted, else the one that holds least clearly."""
        refuted = min(self.parts, key=lambda part: part.p_refute)
        return refuted if refuted.verdict is Verdict.NOT_REPRODUCED else max(self.parts, key=lambda part: part.p_hold)

    def runs_to_decide(self, claims: int) -> int | None:
        """About how many runs would decide the claim among so many; None beyond `MOST_RUNS`.

        One part whose estimate is against the claim decides it; failing that, all parts have to hold. Add them once:
        verdicts that are looked at again and again while runs are added are wrong more often than they say.
        """
        level = LEVEL / 2 / claims
        against = [part.runs_to_decide(level / len(self.parts)) for part in self.parts if not part.claimed]
        runs = min(against) if against else max(part.runs_to_decide(level) for part in self.parts)
        if runs > MOST_RUNS:
            return None
        magnitude = 10 ** max(0, len(str(int(runs))) - 2)
        return int(np.ceil(runs / magnitude)) * magnitude


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: each at most a level where Holm's method rejects at that level."""
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(p, float)[order]))
    return adjusted.tolist()
