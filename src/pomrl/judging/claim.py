"""Claims: a statement, its sweeps or simulation, and the function to check it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log10
from typing import TYPE_CHECKING, Any

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.study import Study
from pomrl.judging.verdict import Comparison, Part, Verdict, by_topic, combine_verdicts, decisive, judge_part
from pomrl.results.intervals import ERROR_RATE
from pomrl.results.sweep_results import SweepResults
from pomrl.store.derived import Simulation

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

MAX_SUGGESTED_RUNS = 1e7
"""The number of runs from which on it is not said that so many would decide a claim."""

ClaimFunction = Callable[..., list[Part]]
"""A function of the losses of each sweep that a claim names, in that order, or of its simulation's table.

The function of an exact claim, which names neither, takes no arguments: its numbers are known (`Exact`)."""


@dataclass(frozen=True)
class Revision:
    """Record a rule revised after verdicts had been seen."""

    on: str
    """The day of the revision, such as 2026-11-21."""
    reason: str
    """What was changed, and why."""
    before: Verdict
    """The verdict by the old rule, at the promised number of runs and with Holm's correction, as it was published."""


@dataclass(frozen=True, eq=False)
class Claim:
    """Hold a statement about sweeps, a simulation or exact numbers."""

    id: str
    statement: str
    where: str
    """The section and the figure of the source in which the claim is made, or the question that it belongs to."""
    sweeps: tuple[str, ...]
    """The names of the sweeps that it is about."""
    check: ClaimFunction
    simulation: Simulation | None = None
    """The simulation that it is about, if it is about one and not about sweeps."""
    title: str = ""
    """A short form of the statement, or the statement itself."""
    figures: Sequence[str] = ()
    """The names of the figures that show what it is about."""
    selected_on: bool = False
    """Whether readings of a paper were chosen after looking at the results that it is about."""
    revised: Revision | None = None
    """How its rule was revised, if it was."""
    runs: int | Mapping[str, int] = 0
    """The number of runs on which it is judged, or that number by the variant; 0 for that of its study."""
    is_judged: bool = True
    """Whether there is a verdict; else estimates are reported."""
    is_main: bool = False
    """Whether it is named in a summary if it holds; claims that do not hold always are."""

    @property
    def is_exact(self) -> bool:
        """Return whether its numbers are computed without runs."""
        return not self.sweeps and self.simulation is None

    def parts(self, results: "Mapping[str, SweepResults | pd.DataFrame]") -> tuple[Part, ...]:
        """Check the claim on results by sweep, or its simulation's table.

        Raises:
            LookupError: A sweep, a simulation or an experiment is missing.
            TypeError: The function returns no list of parts.
        """
        names = (self.simulation.name,) if self.simulation else self.sweeps
        comparisons = self.check(*(results[name] for name in names))
        if (
            not isinstance(comparisons, list | tuple)
            or not comparisons
            or not all(isinstance(comparison, Part) for comparison in comparisons)
        ):
            what = f"{comparisons!r:.40}" if not comparisons else type(comparisons).__name__
            raise TypeError(f"a claim returns a list of parts, such as [less(a, b, 'a less b')], and this one {what}")
        return tuple(comparisons)


