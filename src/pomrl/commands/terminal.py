"""What the commands share at the terminal: the console, errors as one line, and the exit status."""

import sys
from typing import NoReturn

from rich.console import Console

WIDTH = 80
"""Columns of what is printed elsewhere than in a terminal."""


def console(*, stderr: bool = False) -> Console:
    """Return a console of the terminal's width, or of `WIDTH` columns where there is none; it prints text as it is."""
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
