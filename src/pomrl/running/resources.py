"""Rough estimates of the time, memory and disk that a request takes, and the requests that are refused for them.

Estimates of time and disk are within a factor of about three, and those of memory are rather too high.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pomrl import store
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.wording import number_of
from pomrl.execution import Execution, Local
from pomrl.running import cpu_time
from pomrl.running.blocks import models_held, runs_together
from pomrl.running.sweeps import Job
from pomrl.science.drawn_tasks import tasks_at_a_time
from pomrl.science.loss_tables import SCHEMA
from pomrl.science.problem import Method, Problem

LONG = 3600.0
"""Seconds from which on a request is computed only with `yes=true`."""

COPIES_OF_STACK, COPIES_OF_TASK, COPIES_OF_POLICIES, COPIES_OF_TABLE = 15, 12, 10, 10
"""How often a worker holds the arrays that it needs: the models and batches of a stack of tasks, those of one task with
what is learned from it, the policies of a stack, and the tables of a block. Estimators say what they hold besides."""

PROCESS_BYTES = 200 * 2**20
"""Memory of a worker that computes nothing."""

DISK_BYTES_PER_TASK, DISK_BYTES_PER_PLAN, DISK_BYTES_PER_BLOCK = 32, 4, 4096
"""Size of a stored block: for each task of a run, for each discount factor of a task, and for the file itself."""


@dataclass(frozen=True)
class Estimate:
    """What a request takes."""

    jobs: int
    runs: int
    """Runs to compute, those of every job added."""
    plans: int
    """Pairs of a model and a discount factor to plan."""
    seconds: float
    """Time in one process."""
    workers: int
    """Processes that compute it."""
    memory: int
    """Peak memory of a worker, in bytes."""
    least_memory: int
    """Peak memory of a worker that computes one run at a time, in bytes."""
    disk: int
    """Bytes to store."""

    @property
    def wall_seconds(self) -> float:
        """Time on all workers."""
        return self.seconds / self.workers

    def times(self, jobs: int) -> "Estimate":
        """Return the estimate for so many jobs like the one that was estimated."""
        return replace(
            self,
            jobs=jobs,
            runs=self.runs * jobs,
            plans=self.plans * jobs,
            seconds=self.seconds * jobs,
            disk=self.disk * jobs,
        )

    def __str__(self) -> str:
        work = f"{number_of(self.runs, 'run')} to compute, {number_of(self.plans, 'plan')} in all"
        return (
            f"{number_of(self.jobs, 'job')}, {work}; about {duration(self.wall_seconds)} on "
            f"{number_of(self.workers, 'worker')}, {size(self.memory)} of memory for each, {size(self.disk)} on disk"
        )


def estimate(jobs: Sequence[Job]) -> Estimate:
    """Return what jobs take with the execution of the first; work that several jobs share is counted once."""
    execution = jobs[0].experiment.execution
    by_runs = sorted(jobs, key=lambda job: job.experiment.request.runs)
    lacking = {job.stored.signature: job for job in by_runs if job.missing}.values()
    together: dict[Problem, list[Method]] = defaultdict(list)
    for job in lacking:
        together[job.experiment.problem].append(job.experiment.method)
    in_blocks = [_memory(job, together[job.experiment.problem], execution.runs_at_a_time) for job in lacking]
    alone = [_memory(job, [job.experiment.method], 1) for job in lacking]
    return Estimate(
        jobs=len(jobs),
        runs=sum(job.runs_missing for job in lacking),
        plans=sum(map(plans, lacking)),
        seconds=float(sum(map(seconds, lacking))),
        workers=_workers(execution, max((len(job.missing) for job in lacking), default=1)),
        memory=max(in_blocks, default=PROCESS_BYTES),
        least_memory=max(alone, default=PROCESS_BYTES),
        disk=sum(map(_disk, lacking)),
    )


def refuse_what_does_not_fit(wanted: Estimate, execution: Execution) -> None:
    """Raise a ConfigError if the memory or the disk of this machine does not suffice, even for one run at a time."""
    memory, disk = available_memory(), available_disk()
    if isinstance(execution, Local) and wanted.least_memory > memory:
        raise ConfigError(
            f"one run needs about {size(wanted.least_memory)} of memory, and {size(memory)} are available; S, A, T or "
            "the number of discount factors has to be smaller"
        )
    if wanted.disk > disk:
        raise ConfigError(
            f"the results need about {size(wanted.disk)}, and {size(disk)} are free for {store.root()}; free some, or "
            "let POMRL_OUTPUTS name a folder on another disk"
        )


def refuse_what_takes_long(wanted: Estimate) -> None:
    """Raise a ConfigError if the work takes longer than `LONG`."""
    if wanted.wall_seconds > LONG:
        raise ConfigError(f"{wanted}; what takes more than an hour is computed with yes=true")


def plans(job: Job) -> int:
    """Return the number of pairs of a model and a discount factor that a job still has to plan."""
    return cpu_time.plans(job.experiment.problem, [job.experiment.method], job.runs_missing)


def seconds(job: Job) -> float:
    """Return the time that one process needs for what a job lacks."""
    return cpu_time.seconds(job.experiment.problem, [job.experiment.method], job.runs_missing)


def _memory(job: Job, methods: Sequence[Method], runs_at_a_time: int | None) -> int:
    """Return the peak memory of a worker that computes a block of a job by these methods."""
    problem, in_block = job.experiment.problem, max(map(len, job.missing))
    runs = runs_together(problem, methods, in_block, runs_at_a_time)
    tasks = tasks_at_a_time(problem, runs)
    models = (COPIES_OF_STACK * tasks + COPIES_OF_TASK) * problem.copies + models_held(problem, methods)
    gammas = job.experiment.method.gamma_schedule.computed().gammas_per_task
    policies = tasks * runs * problem.trials * gammas * problem.S * np.dtype(float).itemsize
    rows = len(methods) * in_block * problem.T * gammas
    of_row = sum(np.dtype(dtype).itemsize for dtype in SCHEMA.values())
    return (
        PROCESS_BYTES
        + runs * models * problem.bytes_of_model
        + COPIES_OF_POLICIES * policies
        + COPIES_OF_TABLE * rows * of_row
    )


def _disk(job: Job) -> int:
    of_task = (
        DISK_BYTES_PER_TASK + DISK_BYTES_PER_PLAN * job.experiment.method.gamma_schedule.computed().gammas_per_task
    )
    return job.runs_missing * job.experiment.problem.T * of_task + len(job.missing) * DISK_BYTES_PER_BLOCK


def _workers(execution: Execution, blocks: int) -> int:
    """Return how many processes compute: those that the execution names, or the cores of this machine."""
    named = getattr(execution, "workers", None) or getattr(execution, "array_size", None)
    return max(1, min(blocks, named or os.cpu_count() or 1))


def available_memory() -> int:
    """Return the bytes of memory that processes of this machine can still get."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):  # another operating system than Linux
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def available_disk() -> int:
    """Return the bytes that are free where experiments are stored."""
    folder = store.root().absolute()
    return shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free


def duration(seconds: float) -> str:
    """Return a time for people to read."""
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.1f} seconds"


def size(number: int) -> str:
    """Return a number of bytes for people to read."""
    for unit, of_unit in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= of_unit:
            return f"{number / of_unit:,.1f} {unit}"
    return f"{number / 1e3:,.0f} kB"
