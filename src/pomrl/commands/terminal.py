"""Functions that all commands share: the console, tables, errors as one line, and the exit status."""

import logging
import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, NoReturn

from pomrl.results.tables import as_text, format_table, printable

if TYPE_CHECKING:  # because both take long to load, and errors need neither
    import pandas as pd
    from rich.console import Console

WIDTH = 80
"""The number of columns of output that does not go to a terminal."""


def console(*, stderr: bool = False) -> "Console":
    """Return a console that prints text without markup, on standard output or on standard error."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    columns = None if stream.isatty() else WIDTH
    return Console(stderr=stderr, width=columns, safe_box=True, highlight=False, markup=False, emoji=False)


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return printable(str(error)) or type(error).__name__


def warn(line: str) -> None:
    """Print a line on standard error, where work goes on if it cannot be written; the log of a job has it too."""
    with suppress(OSError):
        print(printable(line), file=sys.stderr, flush=True)
    logging.getLogger(__name__).info("%s", line)


def exit_with(line: str, status: int = 1) -> NoReturn:
    """Print a line on standard error and end the command with this exit status."""
    warn(line)
    raise SystemExit(status)


def agrees(question: str) -> bool:
    """Return whether a person agrees; where nobody can answer, nobody does."""
    if not sys.stdin.isatty():
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def print_frame(
    frame: "pd.DataFrame", form: str = "text", *, stderr: bool = False, optional: Sequence[str] = ()
) -> None:
    """Print a frame in one of the forms of `results.tables`; text is a table that fits where it goes to a terminal.

    No character of its cells is markup or controls the terminal. Where the terminal is too narrow, optional columns are
    left out, the first of them first, and a line below names them.
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
    """Return a table without the optional columns for which there is no room, and the names of these."""
    widths = {name: max(len(str(name)), *text[name].map(len)) + len(" | ") for name in text}
    left_out: list[str] = []
    for name in (name for name in optional if name in widths):
        if sum(widths.values()) <= width + 1:
            break
        del widths[name]
        left_out.append(name)
    return text[list(widths)], left_out
