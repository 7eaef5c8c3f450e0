"""Pages of the site for files of code, with GitHub line anchors."""

import re
from collections.abc import Callable

from mkdocs.structure.files import File, InclusionLevel
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

LINK_OR_TAG = re.compile(r"(<a\b.*?</a>|<script\b.*?</script>|<[^>]*>)", flags=re.DOTALL)
"""Parts of HTML in which no text becomes a link."""


class CodeFile(File):
    """A page with a file of code, outside of menus and search."""

    def __init__(self, *arguments: str, **options: str | bool) -> None:
        super().__init__(*arguments, **options, inclusion=InclusionLevel.NOT_IN_NAV)  # pyright: ignore[reportArgumentType]

    def is_documentation_page(self) -> bool:
        """Return True: pages get the theme and a check of anchors."""
        return True

    @property
    def content_string(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The Markdown of the page."""
        lines = numbered_lines(super().content_string)
        head = "---\nsearch: {exclude: true}\nhide: [navigation, toc]\n---\n"
        return f'{head}\n# {self.src_uri}\n\n<div class="highlight code"><pre><code>{lines}</code></pre></div>\n'


def numbered_lines(text: str) -> str:
    """Return Python as HTML with the line ids L1, L2, ..."""
    lines = highlight(text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).splitlines()
    return "\n".join(f'<span id="L{number}">{line}</span>' for number, line in enumerate(lines, start=1))


def change_text(html: str, change: Callable[[str], str]) -> str:
    """Change the text of HTML, except in links and scripts."""
    pieces = LINK_OR_TAG.split(html)
    return "".join(piece if LINK_OR_TAG.match(piece) else change(piece) for piece in pieces)
