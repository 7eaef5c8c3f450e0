"""The command `python -m src.report`, which writes all results into one page, outputs/report/index.html."""

from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.configuration.sources import beside_the_package
from pomrl.outputs import outputs
from pomrl.report import ReportError
from pomrl.report.page import Documents, html
from pomrl.store.derived import DerivedFiles


@one_line_errors(ReportError)
def main() -> None:
    """Write the report and print its path; print one line and exit with status 1 if that is not possible."""
    parser = Parser(prog="python -m src.report", description="Write the report of what is stored.")
    parser.parse_args()
    print(write(outputs()))


def write(folder: Path) -> Path:
    """Write the page for a folder of outputs, and return the page's path in it."""
    page = html(folder, documents())
    path = folder / "report" / "index.html"
    DerivedFiles(path.with_suffix(".json")).write({path.name: page.encode()}, {})
    return path


def documents() -> Documents:
    """Read the documents of this repository that the page contains."""
    return Documents(errata=_read("ERRATA.md"), theory=_read("docs/theory.md"), readings=_read("docs/readings.md"))


def _read(document: str) -> str:
    return beside_the_package(document).read_text(encoding="utf-8")
