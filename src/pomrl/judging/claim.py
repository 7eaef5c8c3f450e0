"""Claims about sweeps, simulations or exact numbers."""

# A user's function may return anything.
# pyright: reportUnnecessaryIsInstance=false, reportUnnecessaryComparison=false

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import display_path
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.studies import Study
from pomrl.judging.comparison_rows import Comparison, by_topic, claim_verdict, decisive
from pomrl.results.sweep_results import SweepResults
from pomrl.store.derived import Simulation
from verdicts.estimates import ERROR
from verdicts.parts import MAX_SUGGESTED_UNITS, Part, Verdict, judge_part, round_up

if TYPE_CHECKING:  # slow to import
    import pandas as pd

ClaimFunction = Callable[..., list[Part]]
"""The function of a claim.

Its arguments are the results of the claim's sweeps, in order, or the table of its simulation. The function of an exact
claim has no arguments, because its numbers are known (`Exact`)."""


@dataclass(frozen=True)
class Revision:
    """A revision of a claim's rule after verdicts were seen."""

    on: str
    """The date of the revision, such as 2026-11-21."""
    reason: str
    """The change and its reason."""
    before: Verdict | Mapping[str, Verdict]
    """The published verdict by the old rule, on the required number of runs and with Holm's correction."""


@dataclass(frozen=True, eq=False)
class Claim:
    """A statement with the function to check it."""

    id: str
    statement: str
    where: str
    """The section and figure of the claim in its source, or its question in the study."""
    sweeps: tuple[str, ...]
    """The names of the sweeps that the function reads."""
    check: ClaimFunction
    simulation: Simulation | None = None
    """The simulation of a claim without sweeps."""
    title: str = ""
    """A short form of the statement; by default the statement."""
    figures: Sequence[str] = ()
    """The names of figures with the results of the claim."""
    selected_on: bool = False
    """Whether readings of a paper were chosen after looking at the results of the claim."""
    revised: Revision | None = None
    """The revision of its rule, if any."""
    runs: int | Mapping[str, int] = 0
    """The number of runs to judge the claim on, or this number by variant; 0 for the number of the study."""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Remarks on the claim, by variant."""
    not_under: Sequence[str] = ()
    """The variants without a verdict on the claim, because their source does not contain it."""
    is_judged: bool = True
    """Whether the claim gets a verdict; otherwise estimates are reported."""
    is_main: bool = False
    """Whether summaries list the claim if it holds; they always list claims that do not hold."""

    @property
    def is_exact(self) -> bool:
        return not self.sweeps and self.simulation is None

    @property
    def place(self) -> str:
        """The id, and the file and line of its function."""
        code = self.check.__code__
        return f"claim {self.id} ({display_path(code.co_filename)}:{code.co_firstlineno})"

    def parts(self, results: "Mapping[str, SweepResults | pd.DataFrame]") -> tuple[Part, ...]:
        """Call the function of the claim on results by name of sweep or simulation.

        Raises:
            LookupError: A sweep, a simulation or an experiment is missing.
            TypeError: The function does not return a list of parts.
        """
        names = (self.simulation.name,) if self.simulation else self.sweeps
        parts = self.check(*(results[name] for name in names))
        if not isinstance(parts, list | tuple) or not parts or not all(isinstance(part, Part) for part in parts):
            what = "None" if parts is None else type(parts).__name__
            if isinstance(parts, list | tuple):
                wrong_types = [type(other).__name__ for other in parts if not isinstance(other, Part)]
                what = f"a {what} with {wrong_types[0]}" if wrong_types else f"an empty {what}"
            raise TypeError(f"a claim must return a list of parts, such as [less(a, b, 'a less b')], got {what}")
        return tuple(parts)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its judged parts; none if an experiment has no runs."""

    claim: Claim
    needed: int = 0
    """The number of runs required for a verdict."""
    error: float = ERROR
    """The largest probability of a wrong verdict."""
    experiments: tuple[Experiment, ...] = ()
    """The experiments whose losses the claim reads, stored or missing."""
    comparisons: tuple[Comparison, ...] = ()

    @property
    def missing_experiments(self) -> list[Experiment]:
        if not self.is_provisional:
            return []
        return [with_runs(experiment, self.needed) for experiment in self.experiments]

    @property
    def runs(self) -> int:
        """The smallest number of runs of its parts; 0 without parts."""
        return min((comparison.runs for comparison in self.comparisons), default=0)

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts by topic; without topics, the key is empty."""
        return by_topic((comparison.topic, comparison.verdict) for comparison in self.comparisons)

    @property
    def verdict(self) -> Verdict:
        return claim_verdict(self.comparisons)

    @property
    def reason(self) -> str:
        """Why the claim is undecided; empty if decided."""
        if self.verdict is not Verdict.UNDECIDED:
            return ""
        if self.is_provisional:
            return f"fewer than {self.needed:,} runs are stored"
        comparison = decisive(self.comparisons)
        if comparison.runs < comparison.min_runs:
            return (
                f"{comparison.compared}: an estimate of this kind must have at least {comparison.min_runs} runs, "
                f"got {comparison.runs}"
            )
        estimated = f"{comparison.compared}: {comparison.estimate_text} after {self.runs:,} runs"
        too_wide = f"{estimated}, an interval that is too wide to tell"
        undecided = [
            comparison
            for comparison in self.comparisons
            if comparison.verdict is Verdict.UNDECIDED and not comparison.is_beside
        ]
        runs = max(comparison.deciding_runs for comparison in undecided)
        return (
            f"{too_wide}; a new claim with about {round_up(runs):,} runs of a new seed would probably tell"
            if runs < MAX_SUGGESTED_UNITS
            else too_wide
        )

    def judge(self, parts: Sequence[Part]) -> "JudgedClaim":
        """Judge parts; with too few runs, all verdicts are undecided.

        Raises:
            ConfigError: A number is NaN or infinite, although there are enough runs.
        """
        for part in parts:
            if part.estimate.is_possible and not part.estimate.is_known:  # few runs may have no estimate
                raise ConfigError(
                    f"{self.claim.place}: {part.compared}: its numbers must be finite, got NaN or infinity"
                )
        is_judged = self.claim.is_judged
        error = self.error / max(1, sum(part.is_claimed for part in parts)) if is_judged else ERROR
        comparisons = [Comparison.from_part(judge_part(part, error)) for part in parts]
        if not is_judged:
            comparisons = [comparison.but(verdict=None) for comparison in comparisons]
        elif min(comparison.runs for comparison in comparisons) < self.needed:
            comparisons = [
                comparison.but(verdict=comparison.verdict and Verdict.UNDECIDED) for comparison in comparisons
            ]
        return replace(self, comparisons=tuple(comparisons))

    @property
    def is_provisional(self) -> bool:
        return self.runs < self.needed


def with_runs(experiment: Experiment, runs: int) -> Experiment:
    """Return an experiment with another number of requested runs."""
    return replace(experiment, request=replace(experiment.request, runs=runs))


def claim(id: str, *sweeps: str, **options: Any) -> Callable[[ClaimFunction], Claim]:
    """Make a `Claim` of the decorated function.

    The first paragraph of its docstring is the statement. The second one begins with the source and a colon.

    Args:
        id: The identifier, such as Q1.1.
        sweeps: The names of sweeps; their results are the arguments of the function.
        options: Other fields of `Claim`, such as `figures`.

    Raises:
        TypeError: `@claim` has no parentheses, or a field is unknown.
    """
    if callable(id):
        raise TypeError(
            f"{getattr(id, '__name__', id)}: @claim must have an id and a sweep, as in @claim('A', 'SWEEP')"
        )

    def make(check: ClaimFunction) -> Claim:
        statement, _, body = (check.__doc__ or "").strip().partition("\n\n")
        where, summary = " ".join(body.partition(":")[0].split()), " ".join(statement.split()).rstrip(".")
        fields: dict[str, Any] = {"title": summary, **options}
        return Claim(id, summary, where, sweeps, check, **fields)

    return make


def claims_of(study: Study) -> list[Claim]:
    """Return the claims in a study's `claims.py` or `claims/`, sorted by id.

    Raises:
        ConfigError: A module cannot be imported, a claim has no statement or an unknown sweep, or two share an id.
    """
    by_id: dict[str, Claim] = {}
    for claim in _find_claims(study):
        name = claim.check.__name__
        if claim.is_exact and claim.check.__code__.co_argcount:
            raise ConfigError(f"{study.argument}: claim {name} must have a sweep, as in @claim({claim.id!r}, 'SWEEP')")
        if not claim.statement:
            raise ConfigError(
                f"{study.argument}: claim {name} must have a docstring; its first paragraph is the statement"
            )
        if claim.id in by_id:
            other = by_id[claim.id].check.__name__
            raise ConfigError(f"{study.argument}: claims {other} and {name} have the same id {claim.id!r}")
        study.check_sweeps(claim.sweeps, f"claim {claim.id}")
        by_id[claim.id] = claim
    return sorted(by_id.values(), key=lambda claim: _natural(claim.id))


def _find_claims(study: Study) -> Iterator[Claim]:
    for module in study.modules("claims"):
        for claim in dict.fromkeys(value for value in vars(module).values() if isinstance(value, Claim)):
            if claim.check.__module__ == module.__name__:
                yield claim


def _natural(id: str) -> list[tuple[bool, int | str]]:  # Q2.9 before Q2.10
    return [(piece.isdigit(), int(piece) if piece.isdigit() else piece) for piece in re.split(r"(\d+)", id) if piece]
