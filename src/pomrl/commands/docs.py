"""Open the documents: the site that an installed package contains, or that was built in a checkout.

The command prints the path of the first page and opens it in a browser. No address outside the site is needed to read
it or to search in it.
"""

import webbrowser

from pomrl.commands.arguments import Parser
from pomrl.commands.terminal import exit_with
from pomrl.configuration.sources import beside_the_package


def main(parser: Parser) -> None:
    """Run the command with the arguments of the process; exit with status 1 and one line where no site was built."""
    parser.parse_args()
    page = beside_the_package("site") / "index.html"
    if not page.is_file():
        exit_with(f"{page}: it is not built; in a checkout, pip install '.[site]' and python -m mkdocs build --strict")
    print(page)
    webbrowser.open(page.as_uri())
