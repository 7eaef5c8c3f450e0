"""Progress of long work on standard error: a bar in a terminal, a line for each tenth elsewhere."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pomrl.commands.terminal import console, warn
from pomrl.running.missing_simulations import compute_missing
from pomrl.running.resources import size
from pomrl.running.sweeps import Job, Tally, unfinished
from pomrl.theory.simulations import SIMULATIONS

QUIET = 30.0
"""Seconds after which a line of progress is printed anyway."""

LEAST_BYTES = 10**9
"""The number of bytes from which on it is said how much of them is read, because that takes seconds."""


@contextmanager
def progress(total: int) -> Iterator[Callable[[Tally], None]]:
    """Yield a callback that reports the progress of a sweep of `total` runs."""
    terminal = console(stderr=True)
    if not terminal.is_terminal:
        yield _lines(total)
        return
    start = time.monotonic()
    columns = (BarColumn(bar_width=10), MofNCompleteColumn(), TextColumn("runs, {task.description}", markup=False))
    with Progress(*columns, TimeRemainingColumn(), console=terminal, transient=True) as bar:
        task = bar.add_task("computing", total=total)
        yield lambda tally: bar.update(task, completed=tally.runs, description=tally.describe(time.monotonic() - start))


@contextmanager
def progress_of(jobs: Sequence[Job]) -> Iterator[Callable[[Tally], None]]:
    """Yield a callback that reports the progress of these jobs; there is none to report where nothing is lacking."""
    total = sum(job.runs_missing for job in unfinished(jobs).values())
    with progress(total) if total else nullcontext(lambda _: None) as advance:
        yield advance


def _lines(total: int) -> Callable[[Tally], None]:
    """Return a callback that prints a line at each tenth of the runs, and after `QUIET` without one."""
    start = said_at = time.monotonic()
    said = 0

    def advance(tally: Tally) -> None:
        nonlocal said, said_at
        now, tenth = time.monotonic(), 10 * tally.runs // max(total, 1)
        if tenth > said or now - said_at >= QUIET:
            said, said_at = tenth, now
            warn(f"{tally.runs}/{total} runs, {now - start:.1f} s, {tally.describe(now - start)}")

    return advance


def tenths(what: str) -> Callable[[int, int], None]:
    """Return a function that takes how many bytes are done, of how many, and prints a line at each tenth of them."""
    said = -1

    def advance(done: int, total: int) -> None:
        nonlocal said
        if total >= LEAST_BYTES and (tenth := 10 * done // total) > said:
            said = tenth
            warn(f"{what}: {10 * tenth} % of {size(total)}")

    return advance


def simulate(names: Iterable[str]) -> None:
    """Compute the simulations with these names, unless they are stored, and print a line for each one computed."""
    compute_missing([SIMULATIONS[name] for name in names], report=warn)
