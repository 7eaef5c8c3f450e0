"""Files of code as pages of the site, whose lines have the anchors that they have on GitHub."""

import re
from collections.abc import Callable

from mkdocs.structure.files import File, InclusionLevel
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

LINK_OR_TAG = re.compile(r"(<a\b.*?</a>|<script\b.*?</script>|<[^>]*>)", flags=re.DOTALL)
"""What stays as it is where text becomes links."""


class CodeFile(File):
    """A file of code, which is a page that no menu and no search has."""

    def __init__(self, *arguments: str, **options: str | bool) -> None:
        super().__init__(*arguments, **options, inclusion=InclusionLevel.NOT_IN_NAV)  # pyright: ignore[reportArgumentType]

    def is_documentation_page(self) -> bool:
        """Return True, so that it gets the theme, and anchors of links to it are checked."""
        return True

    @property
    def content_string(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The page in Markdown."""
        lines = numbered_lines(super().content_string)
        head = "---\nsearch: {exclude: true}\nhide: [navigation, toc]\n---\n"
        return f'{head}\n# {self.src_uri}\n\n<div class="highlight code"><pre><code>{lines}</code></pre></div>\n'


def numbered_lines(text: str) -> str:
    """Return Python as HTML whose lines have the ids L1, L2, ..."""
    lines = highlight(text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).splitlines()
    return "\n".join(f'<span id="L{number}">{line}</span>' for number, line in enumerate(lines, start=1))


def change_text(html: str, change: Callable[[str], str]) -> str:
    """Change the text of HTML, but for that of links and programs."""
    parts = LINK_OR_TAG.split(html)
    return "".join(part if LINK_OR_TAG.match(part) else change(part) for part in parts)
