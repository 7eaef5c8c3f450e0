"""Sweeps: all experiments are checked before the first starts, and what the store lacks is computed and stored."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import inf

from pomrl import store
from pomrl.checks import Engine
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.execution import EngineUnavailableError, ExecutionError
from pomrl.running import blocks, cpu_time
from pomrl.running.blocks import Block, Failure, MethodOfBlock, Value, is_foreign, store_tables
from pomrl.running.versions import require, versions
from pomrl.science.problem import Problem, check
from pomrl.science.solvers import compiled
from pomrl.store import StoredExperiment

MOST_CHECKED = 10_000
"""The most runs of a problem whose mean model is drawn and checked before any run is computed."""


@dataclass(frozen=True)
class Job:
    """An experiment of a sweep, its place in the store, and the runs that it lacks there."""

    experiment: Experiment
    stored: StoredExperiment
    missing: list[range]
    """The missing runs, divided as they are stored."""
    faults: list[str]
    """A line for each stored block that is damaged, and therefore missing."""

    @property
    def runs_missing(self) -> int:
        return sum(map(len, self.missing))


def looked_up(experiments: Sequence[Experiment]) -> list[Job]:
    """Look up what each experiment lacks in the store."""
    jobs: list[Job] = []
    for experiment in experiments:
        stored, runs = store.lookup(experiment), experiment.request.runs
        if experiment.request.force:
            jobs.append(Job(experiment, stored, store.aligned(range(max(runs, stored.complete()))), []))
        else:
            jobs.append(Job(experiment, stored, *store.missing(stored, runs)))
    return jobs


def check_jobs(jobs: Sequence[Job]) -> None:
    """Check that what the jobs lack can be computed.

    Of each problem the first `MOST_CHECKED` missing runs are looked at. A later run that cannot have its sigma ends its
    method with a failure.

    Raises:
        ConfigError: If an experiment cannot be computed.
    """
    checked: dict[Problem, set[int]] = defaultdict(set)
    for job in jobs:
        problem = job.experiment.problem
        runs = set(islice(chain.from_iterable(job.missing), MOST_CHECKED)) - checked[problem]
        try:
            compiled.check(job.experiment.execution.engine)
            check(problem, job.experiment.method, sorted(runs))
        except ValueError as error:
            raise ConfigError(str(error)) from error
        checked[problem] |= runs


def divide(jobs: Sequence[Job]) -> list[Block]:
    """Divide what jobs lack into blocks: each experiment once, and the methods at one problem together."""
    methods: dict[tuple[Problem, range], dict[str, MethodOfBlock]] = defaultdict(dict)
    for job in jobs:
        experiment, signature = job.experiment, job.stored.signature
        # A worker may have another working directory, so that it needs the absolute folder.
        stored = StoredExperiment(job.stored.folder.resolve())
        for runs in job.missing:
            method = MethodOfBlock(experiment.method, stored)
            methods[experiment.problem, runs][signature] = method
    return [Block(problem, runs, tuple(of_block.values())) for (problem, runs), of_block in methods.items()]


@dataclass(frozen=True)
class Tally:
    """How far the computation of a sweep is.

    Attributes:
        runs: The number of runs that are computed or have failed.
        done: The number of blocks of which all methods succeeded.
        failed: The number of blocks of which at least one method failed.
        blocks: The number of blocks in all.
    """

    runs: int = 0
    done: int = 0
    failed: int = 0
    blocks: int = 0

    def after(self, block: Block, values: Sequence[Value]) -> "Tally":
        """Return the tally after a further block."""
        failed = any(isinstance(value, Failure) for value in values)
        runs = self.runs + len(block.runs) * len(values)
        return replace(self, runs=runs, done=self.done + (not failed), failed=self.failed + failed)

    def describe(self, seconds: float) -> str:
        """Describe how many blocks are done, have failed and are in flight, and their rate over so many seconds."""
        over = self.done + self.failed
        rate = f"{over / seconds:.1f}/s" if seconds > 0 else ""
        return f"blocks: {self.done} done, {self.failed} failed, {self.blocks - over} in flight, {rate}"


def compute(jobs: Sequence[Job], advance: Callable[[Tally], None]) -> dict[str, Failure]:
    """Compute and store the runs that jobs lack.

    A method that fails does not end the others: its traceback is in its run.log and its manifest says so.

    Args:
        jobs: The jobs. All of them are computed with the execution of the first.
        advance: Called after each block with the progress of the sweep.

    Returns:
        The failures, by the signature of their experiment.

    Raises:
        ExecutionError: If the work cannot go on.
    """
    lacking = unfinished(jobs)
    start = time.monotonic()
    for job in lacking.values():
        with compiled.using(job.experiment.execution.engine):  # which the provenance names
            store.open_experiment(job.experiment, force=job.experiment.request.force)
    failures: dict[str, Failure] = {}
    parts = divide(list(lacking.values()))
    tally = Tally(blocks=len(parts))
    try:
        for block, values in _computed(jobs, parts):
            for method, value in zip(block.methods, values, strict=True):
                if isinstance(value, Failure):
                    failures[method.stored.signature] = value
                    store.log(method.stored, value.traceback)
            tally = tally.after(block, values)
            advance(tally)
    except EngineUnavailableError as error:
        if tally.runs:  # an interruption of the work, and no wrong setting
            raise ExecutionError(str(error)) from error
        raise
    for signature, job in lacking.items():
        if signature not in failures and (failure := _not_stored(job)):
            failures[signature] = failure
        store.close_experiment(job.stored, time.monotonic() - start)
    _label(jobs)
    return failures


def _label(jobs: Sequence[Job]) -> None:
    """Attach tags and notes, also to what was stored already; the user's own components get the names of today."""
    for job in jobs:
        experiment = job.experiment
        labels = (experiment.request.tag, experiment.request.note)
        if labels != (None, None) or is_foreign(experiment.problem, experiment.method):
            store.label(experiment)


