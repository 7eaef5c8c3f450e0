"""Sweeps: all experiments are checked before the first starts, and what the store lacks is computed and stored."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pomrl import store
from pomrl.components import Engine
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.execution import Failure
from pomrl.experiment import Problem, check
from pomrl.running.blocks import Block, MethodOfBlock, MethodResult, store_tables
from pomrl.running.blocks import compute as compute_block
from pomrl.running.versions import require, versions
from pomrl.solvers import compiled
from pomrl.store import StoredExperiment


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


def checked_jobs(experiments: Sequence[Experiment]) -> list[Job]:
    """Look up what each experiment lacks, and check that it can be computed. Nothing is computed or written.

    Raises:
        ConfigError: If an experiment cannot be computed.
    """
    jobs = [_job(experiment) for experiment in experiments]
    checked: dict[Problem, set[int]] = defaultdict(set)
    for job in jobs:
        problem = job.experiment.problem
        runs = {run for part in job.missing for run in part} - checked[problem]
        try:
            compiled.check(job.experiment.execution.engine)
            check(problem, job.experiment.method, sorted(runs))
        except ValueError as error:
            raise ConfigError(str(error)) from error
        checked[problem] |= runs
    return jobs


def _job(experiment: Experiment) -> Job:
    stored = store.lookup(experiment)
    if experiment.request.force:
        runs = max(experiment.request.runs, stored.complete())
        return Job(experiment, stored, store.aligned(range(runs)), [])
    return Job(experiment, stored, *store.missing(stored, experiment.request.runs))


def divide(jobs: Sequence[Job]) -> list[Block]:
    """Divide what jobs lack into blocks: each experiment once, and the methods at one problem together."""
    methods: dict[tuple[Problem, range], dict[str, MethodOfBlock]] = defaultdict(dict)
    for job in jobs:
        experiment, signature = job.experiment, job.stored.signature
        # A worker may have another working directory, so that it needs the absolute folder.
        stored = StoredExperiment(job.stored.folder.resolve())
        method = MethodOfBlock(experiment.method, stored, experiment.request.force)
        for runs in job.missing:
            methods[experiment.problem, runs][signature] = method
    return [Block(problem, runs, tuple(of_block.values())) for (problem, runs), of_block in methods.items()]


@dataclass(frozen=True)
class Worker:
    """The function that an engine applies to blocks: it computes a block and, where it can, stores the tables."""

    versions: Mapping[str, str]
    """The versions of packages and code that the worker has to have."""
    components: tuple[str, ...]
    runs_at_a_time: int | None
    engine: Engine
    stores: bool
    """Whether workers see the folder of outputs."""

    def __call__(self, block: Block) -> list[MethodResult]:
        """Return the results of a block.

        Raises:
            ExecutionError: The versions of packages or code differ from those of the calling process.
        """
        require(self.versions, self.components)
        results = compute_block(block, self.runs_at_a_time, self.engine)
        return store_tables(results, block.runs) if self.stores else results


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

    def after(self, block: Block, results: Sequence[MethodResult]) -> "Tally":
        """Return the tally after a further block."""
        failed = any(isinstance(result.value, Failure) for result in results)
        runs = self.runs + len(block.runs) * len(block.methods)
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
    for results, tally in _results(list(lacking.values())):
        for result in results:
            if isinstance(result.value, Failure):
                failures[result.method.stored.signature] = result.value
                store.log(result.method.stored, result.value.traceback)
        advance(tally)
    for signature, job in lacking.items():
        if signature not in failures and (failure := _not_stored(job)):
            failures[signature] = failure
        status = "failed" if signature in failures else "complete"
        store.close_experiment(job.stored, status, time.monotonic() - start)
    return failures


def unfinished(jobs: Sequence[Job]) -> dict[str, Job]:
    """Return the jobs that have runs to compute or a manifest to complete, by signature.

    Of several jobs with the same signature, the one that requests the most runs is returned.
    """
    by_runs = sorted(jobs, key=lambda job: job.experiment.request.runs)
    return {job.stored.signature: job for job in by_runs if job.missing or not job.stored.is_closed()}


def _not_stored(job: Job) -> Failure | None:
    """Return a failure if runs are missing here although the workers have reported that they stored them."""
    requested, here = job.experiment.request.runs, job.stored.complete()
    if here >= requested:
        return None
    reason = f"{here} of {requested} runs are stored here: the workers that stored the others do not see this folder"
    return Failure(reason, reason)


def _results(jobs: Sequence[Job]) -> Iterator[tuple[list[MethodResult], Tally]]:
    """Compute what jobs lack; yield the results of each block, their tables stored, and the progress."""
    if not jobs:
        return
    execution = jobs[0].experiment.execution
    blocks = divide(jobs)
    tally = Tally(blocks=len(blocks))
    seconds = sum(block.seconds for block in blocks)
    for index, outcome in execution.map_unordered(_worker(jobs), blocks, seconds):
        block = blocks[index]
        results = [MethodResult(each, outcome) for each in block.methods] if isinstance(outcome, Failure) else outcome
        stored = results if execution.shares_outputs else store_tables(results, block.runs)
        tally = tally.after(block, stored)
        yield stored, tally


def _worker(jobs: Sequence[Job]) -> Worker:
    execution = jobs[0].experiment.execution
    classes = {name for job in jobs for name in component_classes(scientific_settings(job.experiment))}
    components = tuple(sorted(classes))
    return Worker(
        versions(components), components, execution.runs_at_a_time, execution.engine, execution.shares_outputs
    )
