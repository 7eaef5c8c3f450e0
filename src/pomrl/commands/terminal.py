"""Functions that all commands share: the console, errors as one line, and the exit status."""

import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from rich.console import Console

GOES_ON = "finished blocks are stored, and the same command goes on from them"
"""The end of the message that is printed when a computation has ended early."""

WIDTH = 80
"""The number of columns of output that does not go to a terminal."""


def console(*, stderr: bool = False) -> "Console":
    """Return a console that prints text without markup, as wide as the terminal; without one, `WIDTH` columns wide."""
    from rich.console import Console  # here, because it takes long to load and errors do not need it

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDTH
    return Console(stderr=stderr, width=width, safe_box=True, highlight=False, markup=False)


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    return " ".join(str(error).split())


def exit_with(line: str, status: int = 1) -> NoReturn:
    """Print a line on standard error and end the command with this exit status."""
    print(line, file=sys.stderr)
    raise SystemExit(status)
