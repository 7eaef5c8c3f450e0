"""Rough estimates of the time that a request takes, within a factor of about three, and the refusal of long ones."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.wording import number_of
from pomrl.running import cpu_time
from pomrl.running.sweeps import Job

LONG = 3600.0
"""Seconds from which on a request is computed only with `yes=true`."""


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
        )

    def __str__(self) -> str:
        work = f"{number_of(self.runs, 'run')} to compute, {number_of(self.plans, 'plan')} in all"
        return (
            f"{number_of(self.jobs, 'job')}, {work}; about {duration(self.wall_seconds)} on "
            f"{number_of(self.workers, 'worker')}"
        )


def estimate(jobs: Sequence[Job]) -> Estimate:
    """Return what jobs take with the execution of the first; work that several jobs share is counted once."""
    by_runs = sorted(jobs, key=lambda job: job.experiment.request.runs)
    lacking = {job.stored.signature: job for job in by_runs if job.missing}.values()
    most = getattr(jobs[0].experiment.execution, "workers", None) or os.cpu_count() or 1
    return Estimate(
        jobs=len(jobs),
        runs=sum(job.runs_missing for job in lacking),
        plans=sum(map(plans, lacking)),
        seconds=float(sum(map(seconds, lacking))),
        workers=max(1, min(most, sum(len(job.missing) for job in lacking))),
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
