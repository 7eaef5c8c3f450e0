"""Functions that all commands share: the console, tables, errors as one line, and the exit status."""

import sys
from typing import TYPE_CHECKING, NoReturn

from pomrl.results.tables import printable

if TYPE_CHECKING:
    from rich.console import Console

GOES_ON = "finished blocks are stored, and the same command goes on from them"
"""The end of the message that is printed when a computation has ended early."""

WIDTH = 80
"""The number of columns of output that does not go to a terminal."""


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
