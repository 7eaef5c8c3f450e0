"""Find missing runs, estimate their time, and divide them into parts.

A part is computed by one process. Methods of the same problem share a part, and draw models, tasks and batches once. A
part is a block, or less if processes outnumber expensive blocks.
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
from pomrl.science.problem import Method, Problem, components
from pomrl.science.solvers.evaluation import ELIMINATED_STATES
from pomrl.science.validation import check_experiment
from pomrl.store import StoredExperiment, StoreError

MAX_CHECKED_OF_PROBLEM, MAX_CHECKED = 50, 2000
"""The largest numbers of runs checked in advance: per problem, and roughly in total."""

MAX_ROWS_OF_RUN = 100_000
"""The largest number of rows of a run, T times discount factors: half of what readers of a block accept."""

MAX_SECONDS = 3600.0
"""The largest estimated time without `yes=true`."""

PART_SECONDS = 1.0
"""The shortest time of a part worth another process."""

PER_TASK, PER_ENTRY_OF_TASK = 2e-5, 1.5e-7
"""The seconds to draw a task and learn from it: a constant, and per entry (S * S * A) of a model."""

PER_ENTRY_OF_TRIAL, PER_CUBE = 5e-8, 5e-9
"""The seconds to estimate a model from a trial, per entry, and to evaluate a large model, per S cubed."""

PER_SQUARE_OF_SMALL, PER_SQUARE, PER_CUBE_OF_PLAN = 1.4e-9, 5e-9, 1e-10
"""The seconds of a plan at one discount factor: small models, per S squared; large ones, per S squared and cubed."""


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

    @property
    def seconds(self) -> float:
        return estimate_seconds(self.experiment.problem, self.experiment.method, self.runs_missing)


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


def estimate_seconds(problem: Problem, method: Method, runs: int) -> float:
    """Estimate the seconds of one process for runs by a method.

    The constants were fitted within a factor of about 3 to one core with the compiled engine, for 6 to 300 states and 1
    to 100 discount factors and trials. Sparse models, such as Taxi, take about a fifth.
    """
    S, entries = problem.S, problem.S**2 * problem.A
    task_seconds = PER_TASK + PER_ENTRY_OF_TASK * entries * method.estimator.relative_time
    trial_seconds = PER_ENTRY_OF_TRIAL * entries + (PER_CUBE * S**3 if S > ELIMINATED_STATES else 0.0)
    plan_seconds = PER_SQUARE_OF_SMALL * S**2 if S <= ELIMINATED_STATES else PER_SQUARE * S**2 + PER_CUBE_OF_PLAN * S**3
    n_plans = method.gamma_schedule.computed_schedule().gammas_per_task * method.agent.plans_per_gamma
    return runs * problem.T * (task_seconds + problem.trials * (trial_seconds + n_plans * plan_seconds))


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
    """Seconds in one process, within a factor of about 3 for dense models and the compiled engine."""
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
    parts = divide(unfinished)
    seconds = sum((job.seconds for job in unfinished), 0.0)
    execution = jobs[0].experiment.execution if jobs else Local()
    max_workers = execution.at_once(inf)
    workers = max(1, min(execution.at_once(sum(part.seconds for part in parts)), len(parts)))
    return WorkEstimate(len(jobs), sum(job.runs_missing for job in unfinished), seconds, workers, max_workers)


def estimate_new(examples: Sequence[Experiment], count: int) -> WorkEstimate:
    """Estimate the work of `count` experiments like these, if none is stored."""
    times, execution = count / len(examples), examples[0].execution
    seconds = times * sum(
        estimate_seconds(example.problem, example.method, example.request.runs) for example in examples
    )
    runs = round(times * sum(example.request.runs for example in examples))
    return WorkEstimate(count, runs, seconds, min(execution.at_once(seconds), count), execution.at_once(inf))


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
class BlockPart:
    """Runs of one problem with their methods; it can be pickled."""

    problem: Problem
    methods: Mapping[str, Method]
    """The methods by signature."""
    block: range
    """The runs stored in one file."""
    runs: range
    """The runs of this part."""

    @cached_property
    def seconds(self) -> float:
        """The estimated seconds in one process; infinite for user-defined components."""
        if any(is_foreign(self.problem, method) for method in self.methods.values()):
            return inf
        return sum(estimate_seconds(self.problem, method, len(self.runs)) for method in self.methods.values())


def is_foreign(problem: Problem, method: Method) -> bool:
    """Return whether any component is defined outside the packages of pomrl."""
    return bool(foreign_components(problem, method))


def foreign_components(problem: Problem, method: Method) -> list[Any]:
    """List the components defined outside the packages of pomrl."""
    return [component for component in components(problem, method).values() if not is_ours(type(component).__module__)]


def divide(jobs: Sequence[PlannedExperiment]) -> list[BlockPart]:
    """Divide the missing runs of experiments into parts, the most expensive first."""
    groups: defaultdict[tuple[Problem, range], dict[str, Method]] = defaultdict(dict)
    for job in jobs:
        for block in job.missing:
            groups[job.experiment.problem, block][job.stored.signature] = job.experiment.method
    blocks = [BlockPart(problem, methods, block, block) for (problem, block), methods in groups.items()]
    if not blocks:
        return []
    n_workers = jobs[0].experiment.execution.at_once(sum(block.seconds for block in blocks))
    divided = [piece for block in blocks for piece in _divide(block, ceil(n_workers / len(blocks)))]
    return sorted(divided, key=lambda piece: piece.seconds, reverse=True)


def _divide(block: BlockPart, max_parts: int) -> list[BlockPart]:
    number = max(1, int(min(max_parts, block.seconds / PART_SECONDS, len(block.runs))))
    edges = [len(block.runs) * i // number for i in range(number + 1)]
    return [replace(block, runs=block.runs[start:stop]) for start, stop in pairwise(edges)]
