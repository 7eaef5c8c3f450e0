"""Sweeps: all experiments are checked before the first starts, and what the store lacks is computed and stored."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from pomrl import store
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.execution import EngineUnavailableError, ExecutionError, Failure
from pomrl.running import cpu_time, dispatches
from pomrl.running.blocks import Block, MethodOfBlock, Unrepeatable, Value, is_foreign
from pomrl.running.dispatches import Worker
from pomrl.running.versions import versions
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
    """Divide what jobs lack into blocks: each experiment once, and the methods at one problem together.

    The first block of an experiment with a component that is not ours is marked to be computed twice.
    """
    methods: dict[tuple[Problem, range], dict[str, MethodOfBlock]] = defaultdict(dict)
    for job in jobs:
        experiment, signature = job.experiment, job.stored.signature
        # A worker may have another working directory, so that it needs the absolute folder.
        stored = StoredExperiment(job.stored.folder.resolve())
        method = MethodOfBlock(experiment.method, stored)
        is_new = is_foreign(experiment.problem, experiment.method) and not stored.blocks()
        for index, runs in enumerate(job.missing):
            methods[experiment.problem, runs][signature] = replace(method, twice=is_new and index == 0)
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
    blocks = divide(list(lacking.values()))
    tally = Tally(blocks=len(blocks))
    try:
        for block, values in _in_two_steps(list(lacking.values()), blocks):
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


def _in_two_steps(jobs: Sequence[Job], blocks: Sequence[Block]) -> Iterator[tuple[Block, list[Value]]]:
    """Compute the blocks that are computed twice before all others, and give up methods that are not repeatable.

    Methods without a table in the first step are computed twice again.
    """
    if not blocks:
        return
    execution, worker = jobs[0].experiment.execution, _worker(jobs)
    failed: dict[StoredExperiment, Failure] = {}
    for block, values in dispatches.compute(execution, worker, [block for block in blocks if block.is_computed_twice]):
        of_methods = zip(block.methods, values, strict=True)
        failed |= {each.stored: value for each, value in of_methods if each.twice and isinstance(value, Failure)}
        yield block, values
    unrepeatable = {stored for stored, failure in failed.items() if isinstance(failure, Unrepeatable)}
    rest: list[Block] = []
    given_up: dict[tuple[Problem, range], tuple[MethodOfBlock, ...]] = {}
    for block in (block for block in blocks if not block.is_computed_twice):
        lost = tuple(each for each in block.methods if each.stored in unrepeatable)
        kept = (replace(each, twice=each.stored in failed) for each in block.methods if each.stored not in unrepeatable)
        given_up[block.problem, block.runs] = lost
        rest.append(replace(block, methods=tuple(kept)))
    nothing_left = [(block, list[Value]()) for block in rest if not block.methods]
    computed = dispatches.compute(execution, worker, [block for block in rest if block.methods])
    for block, values in chain(nothing_left, computed):
        lost = given_up[block.problem, block.runs]
        yield replace(block, methods=block.methods + lost), values + [failed[each.stored] for each in lost]


def _worker(jobs: Sequence[Job]) -> Worker:
    execution = jobs[0].experiment.execution
    classes = {name for job in jobs for name in component_classes(scientific_settings(job.experiment))}
    components = tuple(sorted(classes))
    return Worker(
        versions(components, execution.engine),
        components,
        execution.runs_at_a_time,
        execution.engine,
        execution.shares_outputs,
    )


def seconds_of(experiment: Experiment, runs: int) -> float:
    """Estimate how long it takes in one process to compute so many runs of an experiment."""
    return cpu_time.seconds(experiment.problem, [experiment.method], runs)
