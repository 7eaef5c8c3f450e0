"""Output of commands: lines, tables, questions, progress, and exit status."""

import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, NoReturn, TextIO

from pomrl.configuration.composed import number_of
from pomrl.results.tables import as_text, format_table, printable

if TYPE_CHECKING:  # slow to import
    import pandas as pd
    from rich.console import Console

WIDTH = 80
"""The width of output outside a terminal, in characters."""

QUIET_SECONDS = 30.0
"""The time after which the next finished chunk prints a line of progress."""

MIN_ESTIMATED_SHARE = 0.05
"""The share of finished runs from which the remaining time is estimated."""

LOG = logging.getLogger(__name__)
"""The log of printed lines."""

OUTPUT_CLOSED = 128 + signal.SIGPIPE
"""The exit status after the reader of standard output has ended, as in `pomrl run | head`."""

Advance = Callable[[int, int], None]
"""A function of the numbers of finished runs and failed experiments."""


def console(*, stderr: bool = False) -> "Console":
    """Return a console for plain text."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    columns = None if stream.isatty() else WIDTH
    return Console(stderr=stderr, width=columns, safe_box=True, highlight=False, markup=False, emoji=False)


def one_line(error: BaseException) -> str:
    """Return the message of an error as one line."""
    return printable(str(error)) or type(error).__name__


def warn(line: str) -> None:
    """Log a line, and print it on standard error unless the log is on the terminal."""
    if not _logs_on_terminal():
        _print(line)
    LOG.info("%s", line)


def _print(line: str) -> None:
    try:
        print(printable(line), file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _logs_on_terminal() -> bool:
    record = logging.makeLogRecord({"name": LOG.name})
    streams = [handler for handler in logging.getLogger().handlers if type(handler) is logging.StreamHandler]
    return any(handler.filter(record) for handler in streams)


def exit_with(line: str, status: int = 1) -> NoReturn:
    """Print a line on standard error, and exit."""
    if _logs_on_terminal():
        _print(line)
    else:
        warn(line)
    raise SystemExit(status)


def flush_output(status: int = 1) -> None:
    """Flush standard output; exit with one line if this fails, or with none if its reader has ended."""
    try:
        print(end="", flush=True)
    except BrokenPipeError:
        exit_unread()
    except OSError as error:
        _discard(sys.stdout)
        exit_with(f"standard output: {error.strerror}", status)


def exit_unread() -> NoReturn:
    """Exit without a message, because the reader of standard output has ended."""
    _discard(sys.stdout)
    raise SystemExit(OUTPUT_CLOSED) from None


def _discard(stream: TextIO) -> None:
    """Redirect a stream to nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # Python and log handlers would write again


def agrees(question: str) -> bool:
    """Ask a yes-or-no question; without a terminal, the answer is no."""
    if not sys.stdin.isatty():
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def print_frame(
    frame: "pd.DataFrame", form: str = "text", *, stderr: bool = False, optional: Sequence[str] = ()
) -> None:
    """Print a frame in a format of `tables.FORMATS`.

    In terminals, optional columns are left out in order until the others fit. Control characters are removed.
    """
    stream = sys.stderr if stderr else sys.stdout
    if form != "text" or not stream.isatty():
        with suppress(OSError) if stderr else nullcontext():
            print(format_table(frame, form), end="", file=stream, flush=True)
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = console(stderr=stderr)
    text, left_out = _fitting(as_text(frame), out.width, optional)
    table = Table(box=box.SIMPLE, pad_edge=False)
    for column in text:
        table.add_column(Text(printable(str(column))), overflow="fold")
    for row in text.itertuples(index=False):
        table.add_row(*(Text(printable(str(cell))) for cell in row))
    out.print(table)
    if left_out:
        warn(f"left out to fit {out.width} columns: {', '.join(left_out)}; --format csv has all")


def _fitting(text: "pd.DataFrame", width: int, optional: Sequence[str]) -> tuple["pd.DataFrame", list[str]]:
    widths = {name: max(len(str(name)), *text[name].map(len)) + len(" | ") for name in text}
    left_out: list[str] = []
    for name in (name for name in optional if name in widths):
        if sum(widths.values()) <= width + 1:
            break
        del widths[name]
        left_out.append(name)
    return text[list(widths)], left_out


@contextmanager
def progress(total: int) -> Iterator[Advance]:
    """Yield a function to report progress, as a bar in terminals or lines."""
    from rich.progress import BarColumn, Progress, TextColumn

    terminal = console(stderr=True)
    if not (total and terminal.is_terminal):
        yield _lines(total)
        return
    start = time.monotonic()
    columns = BarColumn(bar_width=10), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=terminal, transient=True, redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task(_progress_line(0, total, 0), total=total)

        def advance(done: int, failed: int) -> None:
            remaining_time = _time_left(done, total, time.monotonic() - start)
            bar.update(task, completed=done, description=remaining_time + _progress_line(done, total, failed))

        yield advance


def _time_left(done: int, total: int, seconds: float) -> str:
    """Estimate the remaining time from the mean time of a run; empty at first."""
    if done < MIN_ESTIMATED_SHARE * total:
        return ""
    return f"{timedelta(seconds=round(seconds * (total - done) / done))} left, "


def _progress_line(done: int, total: int, failed: int) -> str:
    counts = f"{done:,} of {total:,} runs"
    return f"{counts}, {number_of(failed, 'experiment')} failed" if failed else counts


def _lines(total: int) -> Advance:
    start = last_time = time.monotonic()
    last_tenth = 0

    def advance(done: int, failed: int) -> None:
        nonlocal last_tenth, last_time
        now, tenth = time.monotonic(), 10 * done // total
        if tenth != last_tenth or now - last_time >= QUIET_SECONDS:
            last_tenth, last_time = tenth, now
            if done:
                warn(f"{_progress_line(done, total, failed)}, {now - start:.1f} s")

    return advance
