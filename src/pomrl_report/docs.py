"""The command `docs`."""

import webbrowser

from pomrl.configuration.sources import beside_the_package
from pomrl.configuration.studies import find
from pomrl.outputs import outputs
from pomrl.store.derived import write_file
from pomrl_report.markup import documents
from pomrl_report.rendering import render

FIRST = ("README", "start", "running")
"""The documents to begin with."""

OF_THE_PAPER = ("results", "theory")
"""The pages of the paper's study among the documents."""


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
    """Return all documents as one HTML page, in the order of their titles after the first ones."""
    pages = find("pomrl2023").folder / "pages"
    paths = [beside_the_package("README.md"), *beside_the_package("docs").glob("*.md")]
    paths += [pages / f"{name}.md" for name in OF_THE_PAPER]
    by_name = {path.stem: path.read_text(encoding="utf-8") for path in paths if path.is_file()}
    first = {name: by_name.pop(name) for name in FIRST if name in by_name}  # a wheel has no README
    texts = first | dict(sorted(by_name.items(), key=lambda item: item[1].casefold()))
    return render("docs.html.j2", documents=documents(texts, {f"{name}.md": f"#{name}" for name in texts}))
