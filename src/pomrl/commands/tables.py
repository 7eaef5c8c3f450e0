"""The one table of the terminal, without frames and without markup."""

import sys
from typing import TYPE_CHECKING

import pandas as pd

from pomrl.commands.terminal import console, printable
from pomrl.results.tables import as_text, written

if TYPE_CHECKING:  # because rich takes long to load, and most tables go to files or other programs
    from rich.table import Table


def print_frame(frame: "pd.DataFrame", form: str = "text") -> None:
    """Print a frame in one of the forms of `results.tables`; text is a table that fits where it goes to a terminal."""
    if form == "text" and sys.stdout.isatty():
        console().print(of_frame("", as_text(frame)))
    else:
        print(written(frame, form), end="")


def plain_table(title: str, *columns: str) -> "Table":
    """Return an empty table without frames."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    heading = Text(printable(title), style="table.title") if title else None
    table = Table(title=heading, title_justify="left", caption_justify="left", box=box.SIMPLE, pad_edge=False)
    for column in columns:
        table.add_column(Text(printable(column)), overflow="fold")
    return table


def of_frame(title: str, frame: "pd.DataFrame", *, wraps: str = "") -> "Table":
    """Return a frame as a table, real numbers with two decimals; if a column `wraps`, all others are as wide as needed.

    No character of its cells is markup or controls a terminal.

    Args:
        title: What the table is of.
        frame: The frame.
        wraps: The column that makes room for the others, if one does.
    """
    from rich.text import Text

    table = plain_table(title, *map(str, frame.columns))
    for column, name in zip(table.columns, frame.columns, strict=True):
        column.no_wrap = bool(wraps) and name != wraps
    for row in frame.itertuples(index=False):
        cells = (f"{value:.2f}" if isinstance(value, float) else str(value) for value in row)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table
