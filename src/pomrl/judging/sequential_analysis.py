"""Verdicts at precision: how the error is spent over analyses, and when a claim is decided.

Each claim is judged on more and more runs, at fixed numbers of them, until it is decided.

**Looks are honest.** A claim is judged on its first 1,000 runs, then on its first 2,000, and so on, as its study says
(`analyses`). This is a group-sequential plan with fixed analyses, over which the error is spent in advance (Lan and
DeMets 1983, "Discrete sequential boundaries for clinical trials", Biometrika 70), here in equal shares. Of the error of
a study, 5 % by default, each of its claims has an equal share, each of the claim's analyses an equal share of that, and
each of its parts an equal share of the analysis. By the union bound the probability that any verdict on any part of any
claim is wrong is at most that error, as far as the intervals are right. The union bound needs no assumption on how the
analyses depend on each other; that they do makes the plan conservative.

**A part is decided** at the first analysis at which

- its interval lies on the claim's side of every threshold: the part holds;
- its interval lies on the other side of a threshold: the part is refuted;
- or there is *no difference of interest*: its interval contains a threshold and shows that the number differs from it
  by less than matters. For a claim of a difference, that is an equivalence test: the interval lies within the smallest
  effect of interest (`Part.interest`: 2 % of the comparator's mean; 0.02 for gammas, correlations and shares) of the
  threshold. It is also met once the full width of the interval is below a quarter of that effect, and usually a good
  deal sooner. For a claim with a margin, the full width of the interval is below a quarter of the margin.

Each of the three says something that is true or false: that the number is in the range that is claimed, that it is not,
or that it is closer to a threshold than matters. A small effect may be found to hold or to be of no interest, and both
are right; it is called refuted as rarely as the error says.

A verdict is a function of the first runs up to the analysis that decides it. What is stored beyond them never changes
it, and neither does the order in which runs were computed.

A claim *holds* when all its parts hold, *does not hold* when one is refuted, shows *no difference of interest* when one
shows none, and is *undecided* otherwise. A claim with topics (`Part.topic`) is pursued until all of them are decided.

**Looking ends early** where it promises nothing (stopping for futility): a topic that the last analysis decides with a
probability of at most 5 %, given what the present runs say of its numbers, is not looked at again and stays undecided.
This adds no verdict, and so no error.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite, sqrt
from statistics import NormalDist

from pomrl.judging.claim import Claim
from pomrl.judging.verdict import NARROW, Comparison, Part, Verdict
from pomrl.results.intervals import ERROR_RATE

FUTILE = 0.05
"""The probability of a decision by the last analysis up to which a topic is not looked at again."""


def judge_part(part: Part, error: float, last: int = 0) -> Comparison:
    """Judge a part by its interval with this error, and say with what chance an analysis of `last` runs decides it."""
    found = Comparison.of(part, error)
    if found.verdict is not Verdict.UNDECIDED:
        return found
    if _no_difference(part, found.lower, found.upper):
        return found.but(verdict=Verdict.NO_DIFFERENCE)
    chance, against = _chances(part, error, (found.upper - found.lower) / 2, last)
    return found.but(chance=chance, chance_against=against)


def _chances(part: Part, error: float, half: float, last: int) -> tuple[float, float]:
    """Return the probabilities that `last` runs decide a part, and that they do so against the claim.

    The later estimate is normal around the present one, whose error is part of its deviation, and intervals shrink with
    the root of the number of runs. Where that is not so, or no difference of interest may be found, both are 1.
    """
    now = part.estimate.runs
    if not isfinite(half) or half <= 0 or now >= last or part.estimate.may_stay:
        return 1.0, 1.0
    at_end = half * sqrt(now / last)
    if 2 * at_end < NARROW * part.margin if part.margin is not None else at_end < part.interest:
        return 1.0, 1.0
    deviation = half / NormalDist().inv_cdf(1 - error / 2) * sqrt(1 - now / last)
    later = NormalDist(part.estimate.value, deviation).cdf
    against = later(part.above - at_end) + 1.0 - later(part.below + at_end)
    return against + max(0.0, later(part.below - at_end) - later(part.above + at_end)), against


def _no_difference(part: Part, lower: float, upper: float) -> bool:
    """Return whether an interval contains a threshold and shows that the number hardly differs from it."""
    for threshold in (end for end in (part.above, part.below) if isfinite(end) and lower <= end <= upper):
        if part.margin is not None and upper - lower < NARROW * part.margin:
            return True
        if part.margin is None and threshold - part.interest < lower and upper < threshold + part.interest:
            return True
    return False


@dataclass(frozen=True)
class Outcome:
    """A claim as judged at precision, up to some analysis."""

    claim: Claim
    analyses: tuple[int, ...] = ()
    """The numbers of runs of all analyses that are planned."""
    error: float = ERROR_RATE
    """The probability that the verdict on the claim is wrong, in any of them."""
    parts: tuple[Comparison, ...] = ()
    """The parts, each at the analysis that decided it, or at the last one."""
    runs: int = 0
    """The number of runs of the last analysis; 0 if there was none."""

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each topic; a claim without topics has one, whose name is empty."""
        return by_topic((judged.topic, judged.verdict) for judged in self.parts)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim."""
        return together([judged.verdict for judged in self.parts])

    @property
    def decided(self) -> bool:
        """Return whether all topics are decided, so that no further analysis follows."""
        return bool(self.parts) and Verdict.UNDECIDED not in self.verdicts.values()

    @property
    def reason(self) -> str:
        """Why the claim is undecided, in words; empty if it is decided."""
        if self.verdict is not Verdict.UNDECIDED:
            return ""
        if not self.parts:
            return f"fewer than {self.analyses[0]:,} runs are stored"
        part, last = decisive(self.parts), self.analyses[-1]
        found = f"{part.compared}: {part.found} after {self.runs:,} runs, an interval that is too wide to tell"
        if self.runs == last:
            return found
        return found + ("; the next analysis has more" if self.open else f"; {last:,} would hardly tell")

    @property
    def open(self) -> list[int] | None:
        """The numbers, from 0 on, of the parts that a further analysis judges; None for all."""
        if not self.parts:
            return None
        verdicts = self.verdicts
        undecided = {
            number: judged.topic
            for number, judged in enumerate(self.parts)
            if judged.verdict is Verdict.UNDECIDED and verdicts[judged.topic] is Verdict.UNDECIDED
        }
        pursued = {topic for topic in undecided.values() if self._chance(topic) > FUTILE}
        return [number for number, topic in undecided.items() if topic in pursued]

    def _chance(self, topic: str) -> float:
        """Return a bound on the chance that the last analysis decides a topic: all of its parts, or one against it."""
        parts = [part for part in self.parts if part.topic == topic and part.verdict is Verdict.UNDECIDED]
        return sum(part.chance_against for part in parts) + min(part.chance for part in parts)

    def after(self, parts: Sequence[Part]) -> "Outcome":
        """Return the outcome after a further analysis, in which the open parts have these estimates."""
        error = self.error / len(self.analyses) / max(1, sum(part.is_claimed for part in parts))
        judged = list(self.parts or (None,) * len(parts))
        numbers = range(len(parts)) if self.open is None else self.open
        for number in numbers:
            judged[number] = judge_part(parts[number], error, self.analyses[-1])
        runs = min((parts[number].estimate.runs for number in numbers), default=self.runs)
        return replace(self, parts=tuple(part for part in judged if part is not None), runs=runs)


def decisive(parts: Sequence[Comparison]) -> Comparison:
    """Return the part on which a verdict rests: the one refuted most clearly, else the one supported least clearly."""
    verdict = together([judged.verdict for judged in parts])
    of_verdict = [judged for judged in parts if judged.verdict is verdict]
    if verdict is Verdict.DOES_NOT_HOLD:
        return min(of_verdict, key=lambda judged: judged.p_refute)
    return max(of_verdict, key=lambda judged: judged.p_hold)


def by_topic(verdicts: Iterable[tuple[str, Verdict | None]]) -> dict[str, Verdict]:
    """Return the verdict on each topic, given the topic of each part and the verdict on it; None is no verdict."""
    topics: dict[str, list[Verdict | None]] = {}
    for topic, verdict in verdicts:
        topics.setdefault(topic, []).append(verdict)
    return {topic: together(of_topic) for topic, of_topic in topics.items()}


def together(verdicts: Sequence[Verdict | None]) -> Verdict:
    """Return the verdict on a claim, or a topic, whose parts have these verdicts; None is ignored."""
    for against in (Verdict.DOES_NOT_HOLD, Verdict.NO_DIFFERENCE):
        if against in verdicts:
            return against
    return Verdict.HOLDS if {*verdicts} - {None} == {Verdict.HOLDS} else Verdict.UNDECIDED
