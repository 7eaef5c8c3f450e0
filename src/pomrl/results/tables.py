"""The one printer of tables: a frame as text, CSV, Markdown or LaTeX; each line ends with a line break."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # because it takes long to load, and every command prints errors with `printable`
    import pandas as pd

FORMATS = ("text", "csv", "markdown", "latex")

ABSENT = "-"
"""What stands in a cell for what is not known."""

MOST_CHARACTERS = 4000
"""Longer text is cut, because it quotes an absurd value."""


def format_table(table: "pd.DataFrame", form: str = "text") -> str:
    """Return a table in one of `FORMATS`.

    CSV has all digits; the others have an estimate and its interval in one cell. Cells of text are separated by tabs.
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
    """Return text of unknown origin as one line that cannot control a terminal.

    Line breaks become spaces; control characters, marks without width or of direction, and what exceeds
    `MOST_CHARACTERS`, are left out.
    """
    line = " ".join(text.split())
    shown = line if line.isprintable() else "".join(letter for letter in line if letter.isprintable())
    return shown if len(shown) <= MOST_CHARACTERS else f"{shown[:MOST_CHARACTERS]}..."


def as_text(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with the columns NAME, NAME_lower and NAME_upper in one cell: 0.437 [0.401, 0.473].

    A dash stands for what is not known, such as the value of a key that only other options have.
    """
    import pandas as pd

    from pomrl.results.intervals import Interval

    cells: dict[str, list[str]] = {}
    for name in (name for name in table if not str(name).endswith(("_lower", "_upper"))):
        if f"{name}_lower" in table:
            triples = table[[name, f"{name}_lower", f"{name}_upper"]].itertuples(index=False)
            cells[str(name).replace("_", " ")] = [Interval(*triple).text() or ABSENT for triple in triples]
        else:
            known = zip(table[name], table[name].notna(), strict=True)
            cells[str(name)] = [str(value) if is_known else ABSENT for value, is_known in known]
    return pd.DataFrame(cells)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; cells may have markup themselves (`markdown_text` if they have none)."""
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *rows])


def markdown_text(cell: str) -> str:
    """Return text as it stands in a cell of a Markdown table, where a bar would end the cell and < begin a tag."""
    return cell.replace("|", "\\|").replace("<", "&lt;")
