"""A sweep: all its experiments checked before the first starts, what is missing computed, and everything stored."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from pomrl import config, store
from pomrl.blocks import Block
from pomrl.blocks import compute as compute_block
from pomrl.config import ConfigError, Experiment
from pomrl.execution import Failure
from pomrl.execution.versions import require, versions
from pomrl.experiment import Problem, check
from pomrl.progress import Tally


@dataclass(frozen=True)
class Job:
    """An experiment of a sweep, its place in the store, and the runs it lacks."""

    experiment: Experiment
    run: store.Run
    parts: list[range]
    faults: list[str]
    """A line for each stored block that is damaged."""

    @property
    def runs_missing(self) -> int:
        return sum(map(len, self.parts))


def jobs(experiments: Sequence[Experiment]) -> list[Job]:
    """What each experiment lacks. ConfigError where one of them would fail; nothing is computed or written."""
    found = [_job(experiment) for experiment in experiments]
    drawn: dict[Problem, set[int]] = defaultdict(set)
    for job in found:
        problem = job.experiment.problem
        runs = {run for part in job.parts for run in part} - drawn[problem]
        try:
            check(problem, job.experiment.method, sorted(runs))
        except ValueError as error:
            raise ConfigError(str(error)) from error
        drawn[problem] |= runs
    return found


def _job(experiment: Experiment) -> Job:
    run = store.run_of(experiment)
    if experiment.asked.force:
        runs = max(experiment.asked.runs, run.complete())
        return Job(experiment, run, store.aligned(range(runs)), [])
    return Job(experiment, run, *store.missing(run, experiment.asked.runs))


def blocks(found: Sequence[Job]) -> list[Block]:
    """The work of a sweep: what is missing, each experiment once, and methods at one problem together."""
    together = defaultdict(dict)
    for job in found:
        for part in job.parts:
            together[_problem_key(job), part][job.run.signature] = job.experiment
    return [
        Block(next(iter(same.values())).problem, [e.method for e in same.values()], part, list(same))
        for (_, part), same in together.items()
    ]


def _problem_key(job: Job) -> str:
    return repr(job.experiment.problem)


@dataclass(frozen=True)
class Work:
    """A block, with the runs that its tables belong to. It may travel to another machine."""

    block: Block
    runs: Sequence[store.Run]
    replace: Sequence[bool]


Results = Sequence[pd.DataFrame | Failure | None]
"""For each method of a block its table, None where that is stored already, or why there is none."""


@dataclass(frozen=True)
class Worker:
    """What is done with a block, wherever that is. ExecutionError where the versions there are not those here."""

    versions: Mapping[str, str]
    components: tuple[str, ...]
    runs_at_a_time: int | None
    stores: bool

    def __call__(self, work: Work) -> Results:
        require(self.versions, self.components)
        results = compute_block(work.block, self.runs_at_a_time)
        return keep(work, results) if self.stores else results


def keep(work: Work, results: Results) -> Results:
    """Store the tables of a block."""
    return [_kept(work, *each) for each in zip(work.runs, work.replace, results, strict=True)]


def _kept(work: Work, run: store.Run, replace: bool, result: pd.DataFrame | Failure | None) -> Failure | None:
    if isinstance(result, pd.DataFrame):
        runs = work.block.runs
        store.add(run, runs, result, replace=replace)
        store.log(run, f"stored runs {runs.start} to {runs.stop - 1}")
        return None
    return result


def compute(found: Sequence[Job], advance: Callable[[Tally], None]) -> dict[str, Failure]:
    """Compute and store what the jobs lack; the failures by signature. `advance` is told how far it is.

    A method that fails does not end the others: its traceback is in its run.log and its manifest says so.
    """
    by_runs = sorted(found, key=lambda job: job.experiment.asked.runs)  # of jobs that ask for the same, that for more
    pending = {job.run.signature: job for job in by_runs if job.parts or not job.run.is_closed()}
    start = time.monotonic()
    for job in pending.values():
        store.open_run(job.experiment, job.experiment.asked.force)
    failures: dict[str, Failure] = {}
    for work, results, tally in _results(list(pending.values())):
        for key, run, result in zip(work.block.keys, work.runs, results, strict=True):
            if isinstance(result, Failure):
                failures[key] = result
                store.log(run, result.traceback)
        advance(tally)
    for key, job in pending.items():
        if key not in failures and (lost := _lost(job)):
            failures[key] = lost
        store.close_run(job.run, "failed" if key in failures else "complete", time.monotonic() - start)
    return failures


def _lost(job: Job) -> Failure | None:
    """Workers say that they have stored all; what is wrong where it is not here."""
    asked, stored = job.experiment.asked.runs, job.run.complete()
    if stored >= asked:
        return None
    reason = f"{stored} of {asked} runs are stored here: the workers that stored the others do not see this folder"
    return Failure(reason, reason)


def _results(pending: Sequence[Job]) -> Iterator[tuple[Work, Results, Tally]]:
    """What comes of each block, stored where there is a table, and how far it all is."""
    if not pending:
        return
    execution = pending[0].experiment.execution
    todo = [_work(block, {job.run.signature: job for job in pending}) for block in blocks(pending)]
    used = {name for job in pending for name in config.components(config.settings(job.experiment))}
    components = tuple(sorted(used))
    worker = Worker(versions(components), components, execution.runs_at_a_time, execution.shares_outputs)
    tally = Tally(runs=0, blocks=len(todo))
    for index, outcome in execution.map_unordered(worker, todo, sum(work.block.seconds for work in todo)):
        work = todo[index]
        results = [outcome] * len(work.runs) if isinstance(outcome, Failure) else outcome
        kept = results if execution.shares_outputs else keep(work, results)
        failed = any(isinstance(result, Failure) for result in kept)
        runs = tally.runs + len(work.block.runs) * len(work.runs)
        tally = replace(tally, runs=runs, done=tally.done + (not failed), failed=tally.failed + failed)
        yield work, kept, tally


def _work(block: Block, jobs: Mapping[str, Job]) -> Work:
    """With the runs by their absolute folders: a worker may be in another."""
    runs = [store.Run(jobs[key].run.folder.resolve()) for key in block.keys]
    return Work(block, runs, [jobs[key].experiment.asked.force for key in block.keys])
