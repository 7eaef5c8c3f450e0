"""Format tables as text, CSV, Markdown or LaTeX."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # because it takes long to load, and every command prints errors with `printable`
    import pandas as pd

FORMATS = ("text", "csv", "markdown", "latex")

ABSENT = "-"
"""The cell of an unknown value."""

MAX_CHARACTERS = 4000
"""The maximum length of a line; longer text is cut."""


def format_table(table: "pd.DataFrame", form: str = "text") -> str:
    """Format a table in one of `FORMATS`.

    CSV has all digits; other formats join an estimate and its interval. Text has tabs between cells.
    """
    if form == "csv":
        return table.to_csv(index=False, lineterminator="\n")
    text = as_text(table)
    head, *rows = [[printable(str(cell)) for cell in row] for row in [list(text), *text.to_numpy().tolist()]]
    if form == "markdown":
        return markdown([*map(markdown_text, head)], [[*map(markdown_text, row)] for row in rows])
    if form == "latex":
        import pandas as pd

        return pd.DataFrame(rows, columns=head).to_latex(index=False, escape=True)
    return "".join("\t".join(row) + "\n" for row in [head, *rows])


def printable(text: str) -> str:
    """Return text of unknown origin as one line without control characters.

    Zero-width and direction characters, and all beyond `MAX_CHARACTERS`, are removed.
    """
    line = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    return line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]}..."


def as_text(table: "pd.DataFrame") -> "pd.DataFrame":
    """Join estimates and intervals, as in 0.437 [0.401, 0.473]."""
    import pandas as pd

    from pomrl.results.intervals import Interval

    cells: dict[str, list[str]] = {}
    for name in (name for name in table if not str(name).endswith(("_lower", "_upper"))):
        if f"{name}_lower" in table:
            triples = table[[name, f"{name}_lower", f"{name}_upper"]].itertuples(index=False)
            cells[str(name).replace("_", " ")] = [Interval(*triple).text() or ABSENT for triple in triples]
        else:
            pairs = zip(table[name], table[name].notna(), strict=True)
            cells[str(name)] = [str(value) if is_known else ABSENT for value, is_known in pairs]
    return pd.DataFrame(cells)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a Markdown table of Markdown cells."""
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *rows])


def markdown_text(cell: str) -> str:
    """Escape plain text for a cell of a Markdown table."""
    return cell.replace("|", "\\|").replace("<", "&lt;")
