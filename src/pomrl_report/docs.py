"""The command `docs`."""

import webbrowser

from pomrl.configuration.sources import beside_the_package
from pomrl.outputs import outputs
from pomrl.store.derived import write_file
from pomrl_report.markup import documents
from pomrl_report.rendering import render

FIRST = ("start", "running")
"""The documents to begin with."""


def docs() -> None:
    """Open the documents in a browser.

    The path of the first page is printed; no network is needed. Without a built site, all documents are on one page.
    """
    page = beside_the_package("site") / "index.html"
    if not page.is_file():
        page = outputs() / "docs" / "index.html"
        write_file(page, one_page().encode(), "pomrl docs")
    print(page)
    webbrowser.open(page.absolute().as_uri())


def one_page() -> str:
    """Return all documents as one HTML page."""
    paths = {path.stem: path for path in sorted(beside_the_package("docs").glob("*.md"))}
    texts = {name: paths[name].read_text(encoding="utf-8") for name in dict.fromkeys([*FIRST, *paths])}
    return render("docs.html.j2", documents=documents(texts, {f"{name}.md": f"#{name}" for name in texts}))
