"""Progress of long work on standard error: a bar in a terminal, a line for each tenth or each half minute elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pomrl.commands.terminal import console, warn
from pomrl.configuration.composed import number_of

QUIET = 30.0
"""Seconds after which a line of progress is printed anyway."""

Advance = Callable[[int, int], None]
"""A function of how many runs are done, and of how many experiments have failed."""


@contextmanager
def progress(total: int) -> Iterator[Advance]:
    """Yield a function that reports how many of so many runs are done."""
    terminal = console(stderr=True)
    if not (total and terminal.is_terminal):
        yield _lines(total)
        return
    columns = BarColumn(bar_width=10), TimeRemainingColumn(), TextColumn("left, {task.description}", markup=False)
    with Progress(*columns, console=terminal, transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task("runs", total=total)
        yield lambda done, failed: bar.update(task, completed=done, description=_progress_line(done, total, failed))


def _progress_line(done: int, total: int, failed: int) -> str:
    of_all = f"{done:,} of {total:,} runs"
    return f"{of_all}, {number_of(failed, 'experiment')} failed" if failed else of_all


def _lines(total: int) -> Advance:
    """Return a function that prints a line at each tenth, and after `QUIET` without one."""
    start = said_at = time.monotonic()
    said = 0

    def advance(done: int, failed: int) -> None:
        nonlocal said, said_at
        now, tenth = time.monotonic(), 10 * done // total
        if tenth != said or now - said_at >= QUIET:
            said, said_at = tenth, now
            if done:
                warn(f"{_progress_line(done, total, failed)}, {now - start:.1f} s")

    return advance
