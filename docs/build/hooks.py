"""Hooks of MkDocs: the files of the site, their addresses, and formulas.

Files keep their paths in the repository, so that links between them need no change. Only their addresses in the site
are short.
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

from pomrl.store import manifests  # noqa: E402
from pomrl_report.address import repository_address  # noqa: E402

STUDIES = ("src/pomrl_studies/*", "packages/pomrl-papers/src/pomrl_papers/*")
"""The folders of studies."""


def in_studies(*names: str) -> tuple[str, ...]:
    """Return patterns of files in the folders of studies."""
    return tuple(f"{study}/{name}" for study in STUDIES for name in names)


TABLES = in_studies("claims.csv", "ledger.yaml", "pages/*.csv")
"""The tables of studies; the site shows them as pages."""

SOURCES = (
    *("*.md", "CITATION.cff", "docs/*.md", "outputs/readme/*.png", "docs/build/*.js", "docs/build/*.css"),
    *("src/pomrl_report/templates/chart.js", "src/pomrl_studies/pomrl2023/pages/planning.js"),
    *in_studies("pages/*.md", "study.yaml", "claims/*.py", "claims.py", "figures/*.py", "figures.py"),
    *("packages/*/*.md", "packages/*/docs/*.md", "packages/*/benchmarks/results/*.csv"),
    *TABLES,
    "outputs/studies/*/report/*.*",
    *(f"src/pomrl_studies/pomrl2023/{name}" for name in ("variants.py", "digitised.csv")),
    "src/pomrl/study.py",
    *(
        "examples/tutorial.ipynb",
        "examples/*.py",
        "examples/patience/figures.py",
        "examples/patience/study.yaml",
        "examples/notebook/*.py",
        "examples/notebook/README.md",
    ),
)
"""All files of the repository in the site: pages, pictures and link targets."""

KINDS = {"*.py": code.CodeFile, **dict.fromkeys(TABLES, tables.TableFile)}
"""The kinds of pages from code and tables, by patterns of paths."""

ADDRESSES = {
    r"home\.md": "index.html",
    r"docs/(.+)\.md": r"\1.html",
    r".+/pomrl_(?:papers|studies)/(\w+)/pages/(.+)\.(?:md|csv)": r"studies/\1/\2.html",
    r".+/pomrl_(?:papers|studies)/(\w+)/(claims|ledger)\.(?:csv|yaml)": r"studies/\1/\2.html",
    r"outputs/studies/(\w+)/report/(.+)": r"reports/\1/\2",
    r"(.+)\.md": r"\1.html",
    r".+/pomrl_(?:papers|studies)/(.+)\.py": r"code/pomrl_studies/\1.html",
    r"(?:src/)?(.+)\.py": r"code/\1.html",
}
"""The addresses of pages, by patterns of paths; the first match counts."""

UNUSED = ("assets/javascripts/lunr", "sitemap.xml", "sitemap.xml.gz", "search/search_index.json")
"""Files of the theme without use in a site on a disk."""

OF_THE_PAPER = ("reference/", "code/", "configuration.html", "studies/pomrl2023/")
"""The beginnings of addresses of pages with numbers of the paper."""

LONG = 40
"""The length above which formulas scroll, in characters, because of phones."""


@event_priority(100)  # before mkdocstrings reads it
def on_config(config: MkDocsConfig) -> None:
    """Add formulas, the folder of docstrings, the commit below each page, and the address of the project."""
    if address := repository_address():
        config.repo_url, config.repo_name = address, "Repository"
    config.copyright = f"Commit {manifests.commit()['commit'] or 'unknown'}"
    config.markdown_extensions.append(Formulas())  # pyright: ignore[reportArgumentType]
    config.plugins["mkdocstrings"].config.handlers["python"]["paths"] = [str(SOURCE)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of the site: theme, repository and generated pages."""
    theme_files = [file for file in files if file.src_dir != config.docs_dir]
    source_paths = {path.relative_to(ROOT).as_posix() for path in chain(*map(ROOT.glob, SOURCES))} | paper.sources()
    ours = [site_file(path, config) for path in sorted(source_paths)]
    generated_files = [File.generated(config, path, content=page()) for path, page in PAGES.items()]
    for file in generated_files:
        file.dest_uri = address(file.src_uri)
    return Files([*theme_files, *ours, *generated_files])


def site_file(path: str, config: MkDocsConfig) -> File:
    """Return a file of the site; code and tables become pages."""
    kind = next((kind for pattern, kind in KINDS.items() if Path(path).match(pattern)), File)
    return kind(path, str(ROOT), config.site_dir, use_directory_urls=False, dest_uri=address(path))


def address(path: str) -> str:
    """Return the address of a file in the site."""
    for pattern, short in ADDRESSES.items():
        if match := re.fullmatch(pattern, path):
            return match.expand(short)
    return path


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Return a page; that from the paper to the code has links to lines."""
    return paper.page() if page.file.src_uri == paper.PAGE.relative_to(ROOT).as_posix() else markdown


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Link numbers of the paper, such as `Eq. 4`, to docs/paper-to-code.md."""
    if not page.url.startswith(OF_THE_PAPER):
        return html
    to = get_relative_url(address(paper.PAGE.relative_to(ROOT).as_posix()), page.url)
    return code.change_text(html, partial(paper.link_labels, page=to))


def on_post_page(output: str, **_: object) -> str:
    """Name the dialogue of the theme, for screen readers."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


@event_priority(-200)  # after the plugin `offline` has read the index
def on_post_build(config: MkDocsConfig) -> None:
    """Remove unused files, and files with differences between two builds."""
    site = Path(config.site_dir)
    unused = [site / name for name in UNUSED]
    for path in filter(Path.is_file, [*site.glob("**/*.map"), *unused, *site.glob(f"{UNUSED[0]}/**/*")]):
        path.unlink()


class Formulas(Extension):
    """Formulas between one or two dollar signs, as MathML without a script."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Add the patterns between the patterns of code and of escaped characters."""
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
        """Return the formula as protected HTML, with its place in the text."""
        formula = convert(m[1], display=self.display)
        if self.display == "block" or len(m[1]) > LONG:
            formula = f'<span class="formula {self.display}" tabindex="0">{formula}</span>'
        return self.md.htmlStash.store(formula), m.start(), m.end()
