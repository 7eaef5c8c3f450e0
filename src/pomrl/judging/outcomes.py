"""Verdicts on claims: each is judged once, on a number of runs that is fixed in advance.

Of the error of a study, 5 % by default, each claim has an equal share, and each part of a claim an equal share of that.
By the union bound the probability that any verdict on any part of any claim is wrong is at most that error, as far as
the intervals are right. A claim *holds* when all its parts hold, *does not hold* when one is refuted, shows *no
difference of interest* when the interval of one contains its threshold and shows that the number differs from it by
less than matters, and is *undecided* otherwise.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite, log10

from pomrl.configuration.parsing import Experiment
from pomrl.judging.claim import Claim
from pomrl.judging.verdict import NARROW, Comparison, Part, Verdict
from pomrl.results.intervals import ERROR_RATE

MANY_RUNS = 1e7
"""The number of runs from which on it is not said that so many would decide a claim."""

TINY = 1e-12
"""The smallest gap between an estimate and a threshold that runs are estimated for."""


@dataclass(frozen=True)
class Outcome:
    """A claim as judged; it has no parts while fewer runs are stored than it needs."""

    claim: Claim
    needed: int = 0
    """The number of runs on which it is judged."""
    error: float = ERROR_RATE
    """The probability that the verdict on it is wrong."""
    experiments: tuple[Experiment, ...] = ()
    """The experiments whose losses it read or lacks."""
    parts: tuple[Comparison, ...] = ()

    @property
    def lacking(self) -> list[Experiment]:
        """The experiments that it read, with the number of runs that it needs, if it has fewer."""
        if not self.is_provisional:
            return []
        return [with_runs(experiment, self.needed) for experiment in self.experiments]

    @property
    def runs(self) -> int:
        """The number of runs on which it was judged; 0 if it was not."""
        return min((part.runs for part in self.parts), default=0)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each topic; a claim without topics has one, whose name is empty."""
        return by_topic((part.topic, part.verdict) for part in self.parts)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim."""
        return together([part.verdict for part in self.parts])

    @property
    def reason(self) -> str:
        """Why the claim is undecided, in words; empty if it is decided."""
        if self.verdict is not Verdict.UNDECIDED:
            return ""
        if self.is_provisional:
            return f"fewer than {self.needed:,} runs are stored"
        part = decisive(self.parts)
        too_wide = f"{part.compared}: {part.found} after {self.runs:,} runs, an interval that is too wide to tell"
        runs = max(part.deciding_runs for part in self.parts if part.verdict is Verdict.UNDECIDED)
        return f"{too_wide}; about {_round_up(runs):,} runs would probably tell" if runs < MANY_RUNS else too_wide

    def judged(self, parts: Sequence[Part]) -> "Outcome":
        """Return the outcome in which the parts have these estimates; with too few runs, they decide nothing."""
        is_judged = self.claim.is_judged
        error = self.error / max(1, sum(part.is_claimed for part in parts)) if is_judged else ERROR_RATE
        comparisons = [judge_part(part, error) for part in parts]
        if not is_judged:
            comparisons = [comparison.but(verdict=None) for comparison in comparisons]
        elif min(comparison.runs for comparison in comparisons) < self.needed:
            comparisons = [part.but(verdict=part.verdict and Verdict.UNDECIDED) for part in comparisons]
        return replace(self, parts=tuple(comparisons))

    @property
    def is_provisional(self) -> bool:
        """Return whether fewer runs are stored than it needs."""
        return self.runs < self.needed


def with_runs(experiment: Experiment, runs: int) -> Experiment:
    """Return an experiment of which so many runs are requested."""
    return replace(experiment, request=replace(experiment.request, runs=runs))


def judge_part(part: Part, error: float) -> Comparison:
    """Judge a part by its interval with this error."""
    judged = Comparison.of(part, error)
    if judged.verdict is not Verdict.UNDECIDED:
        return judged
    if _no_difference(part, judged.lower, judged.upper):
        return judged.but(verdict=Verdict.NO_DIFFERENCE)
    return judged.but(deciding_runs=_deciding_runs(part, judged.lower, judged.upper))


def _deciding_runs(part: Part, lower: float, upper: float) -> float:
    """Return about how many runs would decide a part if its estimate stays, since widths fall as 1 / sqrt(runs)."""
    value, runs = part.estimate.value, part.estimate.runs
    if part.estimate.is_discrete or not isfinite(upper - lower):
        return inf
    nearest = min((end for end in (part.above, part.below) if isfinite(end)), key=lambda end: abs(end - value))
    gap, width = abs(nearest - value), upper - value if nearest > value else value - lower
    wider = max(upper - value, value - lower)
    to_clear = (width / max(gap, TINY)) ** 2
    if part.margin is not None:
        to_be_narrow = ((upper - lower) / (NARROW * part.margin)) ** 2
    else:
        to_be_narrow = (wider / max(part.interest - gap, TINY)) ** 2
    return runs * min(to_clear, to_be_narrow)


def _no_difference(part: Part, lower: float, upper: float) -> bool:
    """Return whether an interval contains a threshold and shows that the number hardly differs from it."""
    for threshold in (end for end in (part.above, part.below) if isfinite(end) and lower <= end <= upper):
        if part.margin is not None and upper - lower < NARROW * part.margin:
            return True
        if part.margin is None and threshold - part.interest < lower and upper < threshold + part.interest:
            return True
    return False


def decisive(parts: Sequence[Comparison]) -> Comparison:
    """Return the part on which a verdict rests: the one refuted most clearly, else the one supported least clearly."""
    verdict = together([judged.verdict for judged in parts])
    of_verdict = [judged for judged in parts if judged.verdict is verdict]
    if verdict is Verdict.DOES_NOT_HOLD:
        return min(of_verdict, key=lambda judged: judged.p_refute)
    return max(of_verdict, key=lambda judged: judged.p_hold)


def _round_up(number: float) -> int:
    """Return the next number that has one significant digit."""
    unit = 10 ** int(log10(number))
    return ceil(number / unit) * unit


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
