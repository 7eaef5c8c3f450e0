"""Tables for the terminal: the work that a sweep has to do, its results, its failures, and any frame."""

from collections.abc import Mapping, Sequence

import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from pomrl.commands.terminal import console, printable
from pomrl.configuration.settings import asked_settings, flat_settings, varying_keys
from pomrl.results.losses import Losses
from pomrl.running.plan import Job
from pomrl.running.work import Failure
from pomrl.store import StoreError

MOST_ROWS = 100
"""The most rows of a table that is printed; with more, people no longer read it."""


WIDTH = 80
"""The characters of a line that tables are made for: what does not fit them would break numbers and headings."""

_PADDING = len("   ")


def plan(jobs: Sequence[Job]) -> Table:
    """Return the table of a dry run: each job's signature, the runs that are stored and missing, and the work to do."""
    columns = ["signature", "stored", "missing", "plans", "seconds"]
    numbers = [
        [
            job.stored.signature,
            str(job.experiment.request.runs - job.runs_missing),
            str(job.runs_missing),
            f"{job.plans:,}",
            f"{job.seconds:.1f}",
        ]
        for job in jobs
    ]
    return _of_jobs("to compute", jobs, columns, numbers)


def results(jobs: Sequence[Job]) -> Table:
    """Return a table with a row for each job: the runs requested, those computed now, and the mean planning losses."""
    or_metric = ", or metric," if any(job.experiment.method.is_measured for job in jobs) else ""
    columns = ["runs", "new", "first", "last", "minimum", "gamma*"]
    numbers = [[str(job.experiment.request.runs), str(_new(job)), *_losses(job)] for job in jobs]
    table = _of_jobs(f"mean planning loss{or_metric} over runs", jobs, columns, numbers)
    table.caption = "first and last task: at the largest gamma; minimum: in the last task, at gamma*"
    return table


def _new(job: Job) -> int:
    return job.runs_missing - max(0, job.experiment.request.runs - job.stored.complete())


def _of_jobs(title: str, jobs: Sequence[Job], columns: Sequence[str], numbers: Sequence[Sequence[str]]) -> Table:
    """Return a table with the settings in which jobs differ and these numbers, of which none is broken."""
    room = WIDTH - sum(max(map(len, column)) + _PADDING for column in zip(columns, *numbers, strict=True))
    keys, rows = _settings(jobs, room)
    table = plain_table(title, *keys, *columns)
    for column in table.columns[int(keys == SENTENCES) :]:
        column.no_wrap = True
    for values, of_job in zip(rows, numbers, strict=True):
        add_row(table, *values, *of_job)
    return table


def failed(jobs: Sequence[Job], failures: Mapping[str, Failure]) -> Table:
    """Return a table with a row for each job that failed: its settings, the reason, and where the traceback is."""
    keys, rows = _settings(jobs, WIDTH // 2)
    table = plain_table("failed", *keys, "reason", "traceback")
    for job, values in zip(jobs, rows, strict=True):
        if failure := failures.get(job.stored.signature):
            add_row(table, *values, failure.reason, job.stored.folder / "run.log")
    return table


def plain_table(title: str, *columns: str) -> Table:
    """Return an empty table without frames."""
    heading = Text(printable(title), style="table.title")
    table = Table(title=heading, title_justify="left", caption_justify="left", box=box.SIMPLE, pad_edge=False)
    for column in columns:
        table.add_column(Text(printable(column)), overflow="fold")
    return table


def add_row(table: Table, *cells: object) -> None:
    """Add a row of values that are shown as plain text: none of their characters is markup or controls a terminal."""
    table.add_row(*(Text(printable(str(cell))) for cell in cells))


def print_table(title: str, frame: "pd.DataFrame") -> None:
    """Print a frame as a table, numbers with two decimals."""
    shown = plain_table(title, *frame.columns)
    for row in frame.itertuples(index=False):
        add_row(shown, *(f"{value:.2f}" if isinstance(value, float) else value for value in row))
    console().print(shown)


def _losses(job: Job) -> list[str]:
    """Return the mean planning losses of the first and the last task, the smallest of the last, and gamma*, as text."""
    try:
        losses = Losses.of_experiment(job.experiment, job.experiment.request.runs)
    except StoreError:
        return ["", "", "", ""]
    mean = losses.loss.mean(0)
    first_and_last = [f"{mean[0, -1]:.3f}", f"{mean[-1, -1]:.3f}"]
    # A schedule chose the only discount factor, or a metric does not say whether less of it is better.
    if len(losses.gammas) == 1 or job.experiment.method.is_measured:
        return [*first_and_last, "", ""]
    return [*first_and_last, f"{mean[-1].min():.3f}", f"{losses.best(mean[-1:])[0]:g}"]


SENTENCES = ["settings"]
"""The heading of settings that are too wide for columns of their own."""


def _settings(jobs: Sequence[Job], room: int) -> tuple[list[str], list[list[str]]]:
    """Return the keys in which jobs differ, and each job's values of them.

    Where they are wider than the room for them, they are the sentences of a single column.
    """
    described = [flat_settings(asked_settings(job.experiment), job.experiment.options) for job in jobs]
    keys = varying_keys(described)
    rows = [[str(each.get(key, "")) for key in keys] for each in described]
    if sum(max(map(len, column)) + _PADDING for column in zip(keys, *rows, strict=True)) > room:
        named = [[f"{key}={value}" for key, value in zip(keys, row, strict=True) if value] for row in rows]
        return SENTENCES, [[" ".join(row)] for row in named]
    return keys, rows
