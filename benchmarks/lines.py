"""Count lines of code in src/: python -m benchmarks.lines. Docstrings, comments and blank lines do not count."""

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

SRC = Path(__file__).parents[1] / "src"

LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER
}  # fmt: skip
"""Tokens that are no code."""


def lines_of_code(source: str) -> int:
    """Return the number of lines of a module with code; a string that is a whole statement is a docstring."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    tokens = (token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type not in LAYOUT)
    code = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return len(code - docstrings)


def main() -> None:
    """Print the number of lines in each room, in all, and outside of studies."""
    rooms = Counter[str]()
    for path in sorted(SRC.rglob("*.py")):
        inside = path.relative_to(SRC).with_suffix("").parts
        rooms["/".join(inside[:2])] += lines_of_code(path.read_text(encoding="utf-8"))
    for room, lines in rooms.most_common():
        print(f"{lines:7,}  {room}")
    print(f"{rooms.total():7,}  in all\n{rooms.total() - rooms['pomrl_studies']:7,}  outside of studies")


if __name__ == "__main__":
    main()
