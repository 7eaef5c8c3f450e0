"""Progress of long work on standard error: a bar in a terminal, one line for each block elsewhere."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pomrl.commands.terminal import console, warn
from pomrl.running.missing_simulations import compute_missing
from pomrl.running.sweeps import Job, Tally, unfinished
from pomrl.theory.simulations import SIMULATIONS


@contextmanager
def progress(total: int) -> Iterator[Callable[[Tally], None]]:
    """Yield a callback that reports the progress of a sweep of `total` runs."""
    terminal = console(stderr=True)
    start = time.monotonic()
    if not terminal.is_terminal:
        yield lambda tally: _print_line(tally, total, time.monotonic() - start)
        return
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


def _print_line(tally: Tally, total: int, seconds: float) -> None:
    warn(f"{tally.runs}/{total} runs, {seconds:.1f} s, {tally.describe(seconds)}")


def simulate(names: Iterable[str]) -> None:
    """Compute the simulations with these names, unless they are stored, and print a line for each one computed."""
    compute_missing([SIMULATIONS[name] for name in names], report=warn)