def unfinished(jobs: Sequence[Job]) -> dict[str, Job]:
    """Return the jobs that have runs to compute or a manifest to complete, by signature.

    Of several jobs with the same signature, the one that requests the most runs is returned.
    """
    by_runs = sorted(jobs, key=lambda job: job.experiment.request.runs)
    return {job.stored.signature: job for job in by_runs if job.missing or not job.stored.manifest()}


def _not_stored(job: Job) -> Failure | None:
    """Return a failure if runs are missing here although the workers have reported that they stored them."""
    requested, here = job.experiment.request.runs, job.stored.complete()
    if here >= requested:
        return None
    reason = f"{here} of {requested} runs are stored here: the workers that stored the others do not see this folder"
    return Failure(reason, reason)


@dataclass(frozen=True)
class Work:
    """The function that an engine applies to blocks: it computes a block and, where it can, stores the tables."""

    versions: Mapping[str, str]
    """The versions of packages and code that the worker has to have."""
    components: tuple[str, ...]
    runs_at_a_time: int | None
    engine: Engine
    stores: bool
    """Whether workers see the folder of outputs."""

    def __call__(self, block: Block) -> list[Value]:
        """Return what became of each method of a block.

        Raises:
            ExecutionError: The versions of packages or code differ from those of the calling process.
        """
        require(self.versions, self.components, self.engine)
        values = blocks.compute(block, self.runs_at_a_time, self.engine)
        return store_tables(block, values) if self.stores else values


def _computed(jobs: Sequence[Job], parts: Sequence[Block]) -> Iterator[tuple[Block, list[Value]]]:
    """Compute and store blocks, and yield each with the outcomes of its methods as soon as they are there.

    Components of somebody's own may end their process, and nothing is known of the time that they take.

    Raises:
        ExecutionError: If the work cannot go on.
    """
    if not parts:
        return
    execution = jobs[0].experiment.execution
    classes = {name for job in jobs for name in component_classes(scientific_settings(job.experiment))}
    names, engine, stores = tuple(sorted(classes)), execution.engine, execution.shares_outputs
    work = Work(versions(names, engine), names, execution.runs_at_a_time, engine, stores)
    is_unknown = any(is_foreign(job.experiment.problem, job.experiment.method) for job in jobs)
    seconds = inf if is_unknown else sum(block.seconds for block in parts)
    for index, values in execution.map_unordered(work, parts, seconds):
        yield parts[index], values if stores else store_tables(parts[index], values)


def seconds_of(experiment: Experiment, runs: int) -> float:
    """Estimate how long it takes in one process to compute so many runs of an experiment."""
    return cpu_time.seconds(experiment.problem, [experiment.method], runs)
