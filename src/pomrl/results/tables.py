"""Tables of text cells as plain text, as records, in Markdown and in LaTeX; each line ends with a line break."""

import re
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]

LONGEST = 9
"""The most letters of a heading that is not shortened."""

_SPECIAL = re.compile(r"([&%$#_{}])")
"""Characters with a meaning in LaTeX."""


def plain(head: Sequence[str], rows: Rows) -> str:
    """Return a table with columns as wide as their widest cell."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    cells = ((cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{'  '.join(line).rstrip()}\n" for line in cells)


def fitted(head: Sequence[str], rows: Rows, width: int) -> str:
    """Return a table whose lines have at most so many characters, with short headings and a key below if need be.

    Where that does not suffice, it has some lines for each row.
    """
    short = _shortened(head)
    key = "".join(f"{name}: {whole}\n" for name, whole in zip(short, head, strict=True) if name != whole)
    for table, below in ((plain(head, rows), ""), (plain(short, rows), key)):
        if max(map(len, table.splitlines())) <= width:
            return table + below
    names = max(map(len, head))
    named = ([(name, cell) for name, cell in zip(head, row, strict=True) if cell] for row in rows)
    return "\n".join("".join(f"{name:<{names}}  {cell}\n" for name, cell in record) for record in named)


def _shortened(head: Sequence[str]) -> list[str]:
    """Return headings without the groups of their keys, and words by their first letters, as far as all differ."""
    short = [
        "".join(word[:4] + "." * (len(word) > 4) for word in re.split(r"(\W|_)", name.rpartition(".")[2]))
        for name in head
    ]
    kept = [one if len(name) > LONGEST else name for one, name in zip(short, head, strict=True)]
    return kept if len(set(kept)) == len(kept) else list(head)


def markdown(head: Sequence[str], rows: Rows) -> str:
    """Return a table in Markdown, the cells of which may have markup themselves (`markdown_text` if they have none)."""
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *rows])


def markdown_text(cell: str) -> str:
    """Return text as it stands in a cell of a Markdown table, where a bar would end the cell and < begin a tag."""
    return cell.replace("|", "\\|").replace("<", "&lt;")


def latex(head: Sequence[str], rows: Rows) -> str:
    """Return a table for the package booktabs."""
    header, *body = [" & ".join(_SPECIAL.sub(r"\\\1", cell) for cell in line) + r" \\" for line in [head, *rows]]
    lines = [rf"\begin{{tabular}}{{{'l' * len(head)}}}", r"\toprule", header, r"\midrule", *body, r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}"]) + "\n"
