"""Progress of long work on standard error: a bar in a terminal, one line for each block elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress(total: int, unit: str) -> Iterator[Callable[[int, str], None]]:
    """Yields a function that takes how many units are done more, and what was done."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(total, unit)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("computing", total=total)
        yield lambda done, _: bar.advance(task, done)


def _lines(total: int, unit: str) -> Callable[[int, str], None]:
    done, start = 0, time.monotonic()

    def advance(more: int, what: str) -> None:
        nonlocal done
        done += more
        print(f"{done}/{total} {unit}, {time.monotonic() - start:.1f} s: {what}", file=sys.stderr, flush=True)

    return advance
