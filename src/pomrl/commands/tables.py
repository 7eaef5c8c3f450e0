"""Tables for the terminal: the work that a sweep has to do, its results, its failures, and any frame."""

from collections.abc import Mapping, Sequence

import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from pomrl.commands.terminal import console, printable
from pomrl.configuration.settings import asked_settings, flat_settings, varying_keys
from pomrl.execution import Failure
from pomrl.results.losses import Losses
from pomrl.running import resources
from pomrl.running.sweeps import Job
from pomrl.store import StoreError

MOST_ROWS = 100
"""The most rows of a table that is printed; with more, people no longer read it."""


WIDEST = 32
"""The most characters of the columns of settings beside those of results; with more, headings would be broken."""


def plan(jobs: Sequence[Job]) -> Table:
    """Return the table of a dry run: each job's signature, the runs that are stored and missing, and the work to do."""
    keys, rows = _settings(jobs)
    table = plain_table("to compute", "signature", *keys, "stored", "missing", "plans", "seconds")
    for job, values in rows:
        missing = job.runs_missing
        work = f"{resources.plans(job):,}", f"{resources.seconds(job):.1f}"
        add_row(table, job.stored.signature, *values, job.experiment.request.runs - missing, missing, *work)
    return table


def results(jobs: Sequence[Job]) -> Table:
    """Return a table with a row for each job: the runs requested, those computed now, and the mean planning losses."""
    keys, rows = _settings(jobs)
    losses = ("first", "last", "minimum", "gamma*")
    or_metric = ", or metric," if any(job.experiment.method.is_measured for job in jobs) else ""
    table = plain_table(f"mean planning loss{or_metric} over runs", *keys, "runs", "new", *losses)
    for column in table.columns[len(keys) :] if keys == ["settings"] else table.columns[: len(keys)]:
        column.no_wrap = True
    for job, values in rows:
        requested = job.experiment.request.runs
        new = job.runs_missing - max(0, requested - job.stored.complete())
        add_row(table, *values, requested, new, *_losses(job))
    table.caption = "first and last task: at the largest gamma; minimum: in the last task, at gamma*"
    return table


def failed(jobs: Sequence[Job], failures: Mapping[str, Failure]) -> Table:
    """Return a table with a row for each job that failed: its settings, the reason, and where the traceback is."""
    keys, rows = _settings(jobs)
    table = plain_table("failed", *keys, "reason", "traceback")
    for job, values in rows:
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


def print_table(title: str, frame: pd.DataFrame) -> None:
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


def _settings(jobs: Sequence[Job]) -> tuple[list[str], list[tuple[Job, list[str]]]]:
    """Return the keys in which jobs differ, and each job with its values of them.

    Where they are too wide for columns of their own, they are the sentences of a single column.
    """
    described = [flat_settings(asked_settings(job.experiment), job.experiment.options) for job in jobs]
    keys = varying_keys(described)
    rows = [[str(each.get(key, "")) for key in keys] for each in described]
    widths = [max(map(len, column)) + len("   ") for column in zip(keys, *rows, strict=True)]
    if sum(widths) > WIDEST:
        named = [[f"{key}={value}" for key, value in zip(keys, row, strict=True) if value] for row in rows]
        keys, rows = ["settings"], [[" ".join(row)] for row in named]
    return keys, list(zip(jobs, rows, strict=True))
