"""Open the documents in a browser: pomrl docs. It prints the path of the first page; no network is needed.

Where a site with search was built, it is that one. Otherwise the same documents are written into one page.
"""

import webbrowser

from pomrl.commands.arguments import Parser
from pomrl.configuration.sources import beside_the_package
from pomrl.outputs import outputs
from pomrl.report.markup import documents
from pomrl.report.rendering import render
from pomrl.store.derived import write_file

FIRST = ("start", "running")
"""The documents that one begins with."""


def main(parser: Parser) -> None:
    """Run the command with the arguments of the process."""
    parser.parse_args()
    page = beside_the_package("site") / "index.html"
    if not page.is_file():
        page = outputs() / "docs" / "index.html"
        write_file(page, one_page().encode(), "pomrl docs")
    print(page)
    webbrowser.open(page.absolute().as_uri())


def one_page() -> str:
    """Return all documents as one page in HTML."""
    paths = {path.stem: path for path in sorted(beside_the_package("docs").glob("*.md"))}
    texts = {name: paths[name].read_text(encoding="utf-8") for name in dict.fromkeys([*FIRST, *paths])}
    return render("docs.html.j2", documents=documents(texts, {f"{name}.md": f"#{name}" for name in texts}))
