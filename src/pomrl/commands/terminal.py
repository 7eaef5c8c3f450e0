"""Functions that all commands share: the console, tables, errors as one line, and the exit status."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from pomrl.results.tables import printable

if TYPE_CHECKING:
    from rich.console import Console

GOES_ON = "finished blocks are stored, and the same command goes on from them"
"""The end of the message that is printed when a computation has ended early."""

WIDTH = 80
"""The number of columns of output that does not go to a terminal."""

PROGRAM = "pomrl"
"""The name of the installed program, of which each command is a part."""


def console(*, stderr: bool = False, width: int = WIDTH) -> "Console":
    """Return a console that prints text without markup.

    Args:
        stderr: Whether it prints on standard error instead of standard output.
        width: The number of columns of output that does not go to a terminal; a terminal's own width is taken.
    """
    from rich.console import Console  # here, because it takes long to load and errors do not need it

    stream = sys.stderr if stderr else sys.stdout
    columns = None if stream.isatty() else width
    return Console(stderr=stderr, width=columns, safe_box=True, highlight=False, markup=False, emoji=False)


@contextmanager
def complete_output() -> Generator[None, None, None]:
    """End a command with status 1 and one line where standard output does not take all that it printed.

    Python itself would say so in several lines after the end, or would not have the stream at all.
    """
    sys.stdout, sys.stderr = (
        stream or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w") for stream in (sys.stdout, sys.stderr)
    )
    try:
        yield
    finally:
        if fault := fault_of_output():
            exit_with(fault)


def fault_of_output(text: str = "") -> str | None:
    """Return in one line why standard output does not take text and what was printed before; None if it does.

    What is left of it goes nowhere, so that Python does not try again at the end of the process.
    """
    try:
        print(end=text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return f"standard output: {error.strerror}"
    return None


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return printable(str(error)) or type(error).__name__


def warn(line: str) -> None:
    """Print a line on standard error."""
    print(printable(line), file=sys.stderr, flush=True)


def exit_with(line: str, status: int = 1) -> NoReturn:
    """Print a line on standard error and end the command with this exit status."""
    warn(line)
    raise SystemExit(status)
