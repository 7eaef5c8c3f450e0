"""Text as HTML: the symbols of docstrings and claims, captions, and documents in Markdown with formulas as MathML."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin

_LETTERS = {"sigma": "σ", "gamma": "γ", "alpha": "α"}
_NAME = re.compile(rf"(?<![\w=.])({'|'.join(_LETTERS)})(?=_(?:eval|tilde|\w)(?!\w)|(?!\w))")
_TILDE = re.compile(r"γ_tilde\b")
_SUBSCRIPT = re.compile(r"(?<!\w)([^\W\d_]\u0302?)_(eval|max|\w)(?!\w)")
_SUPERSCRIPT = re.compile(r"\b([A-Z])\^(\w)(?!\w)")
_QUOTE = re.compile(r'"([^"]*)"')
_ERRATUM = re.compile(r"\bE(\d+)\b")
_TITLE = re.compile(r"\A# .*\n")
_NUMBER = re.compile(r"^Figure (\w+)[:,]\s*")


def symbols(text: str) -> Markup:
    """Plain text with Greek letters for their names, subscripts, and code between backticks."""
    parts = text.split("`")
    return Markup("").join(_code(part) if i % 2 else _letters(part) for i, part in enumerate(parts))


def _code(text: str) -> Markup:
    return Markup("<code>{}</code>").format(text)


def _letters(text: str) -> Markup:
    greek = _TILDE.sub("γ\u0303", _NAME.sub(lambda found: _LETTERS[found[1]], text))
    escaped = str(escape(_QUOTE.sub("“\\1”", greek)))
    return Markup(_SUPERSCRIPT.sub(r"\1<sup>\2</sup>", _SUBSCRIPT.sub(r"\1<sub>\2</sub>", escaped)))


@dataclass(frozen=True)
class Caption:
    """What a figure shows in our words, and what the paper says of it."""

    number: str
    """That of the paper; empty for a figure that it does not have."""
    ours: list[Markup]
    papers: list[Markup]


def caption(docstring: str) -> Caption:
    """Of a figure, from the docstring of its module: paragraphs that begin with "The paper" are the paper's."""
    found = _NUMBER.match(docstring)
    text = _NUMBER.sub("", docstring.strip())
    paragraphs = [" ".join(part.split()) for part in _sentence(text).split("\n\n")]
    quoted = [part.startswith("The paper") for part in paragraphs]
    return Caption(
        found[1] if found else "",
        [_with_errata(part) for part, is_quoted in zip(paragraphs, quoted, strict=True) if not is_quoted],
        [_with_errata(part) for part, is_quoted in zip(paragraphs, quoted, strict=True) if is_quoted],
    )


def _sentence(text: str) -> str:
    """With a capital at its start, but for a symbol or a name, which keep theirs."""
    first = text.split(maxsplit=1)[0]
    return text[:1].upper() + text[1:] if first.isascii() and first.islower() else text


def _with_errata(text: str) -> Markup:
    """With links to the errata that it names."""
    return Markup(_ERRATUM.sub(r'<a href="#errata-e\1">E\1</a>', str(symbols(text))))


def document(markdown: str, prefix: str, links: Mapping[str, str]) -> Markup:
    """A document of the repository as HTML, below a heading of the page.

    Its title is left out. Headings go a level down and get identifiers that begin with the prefix. Links are replaced
    where `links` has them; others, which lead to files, become plain text.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(dollarmath_plugin, renderer=_formula, double_inline=True, allow_labels=False)
    parser.add_render_rule("text", _text)
    tokens = parser.parse(_TITLE.sub("", markdown))
    _headings(tokens, prefix)
    for token in tokens:
        _links(token.children or [], links)
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _text(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return str(_letters(tokens[index].content))


def _formula(latex: str, options: Mapping[str, Any]) -> str:
    return convert(latex, display="block" if options["display_mode"] else "inline")


def _headings(tokens: Sequence[Token], prefix: str) -> None:
    for i, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        if token.type == "heading_open":
            token.attrSet("id", f"{prefix}-{slug(tokens[i + 1].content)}")


def slug(heading: str) -> str:
    """The first word of a heading that has a number, such as E1, or all of its words."""
    first = heading.split()[0].rstrip(".")
    words = first if any(character.isdigit() for character in first) else heading
    return re.sub(r"\W+", "-", words.lower()).strip("-")


def _links(tokens: Sequence[Token], links: Mapping[str, str]) -> None:
    within = False
    for token in tokens:
        if token.type == "link_open":
            target = links.get(str(token.attrGet("href")).removeprefix("../"))
            within = target is None
            if target is not None:
                token.attrSet("href", target)
        if within and token.type in ("link_open", "link_close"):
            token.tag = "span"
            token.attrs = {}
        if token.type == "link_close":
            within = False
