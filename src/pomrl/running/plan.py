"""Find missing runs, estimate their time, and divide them into chunks.

A chunk is computed by one process. Methods of the same problem share a chunk, and draw models, tasks and batches once.
A chunk is a block, or less if processes outnumber expensive blocks.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from math import ceil, inf
from typing import Any

from pomrl import store
from pomrl.configuration.composed import ConfigError, number_of
from pomrl.configuration.importing import is_ours
from pomrl.configuration.parsing import Experiment
from pomrl.execution import Local
from pomrl.running.cost import count_operations, seconds_per_operation
from pomrl.science.problem import Method, Problem, components
from pomrl.science.validation import check_experiment
from pomrl.store import StoredExperiment, StoreError

MAX_CHECKED_OF_PROBLEM, MAX_CHECKED = 50, 2000
"""The largest numbers of runs checked in advance: per problem, and roughly in total."""

MAX_ROWS_OF_RUN = 100_000
"""The largest number of rows of a run, T times discount factors: half of what readers of a block accept."""

MAX_SECONDS = 3600.0
"""The largest estimated time without `yes=true`."""

CHUNK_SECONDS = 1.0
"""The shortest time of a chunk worth another process."""


@dataclass(frozen=True)
class PlannedExperiment:
    """A requested experiment with its missing runs."""

    experiment: Experiment
    stored: StoredExperiment
    missing: list[range]
    """The missing runs by block."""
    faults: list[str]
    """The damaged files, a line each."""

    @property
    def runs_missing(self) -> int:
        return sum(map(len, self.missing))


def plan(experiments: Sequence[Experiment]) -> list[PlannedExperiment]:
    """Look up missing runs of experiments; ConfigError if one is impossible or too large, StoreError if unreadable.

    Only the first missing runs are checked. If a later run cannot have the requested sigma, its method fails.
    """
    for experiment in experiments:
        _check_rows(experiment)
    jobs = [_look_up(experiment) for experiment in experiments]
    checked: dict[Problem, set[int]] = defaultdict(set)
    n_problems = len({job.experiment.problem for job in jobs})
    n_checked = min(MAX_CHECKED_OF_PROBLEM, ceil(MAX_CHECKED / max(1, n_problems)))
    for job in jobs:
        problem = job.experiment.problem
        runs = set(islice(chain.from_iterable(job.missing), n_checked)) - checked[problem]
        try:
            check_experiment(problem, job.experiment.method, sorted(runs))
        except ValueError as error:
            raise ConfigError(str(error)) from error
        checked[problem] |= runs
    return jobs


def _check_rows(experiment: Experiment) -> None:
    n_gammas = experiment.method.gamma_schedule.computed_schedule().gammas_per_task
    if (rows := experiment.problem.T * n_gammas) > MAX_ROWS_OF_RUN:
        raise ConfigError(f"T times the number of discount factors must be at most {MAX_ROWS_OF_RUN:,}, got {rows:,}")


def _look_up(experiment: Experiment) -> PlannedExperiment:
    stored, runs = store.lookup(experiment), experiment.request.runs
    if fault := stored.folder_fault():
        raise StoreError(fault)
    if experiment.request.force:
        n_runs = max(runs, stored.contiguous(), stored.recorded_runs(), stored.logged_runs())
        return PlannedExperiment(experiment, stored, store.divide_into_blocks(n_runs), [])
    return PlannedExperiment(experiment, stored, *store.find_missing(stored, runs))


def find_unfinished(jobs: Sequence[PlannedExperiment]) -> list[PlannedExperiment]:
    """Return experiments with missing runs or faults once, with the largest request."""
    by_runs = sorted(jobs, key=lambda job: job.experiment.request.runs)
    return list({job.stored.signature: job for job in by_runs if job.missing or job.faults}.values())


@dataclass(frozen=True)
class WorkEstimate:
    """The estimated work of a request."""

    experiments: int
    """Requested experiments, including stored ones."""
    runs: int
    """Runs to compute, summed over experiments."""
    seconds: float
    """Seconds in one process, within a factor of about 3."""
    workers: int
    """Processes that compute."""
    max_workers: int
    """Processes for work of any length."""

    def describe_workers(self) -> str:
        """Return the number of processes, and why only one."""
        runs = number_of(self.runs, "run")
        if self.workers > 1:
            return f"{runs} computed in {self.workers} processes"
        is_only = self.max_workers == 1
        why = "execution allows no more" if is_only else f"about {_duration(max(0.1, self.seconds))} of work"
        return f"{runs} computed in one process: {why}"

    def __str__(self) -> str:
        time = f"about {_duration(self.seconds / self.workers)} on {number_of(self.workers, 'worker')}"
        return f"{number_of(self.experiments, 'experiment')}, {number_of(self.runs, 'run')} to compute; {time}"


def estimate(jobs: Sequence[PlannedExperiment]) -> WorkEstimate:
    """Estimate the work; shared runs count once."""
    unfinished = [job for job in find_unfinished(jobs) if job.missing]
    chunks = divide(unfinished)
    seconds = sum((chunk.seconds for chunk in chunks), 0.0)
    execution = jobs[0].experiment.execution if jobs else Local()
    max_workers = execution.at_once(inf)
    workers = max(1, min(execution.at_once(sum(chunk.max_seconds for chunk in chunks)), len(chunks)))
    return WorkEstimate(len(jobs), sum(job.runs_missing for job in unfinished), seconds, workers, max_workers)


def estimate_new(examples: Sequence[Experiment], count: int) -> WorkEstimate:
    """Estimate the work of `count` experiments like these, if none is stored."""
    blocks = [store.divide_into_blocks(example.request.runs) for example in examples]
    jobs = [
        PlannedExperiment(new_experiment, store.lookup(new_experiment), runs, [])
        for new_experiment, runs in zip(examples, blocks, strict=True)
    ]
    work, times, execution = estimate(jobs), count / len(examples), examples[0].execution
    runs, seconds = round(times * work.runs), times * work.seconds
    workers = min(execution.at_once(seconds), count)
    return replace(work, experiments=count, runs=runs, seconds=seconds, workers=workers)


def check_time_limit(work: WorkEstimate) -> None:
    """Raise a ConfigError if the work takes longer than `MAX_SECONDS`."""
    if work.seconds / work.workers > MAX_SECONDS:
        raise ConfigError(f"{work}; set yes=true for work of more than an hour")


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.1f} seconds"


@dataclass(frozen=True)
class Chunk:
    """Runs of one problem with their methods; it can be pickled."""

    problem: Problem
    methods: Mapping[str, Method]
    """The methods by signature."""
    block: range
    """The runs stored in one file."""
    runs: range
    """The runs of this chunk."""

    seconds: float = 0.0
    """The estimated seconds in one process."""

    @cached_property
    def is_foreign(self) -> bool:
        return any(is_foreign(self.problem, method) for method in self.methods.values())

    @property
    def max_seconds(self) -> float:
        """The estimated seconds; infinite for user-defined components."""
        return inf if self.is_foreign else self.seconds


def is_foreign(problem: Problem, method: Method) -> bool:
    """Return whether any component is defined outside the packages of pomrl."""
    return bool(foreign_components(problem, method))


def foreign_components(problem: Problem, method: Method) -> list[Any]:
    """List the components defined outside the packages of pomrl."""
    return [component for component in components(problem, method).values() if not is_ours(type(component).__module__)]


def estimate_chunks(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks with their estimated seconds; user-defined components are not measured."""
    measurable = [(chunk.problem, [*chunk.methods.values()]) for chunk in chunks if not chunk.is_foreign]
    seconds = seconds_per_operation(measurable)
    operations = (count_operations(chunk.problem, [*chunk.methods.values()]) * len(chunk.runs) for chunk in chunks)
    return [replace(chunk, seconds=seconds * number) for chunk, number in zip(chunks, operations, strict=True)]


def divide(jobs: Sequence[PlannedExperiment]) -> list[Chunk]:
    """Divide the missing runs of experiments into chunks, the most expensive first."""
    groups: defaultdict[tuple[Problem, range], dict[str, Method]] = defaultdict(dict)
    for job in jobs:
        for block in job.missing:
            groups[job.experiment.problem, block][job.stored.signature] = job.experiment.method
    if not groups:
        return []
    blocks = estimate_chunks([Chunk(problem, methods, block, block) for (problem, block), methods in groups.items()])
    n_workers = jobs[0].experiment.execution.at_once(sum(block.max_seconds for block in blocks))
    divided = [chunk for block in blocks for chunk in _divide(block, ceil(n_workers / len(blocks)))]
    return sorted(divided, key=lambda chunk: chunk.max_seconds, reverse=True)


def _divide(block: Chunk, max_chunks: int) -> list[Chunk]:
    number = max(1, int(min(max_chunks, block.max_seconds / CHUNK_SECONDS, len(block.runs))))
    edges = [len(block.runs) * i // number for i in range(number + 1)]
    seconds = block.seconds / number
    return [replace(block, runs=block.runs[start:stop], seconds=seconds) for start, stop in pairwise(edges)]
