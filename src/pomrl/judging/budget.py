"""Judging claims at precision on what is stored, and computing the runs that undecided claims need within a budget.

Runs are added only to the experiments that the open parts of undecided claims read, on their whole grid. The budget is
in estimated seconds of one core, and it counts every run beyond the promised number of them, whether it is stored
or not. So which claims are decided within a budget depends neither on the machine nor on what is stored already.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.execution.parallel import in_threads
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.sequential_analysis import Outcome
from pomrl.judging.verdict import Verdict
from pomrl.running import cost

ROUND = 5.0
"""Analyses that cost at most this many estimated seconds, or at most twice what the cheapest costs, are made together.

A round of them keeps all processes busy; one analysis at a time would not.
"""

Compute = Callable[[Sequence[Experiment]], None]
"""A function that computes what the store lacks of experiments."""


@dataclass(eq=False)
class Case:
    """A claim on a basis, judged as far as possible."""

    basis: Basis
    outcome: Outcome

    def next_analysis(self, *, verdict_suffices: bool) -> int | None:
        """Return the runs of the next analysis that is planned; None if none is, or none is wanted."""
        is_open = self.outcome.verdict is Verdict.UNDECIDED or not (verdict_suffices or self.outcome.decided)
        later = [runs for runs in self.outcome.analyses if runs > self.outcome.runs]
        return min(later) if later and is_open and self.outcome.open != [] else None

    def needs(self, runs: int) -> list[Experiment]:
        """Return what the next analysis reads: the experiments of the open parts, with so many runs."""
        read = self.basis.experiments_of(self.outcome.claim, self.outcome.open)
        return [replace(experiment, request=replace(experiment.request, runs=runs, yes=True)) for experiment in read]

    def analyse(self, reader: Reader, runs: int) -> None:
        """Judge the claim on the first `runs` runs."""
        parts = reader.parts(self.basis, self.outcome.claim, runs, self.outcome.open)
        self.outcome = self.outcome.after(parts)

    def is_stored(self, runs: int) -> bool:
        """Return whether the runs of the next analysis are stored."""
        return self.basis.stored_runs(self.outcome.claim, self.outcome.open) >= runs


def judge_stored(bases: Sequence[Basis], reader: Reader) -> list[Case]:
    """Judge the claims about sweeps on each basis, as far as what is stored suffices."""
    return _judge(bases, reader, lambda due: [case for case, runs in due.items() if case.is_stored(runs)])


@dataclass
class Spending:
    """A budget, and what of it each experiment takes: the runs that it has beyond the promised number."""

    budget: float
    """Estimated seconds of one core."""
    runs: dict[str, int]
    """The runs that each experiment has been granted, or is promised, by its signature."""

    def price(self, experiments: Iterable[Experiment]) -> float:
        """Return what these experiments cost beyond what has been granted."""
        further = {store.signature(experiment): experiment for experiment in experiments}
        return sum(
            cost.seconds(experiment.problem, experiment.method, experiment.request.runs - self.runs[signature])
            for signature, experiment in further.items()
            if experiment.request.runs > self.runs[signature]
        )

    def grant(self, experiments: Sequence[Experiment]) -> bool:
        """Take what these experiments cost out of the budget, unless it does not suffice; return whether it does."""
        price = self.price(experiments)
        if price > self.budget:
            return False
        self.budget -= price
        self.runs |= {(key := store.signature(one)): max(one.request.runs, self.runs[key]) for one in experiments}
        return True


def decide(bases: Sequence[Basis], budget: float, reader: Reader, compute: Compute) -> list[Case]:
    """Judge the claims about sweeps on each basis, and compute the runs that this takes.

    The cheapest analyses are made first, whatever their numbers of runs.

    Args:
        bases: What the claims are judged on.
        budget: What the runs beyond the promised numbers may cost, in estimated seconds of one core.
        reader: Reads the losses.
        compute: Computes what the store lacks of experiments. It is called once for analyses that are made together.

    Returns:
        A case for each claim and basis. A claim stays undecided if the budget or the last analysis ends its search.
    """
    of_sweeps = [setting.experiment for basis in bases for of in basis.settings.values() for setting in of]
    spending = Spending(budget, {store.signature(sweep): sweep.request.runs for sweep in of_sweeps})

    def cheapest(due: Mapping[Case, int]) -> list[Case]:
        needs = {case: case.needs(runs) for case, runs in due.items()}
        prices = {case: spending.price(needs[case]) for case in due}
        most = max(ROUND, 2.0 * min(prices.values()))
        by_price = sorted((case for case in due if prices[case] <= most), key=prices.__getitem__)
        granted = [case for case in by_price if spending.grant(needs[case])]
        compute([experiment for case in granted for experiment in needs[case]])
        return granted

    return _judge(bases, reader, cheapest)


def _judge(
    bases: Sequence[Basis], reader: Reader, possible: Callable[[Mapping[Case, int]], Sequence[Case]]
) -> list[Case]:
    """Judge claims at one analysis after the other.

    Args:
        bases: What the claims are judged on.
        reader: Reads the losses.
        possible: Function of the cases that are not decided, with the numbers of runs of their next analyses. It
            returns the cases that are judged now; the search ends when there is none.
    """
    cases = [Case(basis, basis.unjudged_outcome(claim)) for basis in bases for claim in basis.claims if claim.is_judged]
    for verdict_suffices in (True, False):  # first every claim gets a verdict, and then every topic
        while due := {case: runs for case in cases if (runs := case.next_analysis(verdict_suffices=verdict_suffices))}:
            if not (judged := possible(due)):
                break
            in_threads(lambda case, due=due: case.analyse(reader, due[case]), judged)
    return cases
