"""The rules of prose: documents, docstrings and messages are plain English.

They stand for Vale, whose packages fetch the program from a code host at installation: CI cannot reach it.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.settings import ROOT

MAX_WORDS = 30

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("packages/*/README.md")),
    *sorted(ROOT.glob("packages/*/docs/*.md")),
    *sorted((ROOT / "src" / "pomrl_studies").glob("*/pages/*.md")),
    *sorted(ROOT.glob("packages/*/src/*/*/pages/*.md")),
]

PUBLISHED = re.compile(r"claim|figure|variant|article|family")
"""Decorators of functions whose docstring is a statement or a caption."""

CODE_SPAN = "`code`"

SECTIONS = r"\s+[\w*, `.]+: |\w+:$"
"""What begins an entry or a section of a docstring."""

SYNONYMS = {
    "hyper-?parameters?": "setting",
    "replications?|replicates?": "run",
    "checkpoints?": "block",
}
"""Words of other fields for those of the glossary in CONTRIBUTING."""


class Passage(NamedTuple):
    """A paragraph of a document or docstring, or a message."""

    location: str
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
    """Yield the paragraphs of the docstrings of a module, those of attributes, and the messages."""
    name_of_file = path.relative_to(ROOT).as_posix()
    for node in ast.walk(ast.parse(path.read_text())):
        location = f"{name_of_file}:{getattr(node, 'lineno', 1)}"
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            for line, paragraph in paragraphs(ast.get_docstring(node) or "", SECTIONS):
                yield Passage(location, plain(paragraph), is_first_line=line == 1 and not is_published(node))
            yield from (Passage(f"{location} {name}", plain(text)) for name, text in attributes(node.body))
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from (Passage(location, plain(message(argument))) for argument in node.exc.args)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("exit_with", "warn"):
            yield from (Passage(location, plain(message(argument))) for argument in node.args)


def attributes(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Yield the names of the documented attributes in a body, and their docstrings."""
    for assignment, statement in pairwise(body):
        text = getattr(getattr(statement, "value", None), "value", None)
        if isinstance(assignment, ast.Assign | ast.AnnAssign) and isinstance(statement, ast.Expr) and text:
            targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
            yield ast.unparse(targets[0]), str(text)


def is_published(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> bool:
    """Tell if a docstring is a text that readers of results see."""
    return any(PUBLISHED.search(ast.unparse(decorator)) for decorator in getattr(node, "decorator_list", ()))


def message(node: ast.expr) -> str:
    """Return the text of a string, with one word for each value in it."""
    pieces = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(piece.value) if isinstance(piece, ast.Constant) else CODE_SPAN for piece in pieces)


@cache
def texts() -> list[Passage]:
    """Return the passages of all documents and modules."""
    modules = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("packages/*/src/**/*.py")])
    return [*chain.from_iterable(map(document, DOCUMENTS)), *chain.from_iterable(map(module, modules))]


def long_sentences(passage: Passage) -> list[str]:
    """Return the sentences of more than `MAX_WORDS`, without quotations, numbers and names in code."""
    sentences = re.split(r"(?<=[.!?])[\"')*_]*\s+", re.sub(r'"[^"]*"', "", passage.text))
    return [
        sentence
        for sentence in sentences
        if len(re.findall(r"[^\W\d_][\w'-]*", sentence.replace(CODE_SPAN, ""))) > MAX_WORDS
    ]


def relative_clauses(passage: Passage) -> list[str]:
    """Return the first line of a docstring if it has a relative clause, but not `Check that` or `so that`."""
    first_line = re.sub(r"^\w+ that ", "", passage.text.split("\n")[0])
    clause = r"(?<!so )(?<!such )\b(that|which|who)\b"
    return [passage.text] if passage.is_first_line and re.search(clause, first_line) else []


RULES: dict[str, Callable[[Passage], list[str]]] = {
    "a sentence has at most 30 words": long_sentences,
    "must, not has to": lambda passage: re.findall(
        r"\b(?:has|have) to\b(?! do\b)", re.sub(r'"[^"]*"', "", passage.text)
    ),
    "whose, or a sentence more, not of which": lambda passage: re.findall(r"\bof which\b", passage.text),
    "a first line has no relative clause": relative_clauses,
    "words of the glossary": lambda passage: re.findall(rf"\b(?:{'|'.join(SYNONYMS)})\b", passage.text),
}


@pytest.mark.parametrize("rule", RULES)
def test_prose_is_plain(rule: str) -> None:
    check = RULES[rule]
    violations = [f"{passage.location}: {' '.join(text.split())}" for passage in texts() for text in check(passage)]
    assert not violations, "\n".join([rule, *violations])
