"""Write the results of studies into one page: pomrl report STUDY [STUDY ...]."""

from collections.abc import Sequence
from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import warn
from pomrl.configuration.study import Study, find
from pomrl.report import ReportError
from pomrl.report.page import html, shown_of
from pomrl.store.derived import DerivedFiles
from pomrl.store.provenance import commit


@one_line_errors(ReportError)
def main() -> None:
    """Write the report and print its path; print one line and exit with status 1 if that is not possible."""
    parser = Parser(prog="pomrl report", description="Write the results of studies into one page.")
    parser.add_argument("study", nargs="+", metavar="STUDY", help="names of shipped studies, or folders of your own")
    print(write([find(word) for word in parser.parse_args().study]))


def write(studies: Sequence[Study]) -> Path:
    """Write the page of studies into the outputs of the first one, and return its path."""
    command = f"pomrl report {' '.join(study.word for study in studies)}"
    path = studies[0].outputs / "report" / "index.html"
    shown = shown_of(studies)
    page = html(shown, command)
    for each in shown:
        if each.older:
            warn(f"{each.study.word}: {each.older}")
    DerivedFiles(path.with_suffix(".json")).write({path.name: page.encode()}, {"command": command, **commit()})
    return path
