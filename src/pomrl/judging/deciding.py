"""Judging claims at precision on what is stored, and computing the runs that undecided claims need.

Runs are added only to the experiments that the open parts of undecided claims read, on their whole grid. The budget is
in estimated seconds of one core, and it counts every run beyond the promised number of them, whether it is stored
or not. So which claims are decided within a budget depends neither on the machine nor on what is stored already.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.execution.parallel import in_threads
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.precision import Outcome
from pomrl.judging.verdict import Verdict
from pomrl.running import cost

Compute = Callable[[Sequence[Experiment]], None]
"""A function that computes what the store lacks of experiments."""


@dataclass(eq=False)
class Case:
    """A claim on a basis, judged as far as possible."""

    basis: Basis
    outcome: Outcome

    def is_due(self, runs: int, *, verdict_suffices: bool) -> bool:
        """Return whether an analysis of so many runs is planned and not made, and wanted for the claim or a topic."""
        is_open = self.outcome.verdict is Verdict.UNDECIDED or not (verdict_suffices or self.outcome.decided)
        return runs in self.outcome.analyses and self.outcome.runs < runs and is_open and self.outcome.open != []

    def needs(self, runs: int) -> list[Experiment]:
        """Return what the next analysis reads: the experiments of the open parts, with so many runs."""
        return with_runs(self.basis.read_by(self.outcome.claim, self.outcome.open), runs)

    def analyse(self, reader: Reader, runs: int) -> None:
        """Judge the claim on the first `runs` runs."""
        parts = reader.parts(self.basis, self.outcome.claim, runs, self.outcome.open)
        self.outcome = self.outcome.after(parts)

    def is_stored(self, runs: int) -> bool:
        """Return whether the runs of the next analysis are stored."""
        return self.basis.stored(self.outcome.claim, self.outcome.open) >= runs


def with_runs(experiments: Iterable[Experiment], runs: int) -> list[Experiment]:
    """Return experiments with so many runs."""
    return [replace(each, request=replace(each.request, runs=runs)) for each in experiments]


def stored_outcomes(bases: Sequence[Basis], reader: Reader) -> list[Case]:
    """Judge the claims about sweeps on each basis, as far as what is stored suffices."""
    return _analyses(bases, reader, lambda cases, runs: [case for case in cases if case.is_stored(runs)])


@dataclass
class Spending:
    """A budget, and what of it each experiment takes: the runs that it has beyond the promised number."""

    budget: float
    """Estimated seconds of one core."""
    runs: dict[str, int]
    """The runs that each experiment has been granted, or is promised, by its signature."""
    spent: float = 0.0

    def grant(self, experiments: Iterable[Experiment]) -> bool:
        """Take what these experiments cost out of the budget, unless it does not suffice; return whether it does."""
        by_signature = {store.signature(each): each for each in experiments}
        seconds = sum(
            _seconds(each, each.request.runs - self.runs[signature])
            for signature, each in by_signature.items()
            if each.request.runs > self.runs[signature]
        )
        if self.spent + seconds > self.budget:
            return False
        self.spent += seconds
        self.runs |= {key: max(each.request.runs, self.runs[key]) for key, each in by_signature.items()}
        return True


def _seconds(experiment: Experiment, runs: int) -> float:
    return cost.seconds(experiment.problem, experiment.method, runs)


def decide(bases: Sequence[Basis], budget: float, reader: Reader, compute: Compute) -> list[Case]:
    """Judge the claims about sweeps on each basis, and compute the runs that this takes.

    Args:
        bases: What the claims are judged on.
        budget: What the runs beyond the promised numbers may cost, in estimated seconds of one core.
        reader: Reads the losses.
        compute: Computes what the store lacks of experiments. It is called once for each analysis.

    Returns:
        A case for each claim and basis. At each analysis the cheapest claims come first. A claim stays undecided if the
        budget or the last analysis ends its search.
    """
    of_sweeps = [each.experiment for basis in bases for of in basis.settings.values() for each in of]
    spending = Spending(budget, {store.signature(each): each.request.runs for each in of_sweeps})

    def affordable(cases: Sequence[Case], runs: int) -> list[Case]:
        by_cost = sorted(cases, key=lambda case: sum(_seconds(each, runs) for each in case.needs(runs)))
        granted = [case for case in by_cost if spending.grant(case.needs(runs))]
        compute([experiment for case in granted for experiment in case.needs(runs)])
        return granted

    return _analyses(bases, reader, affordable)


def _analyses(
    bases: Sequence[Basis], reader: Reader, possible: Callable[[Sequence[Case], int], Sequence[Case]]
) -> list[Case]:
    """Judge claims at one analysis after the other.

    Args:
        bases: What the claims are judged on.
        reader: Reads the losses.
        possible: Function of the cases that are not decided and of a number of runs. It returns the cases that can be
            judged on so many runs; the others are judged no further.
    """
    cases = [Case(basis, basis.unjudged(claim)) for basis in bases for claim in basis.claims if claim.is_judged]
    analyses = sorted({runs for case in cases for runs in case.outcome.analyses})
    for verdict_suffices in (True, False):  # first every claim gets a verdict, and then every topic
        searched = cases
        for runs in analyses:
            due = [case for case in searched if case.is_due(runs, verdict_suffices=verdict_suffices)]
            granted = possible(due, runs)
            in_threads(partial(Case.analyse, reader=reader, runs=runs), granted)
            searched = [case for case in searched if case not in due or case in granted]
    return cases
