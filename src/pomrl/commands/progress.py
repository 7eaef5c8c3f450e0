"""Progress of long work on standard error: a bar in a terminal, a line for each tenth or each half minute elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column

from pomrl.commands.terminal import console, printable, warn
from pomrl.configuration.wording import number_of
from pomrl.running.plan import Job, unfinished

QUIET = 30.0
"""Seconds after which a line of progress is printed anyway."""

Advance = Callable[[int, int, str], None]
"""A function of how much is done, of how much, and of further words."""


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """Yield a function that reports how much of what is counted is done."""
    terminal = console(stderr=True)
    if not terminal.is_terminal:
        yield _lines(what)
        return
    columns = (
        BarColumn(bar_width=10, table_column=Column(min_width=10)),
        TimeRemainingColumn(table_column=Column(min_width=7)),  # which is not cut where the words are too long
        TextColumn("left, {task.description}", markup=False, table_column=Column(no_wrap=True)),
    )
    with Progress(*columns, console=terminal, transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task(what, total=None)

        def advance(done: int, total: int, words: str) -> None:
            bar.update(task, completed=done, total=total, description=_said(done, total, what, words))

        yield advance


def _said(done: int, total: int, what: str, words: str) -> str:
    return printable(f"{done:,} of {total:,} {what}{', ' * bool(words)}{words}")


def _lines(what: str) -> Advance:
    """Return a function that prints a line at each tenth, and after `QUIET` without one."""
    start = said_at = time.monotonic()
    said = 0

    def advance(done: int, total: int, words: str) -> None:
        nonlocal said, said_at
        now, tenth = time.monotonic(), 10 * done // max(total, 1)
        if tenth != said or now - said_at >= QUIET:
            said, said_at = tenth, now
            if done:
                warn(_said(done, total, what, f"{now - start:.1f} s{', ' * bool(words)}{words}"))

    return advance


@contextmanager
def progress_of(jobs: Sequence[Job]) -> Iterator[Callable[[int, int], None]]:
    """Yield a callback that reports the progress of these jobs; there is none to report where nothing is lacking."""
    total = sum(job.runs_missing for job in unfinished(jobs))
    with progress("runs") if total else nullcontext(lambda *_: None) as advance:
        yield lambda done, failed: advance(done, total, f"{number_of(failed, 'experiment')} failed" if failed else "")
