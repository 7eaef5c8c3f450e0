"""What the store lacks of experiments, and what it costs to compute that. Nothing is computed or written here."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import ceil

from pomrl import store
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.wording import number_of
from pomrl.running import cost
from pomrl.science.problem import Problem
from pomrl.science.validation import check_experiment
from pomrl.store import StoredExperiment

CHECKED_OF_PROBLEM, CHECKED = 50, 2000
"""The most runs of a problem, and about as many of all, whose mean models are checked before any run is computed."""

LONG = 3600.0
"""Seconds from which on a request is computed only with `yes=true`."""


@dataclass(frozen=True)
class PlannedExperiment:
    """An experiment that is asked for, its place in the store, and the runs that it lacks there."""

    experiment: Experiment
    stored: StoredExperiment
    missing: list[range]
    """The missing runs, divided as they are stored."""
    faults: list[str]
    """A line for each stored file that is damaged, and therefore missing."""

    @property
    def runs_missing(self) -> int:
        """The number of runs that it lacks."""
        return sum(map(len, self.missing))

    @property
    def seconds(self) -> float:
        """The time that one process needs for what it lacks, within a factor of about three."""
        return cost.seconds(self.experiment.problem, self.experiment.method, self.runs_missing)


def plan(experiments: Sequence[Experiment]) -> list[PlannedExperiment]:
    """Look up what the store lacks of each experiment, and check that it can be computed.

    Of each problem the first missing runs are looked at, `CHECKED_OF_PROBLEM` or fewer where there are many problems. A
    later run that cannot have its sigma ends its method with a failure.

    Raises:
        ConfigError: An experiment cannot be computed.
    """
    planned = [_look_up(experiment) for experiment in experiments]
    checked: dict[Problem, set[int]] = defaultdict(set)
    most = min(CHECKED_OF_PROBLEM, ceil(CHECKED / max(1, len({job.experiment.problem for job in planned}))))
    for job in planned:
        problem = job.experiment.problem
        runs = set(islice(chain.from_iterable(job.missing), most)) - checked[problem]
        try:
            check_experiment(problem, job.experiment.method, sorted(runs))
        except ValueError as error:
            raise ConfigError(str(error)) from error
        checked[problem] |= runs
    return planned


def _look_up(experiment: Experiment) -> PlannedExperiment:
    stored, runs = store.lookup(experiment), experiment.request.runs
    if experiment.request.force:
        known = max(runs, stored.contiguous(), stored.promised())
        return PlannedExperiment(experiment, stored, store.divide_into_blocks(known), [])
    return PlannedExperiment(experiment, stored, *store.missing(stored, runs))


def find_unfinished(planned: Sequence[PlannedExperiment]) -> list[PlannedExperiment]:
    """Return the experiments with runs to compute, or files to repair: each once, with the most runs."""
    by_runs = sorted(planned, key=lambda job: job.experiment.request.runs)
    lacking = {job.stored.signature: job for job in by_runs if job.missing or job.faults}
    return list(lacking.values())


@dataclass(frozen=True)
class WorkEstimate:
    """What a request takes, within a factor of about three."""

    experiments: int
    runs: int
    """Runs to compute, those of every experiment added."""
    seconds: float
    """Time in one process."""
    workers: int
    """Processes that compute it."""

    def __str__(self) -> str:
        time = f"about {_duration(self.seconds / self.workers)} on {number_of(self.workers, 'worker')}"
        return f"{number_of(self.experiments, 'experiment')}, {number_of(self.runs, 'run')} to compute; {time}"


def estimate(planned: Sequence[PlannedExperiment], times: int = 1) -> WorkEstimate:
    """Return what experiments take with the execution of the first.

    Shared work counts once.

    Args:
        planned: The experiments, as `plan` returns them.
        times: How many sweeps alike there are.
    """
    lacking = [job for job in find_unfinished(planned) if job.missing]
    runs = times * sum(job.runs_missing for job in lacking)
    seconds = times * sum((job.seconds for job in lacking), 0.0)
    parts = times * sum(len(job.missing) for job in lacking)
    most = planned[0].experiment.execution.at_once(seconds) if planned else 1
    workers = min(most, max(parts, int(seconds / cost.PART)), runs)
    return WorkEstimate(times * len(planned), runs, seconds, max(1, workers))


def refuse_what_takes_long(of_work: WorkEstimate) -> None:
    """Raise a ConfigError if the work takes longer than `LONG`."""
    if of_work.seconds / of_work.workers > LONG:
        raise ConfigError(f"{of_work}; what takes more than an hour is computed with yes=true")


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.1f} seconds"
