"""The rules of prose: documents, docstrings and messages are plain English.

They stand for Vale, whose packages fetch the program from a code host at installation: CI cannot reach it.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.settings import ROOT

MAX_WORDS = 30

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "src" / "pomrl_studies").glob("*/pages/*.md")),
]

PLAIN_ROOMS = ("src/pomrl/results/", "src/pomrl/drawing/")
"""The code whose sentences and first lines are checked too; words are checked everywhere."""

CODE_SPAN = "`code`"

SYNONYMS = {
    "hyper-?parameters?": "setting",
    "replications?|replicates?": "run",
    "checkpoints?": "block",
}
"""Words of other fields for those of the glossary in CONTRIBUTING."""


class Passage(NamedTuple):
    """A paragraph of a document or docstring, or a message."""

    place: str
    text: str
    is_first_line: bool = False


def plain(text: str) -> str:
    """Return Markdown without formulas, tags, code and targets of links."""
    text = re.sub(r"\$\$.*?\$\$|\$[^$]+\$|\\\(.*?\\\)|</?[a-z][^>]*>", " ", text, flags=re.DOTALL)
    text = re.sub(r"``?[^`]+``?", CODE_SPAN, text)
    return re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)


def paragraphs(text: str, separator: str) -> Iterator[tuple[int, str]]:
    """Yield paragraphs, items of lists and headings with the numbers of their first lines."""
    lines, start = list[str](), 1
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if not line.strip() or re.match(separator, line):
            if lines:
                yield start, "\n".join(lines)
            lines, start = [], number + (not line.strip())
        lines += [line] * bool(line.strip())


def document(path: Path) -> Iterator[Passage]:
    """Yield the paragraphs of a document, without code, comments and tables."""
    block = re.compile(r"^( *)```.*?^ *```|<!--.*?-->|\A---\n.*?^---$", re.DOTALL | re.MULTILINE)
    text = block.sub(lambda match: "\n" * match[0].count("\n"), path.read_text())
    for line, paragraph in paragraphs(text, r"\s*([-*+] |\d+\. |#+ |>|:|\||!\[)"):
        if not paragraph.startswith(("|", "    ")):
            yield Passage(f"{path.relative_to(ROOT)}:{line}", plain(paragraph))


def module(path: Path) -> Iterator[Passage]:
    """Yield the paragraphs of the docstrings of a module, and its messages."""
    for node in ast.walk(ast.parse(path.read_text())):
        place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (docstring := ast.get_docstring(node)):
            for line, paragraph in paragraphs(docstring, r"\s+[\w*, `.]+: |\w+:$"):
                yield Passage(place, plain(paragraph), is_first_line=line == 1)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from (Passage(place, plain(message(argument))) for argument in node.exc.args)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("exit_with", "warn"):
            yield from (Passage(place, plain(message(argument))) for argument in node.args)


def message(node: ast.expr) -> str:
    """Return the text of a string, with one word for each value in it."""
    pieces = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(piece.value) if isinstance(piece, ast.Constant) else CODE_SPAN for piece in pieces)


TEXTS = [
    *(passage for path in DOCUMENTS for passage in document(path)),
    *(passage for path in sorted((ROOT / "src").rglob("*.py")) for passage in module(path)),
]


def long_sentences(passage: Passage) -> list[str]:
    """Return the sentences of more than `MAX_WORDS`, without numbers and names in code."""
    sentences = re.split(r"(?<=[.!?])[\"')*_]*\s+", passage.text)
    return [one for one in sentences if len(re.findall(r"[^\W\d_][\w'-]*", one.replace(CODE_SPAN, ""))) > MAX_WORDS]


def relative_clauses(passage: Passage) -> list[str]:
    """Return the first line of a docstring if it has a relative clause, but not `less that of` or `so that`."""
    clause = r"(?<!so )(?<!such )\b(that|which|who)\b(?! of\b)"
    return [passage.text] if passage.is_first_line and re.search(clause, passage.text.split("\n")[0]) else []


OF_PLAIN_ROOMS = (long_sentences, relative_clauses)
"""The rules that hold for documents and `PLAIN_ROOMS` alone."""

RULES: dict[str, Callable[[Passage], list[str]]] = {
    "a sentence has at most 30 words": long_sentences,
    "must, not has to": lambda passage: re.findall(
        r"\b(?:has|have) to\b(?! do\b)", re.sub(r'"[^"]*"', "", passage.text)
    ),
    "whose, or a sentence more, not of which": lambda passage: re.findall(r"\bof which\b", passage.text),
    "a first line has no relative clause": relative_clauses,
    "words of the glossary": lambda passage: re.findall(rf"\b(?:{'|'.join(SYNONYMS)})\b", passage.text),
}


def is_checked(passage: Passage, rule: Callable[[Passage], list[str]]) -> bool:
    return rule not in OF_PLAIN_ROOMS or ".py:" not in passage.place or passage.place.startswith(PLAIN_ROOMS)


@pytest.mark.parametrize("rule", RULES)
def test_prose_is_plain(rule: str) -> None:
    check = RULES[rule]
    passages = [passage for passage in TEXTS if is_checked(passage, check)]
    places = [f"{passage.place}: {' '.join(text.split())}" for passage in passages for text in check(passage)]
    assert not places, "\n".join([rule, *places])
