"""Fill in the columns of experiments in docs/stored_formats.md from `science.stored_columns`."""

import re
from pathlib import Path

from pomrl.results.tables import markdown
from pomrl.science.stored_columns import COLUMNS, METRIC_COLUMN

PAGE = Path(__file__).parents[1] / "stored_formats.md"

TABLE = re.compile(r"(?<=<!-- columns of runs -->\n\n)(?:\|.*\n)+")
"""The table in the text of the document."""


def document() -> str:
    """Return the page with the present columns."""
    return with_columns(PAGE.read_text("utf-8"))


def with_columns(text: str) -> str:
    """Return the document with the present columns."""
    rows = [[f"`{column.name}`", column.dtype, column.unit, column.meaning] for column in (*COLUMNS, METRIC_COLUMN)]
    return TABLE.sub(lambda _: markdown(["column", "type", "unit", "meaning"], rows), text)
