"""Progress of long work on standard error: a bar in a terminal, one line for each block elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@dataclass(frozen=True)
class Tally:
    """How far a sweep is. Blocks that have failed methods are failed; those that are neither are in flight."""

    runs: int
    done: int = 0
    failed: int = 0
    blocks: int = 0

    def words(self, seconds: float) -> str:
        """Of the blocks."""
        over = self.done + self.failed
        rate = f"{over / seconds:.1f}/s" if seconds > 0 else ""
        return f"blocks: {self.done} done, {self.failed} failed, {self.blocks - over} in flight, {rate}"


@contextmanager
def progress(total: int) -> Iterator[Callable[[Tally], None]]:
    """Yields a function that takes how far a sweep of so many runs is."""
    console = Console(stderr=True)
    start = time.monotonic()
    if not console.is_terminal:
        yield lambda tally: _line(tally, total, time.monotonic() - start)
        return
    columns = (BarColumn(bar_width=10), MofNCompleteColumn(), TextColumn("runs, {task.description}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task("computing", total=total)
        yield lambda tally: bar.update(task, completed=tally.runs, description=tally.words(time.monotonic() - start))


def _line(tally: Tally, total: int, seconds: float) -> None:
    line = f"{tally.runs}/{total} runs, {seconds:.1f} s, {tally.words(seconds)}"
    print(line, file=sys.stderr, flush=True)