@dataclass(frozen=True)
class JudgedClaim:
    """Hold a judged claim, without parts while runs are missing."""

    claim: Claim
    needed: int = 0
    """The number of runs on which it is judged."""
    error: float = ERROR_RATE
    """The probability that the verdict on it is wrong."""
    experiments: tuple[Experiment, ...] = ()
    """The experiments whose losses it read or lacks."""
    parts: tuple[Comparison, ...] = ()

    @property
    def missing_experiments(self) -> list[Experiment]:
        """The experiments to compute with more runs."""
        if not self.is_provisional:
            return []
        return [with_runs(experiment, self.needed) for experiment in self.experiments]

    @property
    def runs(self) -> int:
        """The number of runs judged on; 0 if not judged."""
        return min((comparison.runs for comparison in self.parts), default=0)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict by topic; "" without topics."""
        return by_topic((comparison.topic, comparison.verdict) for comparison in self.parts)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim."""
        return combine_verdicts([comparison.verdict for comparison in self.parts])

    @property
    def reason(self) -> str:
        """The reason for being undecided; empty if decided."""
        if self.verdict is not Verdict.UNDECIDED:
            return ""
        if self.is_provisional:
            return f"fewer than {self.needed:,} runs are stored"
        comparison = decisive(self.parts)
        too_wide = (
            f"{comparison.compared}: {comparison.found} after {self.runs:,} runs, an interval that is too wide to tell"
        )
        runs = max(comparison.deciding_runs for comparison in self.parts if comparison.verdict is Verdict.UNDECIDED)
        return (
            f"{too_wide}; about {_round_up(runs):,} runs would probably tell" if runs < MAX_SUGGESTED_RUNS else too_wide
        )

    def judge(self, estimates: Sequence[Part]) -> "JudgedClaim":
        """Judge parts with these estimates; with too few runs, decide nothing."""
        is_judged = self.claim.is_judged
        error = self.error / max(1, sum(comparison.is_claimed for comparison in estimates)) if is_judged else ERROR_RATE
        comparisons = [judge_part(comparison, error) for comparison in estimates]
        if not is_judged:
            comparisons = [comparison.but(verdict=None) for comparison in comparisons]
        elif min(comparison.runs for comparison in comparisons) < self.needed:
            comparisons = [
                comparison.but(verdict=comparison.verdict and Verdict.UNDECIDED) for comparison in comparisons
            ]
        return replace(self, parts=tuple(comparisons))

    @property
    def is_provisional(self) -> bool:
        """Return whether fewer runs are stored than needed."""
        return self.runs < self.needed


def with_runs(experiment: Experiment, runs: int) -> Experiment:
    """Return an experiment with this number of requested runs."""
    return replace(experiment, request=replace(experiment.request, runs=runs))


def _round_up(number: float) -> int:
    unit = 10 ** int(log10(number))
    return ceil(number / unit) * unit


def claim(id: str, *sweeps: str, **options: Any) -> Callable[[ClaimFunction], Claim]:
    """Make a claim of the function that checks it.

    The first line of its docstring is the statement. The second paragraph begins with the place in the source, up to a
    colon.

    Args:
        id: The claim's identifier, such as Q1.1.
        sweeps: The sweeps of the function's arguments, in order; none for an exact claim.
        options: Further fields of `Claim`, such as `simulation`, `title`, `figures` and `is_main`.

    Raises:
        TypeError: The decorator lacks parentheses, or a claim has no such field.
    """
    if callable(id):
        raise TypeError(
            f"{getattr(id, '__name__', id)}: @claim needs parentheses, an id and a sweep, as in @claim('A', 'SWEEP')"
        )

    def make(check: ClaimFunction) -> Claim:
        statement, _, body = (check.__doc__ or "").strip().partition("\n\n")
        where, summary = " ".join(body.partition(":")[0].split()), " ".join(statement.split()).rstrip(".")
        fields: dict[str, Any] = {"title": summary, **options}
        return Claim(id, summary, where, sweeps, check, **fields)

    return make


def claims_of(study: Study) -> list[Claim]:
    """Return the claims in a study's `claims.py` or `claims/`, by id.

    Raises:
        ConfigError: A module cannot be imported, a claim has no statement or source of numbers, or two have one id.
    """
    by_id: dict[str, Claim] = {}
    for claim in _find_claims(study):
        name = claim.check.__name__
        if claim.is_exact and claim.check.__code__.co_argcount:
            raise ConfigError(f"{study.word}: claim {name} names no sweep, as in @claim({claim.id!r}, 'SWEEP')")
        if not claim.statement:
            raise ConfigError(f"{study.word}: claim {name} has no docstring, whose first line says what is claimed")
        if claim.id in by_id:
            other = by_id[claim.id].check.__name__
            raise ConfigError(f"{study.word}: claims {other} and {name} have the same id {claim.id!r}")
        study.refuse_unknown(claim.sweeps, f"claim {claim.id}")
        by_id[claim.id] = claim
    return sorted(by_id.values(), key=lambda claim: _natural(claim.id))


def _find_claims(study: Study) -> Iterator[Claim]:
    for module in study.modules("claims"):
        for claim in dict.fromkeys(value for value in vars(module).values() if isinstance(value, Claim)):
            if claim.check.__module__ == module.__name__:
                yield claim


def _natural(id: str) -> list[tuple[bool, int | str]]:
    """Return a sort key with Q2.9 before Q2.10."""
    return [(piece.isdigit(), int(piece) if piece.isdigit() else piece) for piece in re.split(r"(\d+)", id) if piece]
