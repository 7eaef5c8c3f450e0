"""What a run or a sweep says at its end: a small table for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from pomrl.config import settings
from pomrl.execution import Failure
from pomrl.store import StoreError
from pomrl.sweep import Job, blocks


def plan(jobs: Sequence[Job]) -> Table:
    """What a dry run lists: for each job its signature, the runs that are stored and those that are missing."""
    work = blocks(jobs)
    seconds = sum(block.seconds for block in work)
    plans = sum(block.plans for block in work)
    table = Table(title=f"{plans:,} plans to compute, about {seconds:.0f} s in one process")
    for column in ("signature", *_varying(jobs), "stored", "missing"):
        table.add_column(column)
    for job in jobs:
        wanted = job.experiment.asked.runs
        table.add_row(job.run.signature, *_values(job, jobs), str(wanted - job.runs_missing), str(job.runs_missing))
    return table


def results(jobs: Sequence[Job], failures: Mapping[str, Failure]) -> Table:
    """One row for each job: what was done, and its losses."""
    table = Table(title="mean planning loss over runs; loss at the largest gamma, and at the best (gamma*)")
    for column in (*_varying(jobs), "runs", "computed", "task 1", "task T", "min, task T", "gamma*, task T"):
        table.add_column(column)
    for job in jobs:
        failure = failures.get(job.run.signature)
        outcome = [f"failed: {failure.reason} (see {job.run.folder / 'run.log'})"] if failure else _losses(job)
        computed = str(job.runs_missing) if job.parts else "none, all stored"
        table.add_row(*_values(job, jobs), str(job.experiment.asked.runs), computed, *outcome)
    return table


def _losses(job: Job) -> list[str]:
    try:
        table = job.run.table(job.experiment.asked.runs)
    except StoreError as error:
        return [str(error)]
    shape = (job.experiment.asked.runs, job.experiment.problem.T, -1)
    loss = table["planning_loss"].to_numpy().reshape(shape).mean(0)
    first_and_last = [f"{loss[0, -1]:.3f}", f"{loss[-1, -1]:.3f}"]
    if loss.shape[1] == 1:  # a schedule chose the discount factor: there is none to compare it with
        return [*first_and_last, "", ""]
    best = loss[-1].argmin()
    return [*first_and_last, f"{loss[-1, best]:.3f}", f"{table['gamma'].to_numpy()[best]:g}"]


def _varying(jobs: Sequence[Job]) -> list[str]:
    """The settings in which the jobs differ."""
    described = [_flat(job) for job in jobs]
    keys = list(dict.fromkeys(key for flat in described for key in flat))
    differ = [key for key in keys if len({repr(flat.get(key)) for flat in described}) > 1]
    options = {key for key in differ if "." not in key}
    return [key for key in differ if key.split(".")[0] not in options or "." not in key]


def _values(job: Job, jobs: Sequence[Job]) -> list[str]:
    flat = _flat(job)
    return [str(flat.get(key, "")) for key in _varying(jobs)]


def _flat(job: Job) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in settings(job.experiment).items():
        if not isinstance(value, dict):
            flat[key] = value
            continue
        flat[key] = job.experiment.options.get(key, value["_target_"])
        flat |= {f"{key}.{name}": part for name, part in value.items() if name != "_target_"}
    return flat
