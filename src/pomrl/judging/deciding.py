"""Judging claims at precision on what is stored, and computing the runs that undecided claims need.

Runs are added only to the experiments that the open parts of undecided claims read, on their whole grid. The budget is
in estimated seconds of one core, and it counts every run beyond the promised number of them, whether it is stored
or not. So which claims are decided within a budget depends neither on the machine nor on what is stored already.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.execution.parallel import in_threads
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.chances import pool_of
from pomrl.judging.precision import Outcome
from pomrl.judging.verdict import Verdict
from pomrl.running.sweeps import seconds_of

Compute = Callable[[Sequence[Experiment]], None]
"""A function that computes what the store lacks of experiments."""


@dataclass(frozen=True)
class Case:
    """A claim on a basis, judged as far as possible."""

    basis: Basis
    outcome: Outcome

    def is_open(self, *, verdict_suffices: bool) -> bool:
        """Return whether the claim has no verdict, or whether one of its topics has none."""
        return self.outcome.verdict is Verdict.UNDECIDED or not (verdict_suffices or self.outcome.decided)

    def needs(self, runs: int) -> list[Experiment]:
        """Return what the next analysis reads: the experiments of the open parts, with so many runs."""
        experiments = self.basis.read_by(self.outcome.claim, self.outcome.open)
        return [replace(each, request=replace(each.request, runs=runs)) for each in experiments]

    def analysed(self, reader: Reader, runs: int) -> "Case":
        """Return the case after an analysis of the first `runs` runs."""
        claim, wanted = self.outcome.claim, self.outcome.open
        return replace(self, outcome=self.outcome.after(reader.parts(self.basis, claim, runs, wanted)))

    def is_stored(self, runs: int) -> bool:
        """Return whether the runs of the next analysis are stored."""
        return self.basis.stored(self.outcome.claim, self.outcome.open) >= runs


def stored_outcomes(bases: Sequence[Basis], reader: Reader) -> list[Case]:
    """Judge the claims about sweeps on each basis, as far as what is stored suffices."""
    return _analyses(bases, reader, lambda cases, runs: [case for case in cases if case.is_stored(runs)])


@dataclass
class Spending:
    """A budget, and what of it each experiment takes: the runs that it has beyond the promised number."""

    budget: float
    """Estimated seconds of one core."""
    runs: dict[str, int] = field(default_factory=dict)
    """The runs that each experiment has been granted, by its signature."""
    spent: float = 0.0

    def grant(self, experiments: Iterable[Experiment], published: Mapping[str, int]) -> bool:
        """Take what these experiments cost out of the budget, unless it does not suffice; return whether it does."""
        by_signature = {store.signature(each): each for each in experiments}
        cost = sum(
            seconds_of(each, each.request.runs - self.runs.get(signature, published[signature]))
            for signature, each in by_signature.items()
            if each.request.runs > self.runs.get(signature, published[signature])
        )
        if self.spent + cost > self.budget:
            return False
        self.spent += cost
        self.runs |= {key: max(each.request.runs, self.runs.get(key, 0)) for key, each in by_signature.items()}
        return True


def pools(cases: Sequence[Case]) -> list[Experiment]:
    """Return the experiments of claims with the runs that the promised numbers of runs are drawn from (`chances`).

    A claim whose first analysis is beyond the budget has none.
    """
    return [
        replace(each, request=replace(each.request, runs=pool))
        for case in cases
        if case.outcome.runs and (pool := pool_of(case.basis, case.outcome.claim))
        for each in case.basis.read_by(case.outcome.claim)
    ]


def decide(bases: Sequence[Basis], spending: Spending, reader: Reader, compute: Compute) -> list[Case]:
    """Judge the claims about sweeps on each basis, and compute the runs that this takes.

    Args:
        bases: What the claims are judged on.
        spending: The budget for the runs beyond the promised numbers, from which what they cost is taken.
        reader: Reads the losses.
        compute: Computes what the store lacks of experiments. It is called once for each analysis.

    Returns:
        A case for each claim and basis. At each analysis the cheapest claims come first. A claim stays undecided if the
        budget or the last analysis ends its search.
    """
    published = {
        store.signature(setting.experiment): setting.experiment.request.runs
        for basis in bases
        for settings in basis.settings.values()
        for setting in settings
    }

    def affordable(cases: Sequence[Case], runs: int) -> list[Case]:
        by_cost = sorted(cases, key=lambda case: sum(seconds_of(each, runs) for each in case.needs(runs)))
        granted = [case for case in by_cost if spending.grant(case.needs(runs), published)]
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
    cases = [
        Case(basis, Outcome(claim, basis.plan(claim))) for basis in bases for claim in basis.claims if claim.is_judged
    ]
    analyses = sorted({runs for case in cases for runs in case.outcome.plan.analyses})
    for verdict_suffices in (True, False):  # first every claim gets a verdict, and then every topic
        ended: set[int] = set()
        for runs in analyses:
            numbers = [
                number
                for number, case in enumerate(cases)
                if number not in ended
                and runs in case.outcome.plan.analyses
                and case.outcome.runs < runs
                and case.is_open(verdict_suffices=verdict_suffices)
            ]
            can_be = {id(case) for case in possible([cases[number] for number in numbers], runs)}
            ended |= {number for number in numbers if id(cases[number]) not in can_be}
            to_judge = sorted(set(numbers) - ended)
            judged = in_threads(partial(Case.analysed, reader=reader, runs=runs), [cases[i] for i in to_judge])
            for number, case in zip(to_judge, judged, strict=True):
                cases[number] = case
    return cases
