"""What MkDocs is told beside mkdocs.yml: which files of the repository are in the site, and how formulas look.

Files keep the paths that they have in the repository, so that links between them need no change. Only their addresses
in the site are short.
"""

import re
import sys
from functools import partial
from itertools import chain
from pathlib import Path
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # as for python -m mkdocs; the program mkdocs does not add this folder

from docs.build import code, paper, tables  # noqa: E402 (found by the line above)
from docs.build.generated import PAGES, SOURCE  # noqa: E402

TABLES = tuple(f"src/pomrl_studies/*/{name}" for name in ("claims.csv", "ledger.yaml", "pages/*.csv"))
"""The tables of studies, which the site shows as pages."""

SOURCES = (
    *("*.md", "CITATION.cff", "docs/*.md", "outputs/readme/*.png", "docs/build/*.js", "docs/build/*.css"),
    *("src/pomrl_studies/*/pages/*.md", "src/pomrl_studies/*/study.yaml"),
    *TABLES,
    *(f"src/pomrl_studies/pomrl2023/{name}" for name in ("variants.py", "digitised.csv")),
    *(
        "benchmarks/results/*.csv",
        "examples/tutorial.ipynb",
        "examples/*.py",
        "examples/patience/figures.py",
        "examples/patience/study.yaml",
        "examples/notebook/*.py",
        "examples/notebook/README.md",
    ),
)
"""Every file of the repository that is a page, or that a page shows or links to."""

KINDS = {"*.py": code.CodeFile, **dict.fromkeys(TABLES, tables.TableFile)}
"""The pages that the site makes of other files than documents, by the patterns of their paths."""

ADDRESSES = {
    r"README\.md": "index.html",
    r"docs/(.+)\.md": r"\1.html",
    r"src/pomrl_studies/(\w+)/pages/(.+)\.(?:md|csv)": r"studies/\1/\2.html",
    r"src/pomrl_studies/(\w+)/(claims|ledger)\.(?:csv|yaml)": r"studies/\1/\2.html",
    r"(.+)\.md": r"\1.html",
    r"(?:src/)?(.+)\.py": r"code/\1.html",
}
"""The addresses of pages, by the patterns of their paths. The first pattern that matches counts."""

UNUSED = ("assets/javascripts/lunr", "sitemap.xml", "sitemap.xml.gz", "search/search_index.json")
"""What the theme writes and nothing reads from a disk: languages, maps with the date, the index for servers."""

OF_THE_PAPER = ("reference/", "code/", "configuration.html", "studies/pomrl2023/")
"""How the addresses of pages begin whose numbers of equations and theorems are those of the paper."""

LONG = 40
"""The characters of a formula in a sentence above which it may be wider than a phone, so that it is scrolled there."""


@event_priority(100)  # before mkdocstrings reads it
def on_config(config: MkDocsConfig) -> None:
    """Let formulas between dollar signs become MathML, and say where docstrings are read."""
    config.markdown_extensions.append(Formulas())  # pyright: ignore[reportArgumentType]
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [str(SOURCE)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the site: the theme's, the repository's under their paths there, and the pages of code."""
    theme_files = [file for file in files if file.src_dir != config.docs_dir]
    source_paths = {path.relative_to(ROOT).as_posix() for path in chain(*map(ROOT.glob, SOURCES))} | paper.sources()
    ours = [file_of(path, config) for path in sorted(source_paths)]
    generated_files = [File.generated(config, path, content=page()) for path, page in PAGES.items()]
    return Files([*theme_files, *ours, *generated_files])


def file_of(path: str, config: MkDocsConfig) -> File:
    """Return a file of the repository: a page if it is code or a table, and else the file as it is."""
    kind = next((kind for pattern, kind in KINDS.items() if Path(path).match(pattern)), File)
    return kind(path, str(ROOT), config.site_dir, use_directory_urls=False, dest_uri=address(path))


def address(path: str) -> str:
    """Return the address in the site of a file of the repository."""
    for pattern, short in ADDRESSES.items():
        if match := re.fullmatch(pattern, path):
            return match.expand(short)
    return path


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Let numbers of the paper, such as `Eq. 4`, lead to their rows of its page."""
    if not page.url.startswith(OF_THE_PAPER):
        return html
    to = get_relative_url(address(paper.PAGE.relative_to(ROOT).as_posix()), page.url)
    return code.change_text(html, partial(paper.link_labels, page=to))


def on_post_page(output: str, **_: object) -> str:
    """Give the theme's dialogue a name, for those who hear the page."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


@event_priority(-200)  # after the plugin `offline` has read the index
def on_post_build(config: MkDocsConfig) -> None:
    """Remove what nobody reads, and what would make two builds of the same files differ."""
    site = Path(config.site_dir)
    unused = [site / name for name in UNUSED]
    for path in filter(Path.is_file, [*site.glob("**/*.map"), *unused, *site.glob(f"{UNUSED[0]}/**/*")]):
        path.unlink()


class Formulas(Extension):
    """Formulas between one or two dollar signs, as MathML that a browser shows without a program."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Add the patterns after that of code, and before that of escaped characters."""
        md.inlinePatterns.register(Formula(r"\$\$(.+?)\$\$", md, "block"), "block formulas", 187)
        md.inlinePatterns.register(
            Formula(r"(?<![\w$])\$(?![\s$])([^$]+?)(?<!\s)\$(?![\w$])", md, "inline"), "formulas", 186
        )


class Formula(InlineProcessor):
    """A formula in LaTeX."""

    def __init__(self, pattern: str, md: Markdown, display: str) -> None:
        super().__init__(pattern, md)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[Element | str, int, int]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the formula as HTML that Markdown leaves as it is."""
        formula = convert(m[1], display=self.display)
        if self.display == "block" or len(m[1]) > LONG:
            formula = f'<span class="formula {self.display}" tabindex="0">{formula}</span>'
        return self.md.htmlStash.store(formula), m.start(), m.end()
