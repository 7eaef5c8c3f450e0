"""A sweep: all its experiments checked before the first starts, what is missing computed, and everything stored."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pomrl import store
from pomrl.config import ConfigError, Experiment
from pomrl.execution import Block, Failure
from pomrl.experiment import Problem, check


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


def compute(found: Sequence[Job], advance: Callable[[int, str], None]) -> dict[str, Failure]:
    """Compute and store what the jobs lack; the failures by signature. `advance` is told the runs done, and where.

    A method that fails does not end the others: its traceback is in its run.log and its manifest says so.
    """
    largest = sorted(
        found, key=lambda job: job.experiment.asked.runs
    )  # of jobs that ask for the same, the one for more
    pending = {job.run.signature: job for job in largest if job.parts or not job.run.is_closed()}
    start = time.monotonic()
    for job in pending.values():
        store.open_run(job.experiment, job.experiment.asked.force)
    failures: dict[str, Failure] = {}
    if not pending:
        return failures
    execution = found[0].experiment.execution
    for block, results in execution.map_unordered(blocks(list(pending.values()))):
        for key, result in zip(block.keys, results, strict=True):
            run = pending[key].run
            if isinstance(result, Failure):
                failures[key] = result
                store.log(run, result.traceback)
            else:
                store.add(run, block.runs, result, replace=pending[key].experiment.asked.force)
                store.log(run, f"stored runs {block.runs.start} to {block.runs.stop - 1}")
        advance(
            len(block.runs) * len(block.keys), f"runs {block.runs.start}-{block.runs.stop - 1} of {len(block.keys)}"
        )
    for key, job in pending.items():
        store.close_run(job.run, "failed" if key in failures else "complete", time.monotonic() - start)
    return failures
