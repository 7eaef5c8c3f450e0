"""Convert text to HTML: symbols, captions, and Markdown with formulas."""

import re
from collections.abc import Mapping, Sequence
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
_TITLE = re.compile(r"\A# .*\n")
_COMMENT = re.compile(r"^<!-- .* -->\n", re.MULTILINE)


def symbols(text: str) -> Markup:
    """Convert plain text to HTML with Greek letters, subscripts and code."""
    pieces = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if i % 2 else _letters(piece) for i, piece in enumerate(pieces)
    )


def greek(text: str) -> str:
    """Write sigma, gamma and alpha as letters, except in code between backquotes."""
    pieces = text.split("`")
    pieces[::2] = [_TILDE.sub("γ\u0303", _NAME.sub(lambda match: _LETTERS[match[1]], piece)) for piece in pieces[::2]]
    return "`".join(pieces)


def _letters(text: str) -> Markup:
    escaped = str(escape(_QUOTE.sub("“\\1”", greek(text))))
    return Markup(_SUPERSCRIPT.sub(r"\1<sup>\2</sup>", _SUBSCRIPT.sub(r"\1<sub>\2</sub>", escaped)))


def paragraphs(text: str) -> list[Markup]:
    """Return the paragraphs of a caption as HTML."""
    return [symbols(" ".join(paragraph.split())) for paragraph in sentence(text.strip()).split("\n\n") if paragraph]


def sentence(text: str) -> str:
    """Capitalise the first letter, unless the first word is a symbol."""
    first = next(iter(text.split()), "")
    is_word = first.isascii() and first.islower() and not _NAME.match(first)
    return text[:1].upper() + text[1:] if is_word else text


def documents(texts: Mapping[str, str], links: Mapping[str, str]) -> list[tuple[str, str, Markup]]:
    """Return identifier, title and content of documents by name."""
    return [
        (name, text.partition("\n")[0].removeprefix("# "), document(text, name, links)) for name, text in texts.items()
    ]


def document(markdown: str, prefix: str, links: Mapping[str, str]) -> Markup:
    """Convert Markdown to HTML below a heading of the page.

    Title and comments are omitted, headings move one level down, and wide tables and formulas are reachable by
    keyboard. Formulas stand between dollar signs.

    Args:
        markdown: The document.
        prefix: The start of heading identifiers, such as "errata" in "errata-e1".
        links: New targets by file. Other links become text; pictures become links, or their alternative text.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(dollarmath_plugin, renderer=_formula, double_inline=True, allow_labels=False)
    parser.add_render_rule("text", _text)
    parser.add_render_rule("image", _image)
    tokens = parser.parse(_COMMENT.sub("", _TITLE.sub("", markdown)))
    _headings(tokens, prefix)
    for token in tokens:
        _links(token.children or [], links)
        if token.type == "table_open":
            token.attrSet("tabindex", "0")
    rendered = parser.renderer.render(tokens, parser.options, {})
    return Markup(rendered.replace('<div class="math', '<div tabindex="0" class="math'))


def _text(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    return str(_letters(tokens[index].content))


def _image(_: Any, tokens: Sequence[Token], index: int, *__: Any) -> str:
    target, text = tokens[index].attrGet("src"), _letters(tokens[index].content)
    return str(Markup('<a href="{}">{}</a>').format(target, text) if target else text)


def _formula(latex: str, options: Mapping[str, Any]) -> str:
    return convert(latex, display="block" if options["display_mode"] else "inline")


def _headings(tokens: Sequence[Token], prefix: str) -> None:
    for i, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        if token.type == "heading_open":
            token.attrSet("id", f"{prefix}-{slug(tokens[i + 1].content)}")


def slug(heading: str) -> str:
    """Return an identifier: the first word if it has a digit, or all words."""
    first = heading.split()[0].rstrip(".")
    text = first if any(character.isdigit() for character in first) else heading
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def _links(tokens: Sequence[Token], links: Mapping[str, str]) -> None:
    for token in tokens:
        for name in {"href", "src"} & token.attrs.keys():
            target = links.get(str(token.attrs.pop(name)).rpartition("/")[2])
            token.attrs |= {name: target} if target else {}
