"""What a run or a sweep says at its end: a small table for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

from pomrl import store
from pomrl.blocks import Block
from pomrl.config import flat, settings
from pomrl.execution import Failure
from pomrl.statistics import minimising
from pomrl.store import StoreError
from pomrl.sweep import Job, blocks

MOST_ROWS = 100
"""Of a table that people still read."""


def plan(jobs: Sequence[Job]) -> Table:
    """What a dry run lists: for each job its signature, the runs that are stored and missing, and the work to do."""
    work = {job.run.signature: blocks([job]) for job in jobs}
    keys, values = _varying(jobs)
    table = plain_table("to compute", "signature", *keys, "stored", "missing", "plans", "seconds")
    for job, of_job in zip(jobs, values, strict=True):
        stored = job.experiment.asked.runs - job.runs_missing
        table.add_row(job.run.signature, *of_job, str(stored), str(job.runs_missing), *_cost(work[job.run.signature]))
    plans, seconds = _cost([block for of_job in work.values() for block in of_job])
    table.caption = f"{plans} plans in all, about {seconds} s in one process"
    return table


def _cost(work: Sequence[Block]) -> tuple[str, str]:
    return f"{sum(block.plans for block in work):,}", f"{sum(block.seconds for block in work):.1f}"


def results(jobs: Sequence[Job]) -> Table:
    """One row for each job: the runs asked for, those computed now, and the mean planning loss over runs."""
    losses = ("first task", "last task", "minimum", "gamma*")
    keys, values = _varying(jobs)
    table = plain_table("mean planning loss over runs", *keys, "runs", "new", *losses)
    for column in table.columns[: len(keys)]:
        column.no_wrap = True
    for job, of_job in zip(jobs, values, strict=True):
        asked = job.experiment.asked.runs
        new = job.runs_missing - max(0, asked - job.run.complete())
        table.add_row(*of_job, str(asked), str(new), *_losses(job))
    table.caption = "first and last task: at the largest gamma; minimum: in the last task, at gamma*"
    return table


def failed(jobs: Sequence[Job], failures: Mapping[str, Failure]) -> Table:
    """One row for each job that failed: its settings, why, and where the traceback is."""
    keys, values = _varying(jobs)
    table = plain_table("failed", *keys, "reason", "traceback")
    for job, of_job in zip(jobs, values, strict=True):
        if failure := failures.get(job.run.signature):
            table.add_row(*of_job, failure.reason, str(job.run.folder / "run.log"))
    return table


def plain_table(title: str, *columns: str) -> Table:
    """A table with little around it."""
    table = Table(title=title, title_justify="left", caption_justify="left", box=box.SIMPLE, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _losses(job: Job) -> list[str]:
    try:
        table = store.load(job.experiment, job.experiment.asked.runs)
    except StoreError:
        return ["", "", "", ""]
    shape = (job.experiment.asked.runs, job.experiment.problem.T, -1)
    loss = table["planning_loss"].to_numpy().reshape(shape).mean(0)
    first_and_last = [f"{loss[0, -1]:.3f}", f"{loss[-1, -1]:.3f}"]
    if loss.shape[1] == 1:  # a schedule chose the discount factor: there is none to compare it with
        return [*first_and_last, "", ""]
    gamma_star = minimising(table["gamma"].to_numpy()[: loss.shape[1]], loss[-1:])[0]
    return [*first_and_last, f"{loss[-1].min():.3f}", f"{gamma_star:g}"]


def _varying(jobs: Sequence[Job]) -> tuple[list[str], list[list[str]]]:
    """The keys in which jobs differ, and what each job has of them."""
    described = [flat(settings(job.experiment), job.experiment.options) for job in jobs]
    keys = varying(described)
    return keys, [[str(of_job.get(key, "")) for key in keys] for of_job in described]


def varying(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys in which settings differ; of options that differ not their parts."""
    keys = dict.fromkeys(key for each in settings for key in each)
    differ = [key for key in keys if len({repr(each.get(key)) for each in settings}) > 1]
    return [key for key in differ if "." not in key or key.partition(".")[0] not in differ]
