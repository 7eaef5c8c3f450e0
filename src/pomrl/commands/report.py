"""Write the results of studies, or of any stored experiments, into one page: pomrl report STUDY ... | KEY=VALUE ..."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pomrl.commands.arguments import Parser, add_asked, chosen, filters
from pomrl.commands.errors import one_line_errors
from pomrl.commands.plot import short_name
from pomrl.commands.terminal import warn
from pomrl.configuration.study import Study, find
from pomrl.drawing.files import Sidecar, save
from pomrl.drawing.plots import Shown, draw
from pomrl.outputs import outputs
from pomrl.report import ReportError, selection_page
from pomrl.report.figure_files import FigureFiles
from pomrl.report.page import html, shown_of
from pomrl.results.chosen_runs import Chosen
from pomrl.results.summary_tables import counterparts
from pomrl.store.derived import DerivedFiles
from pomrl.store.provenance import commit


@one_line_errors(ReportError, ValueError)
def main() -> None:
    """Write the report and print its path; print one line and exit with status 1 if that is not possible."""
    parser = Parser(prog="pomrl report", description="Write results into one page.")
    add_asked(parser, "STUDY")
    parser.add_argument("--against", metavar="KEY=VALUE", help="a method to compare these with: estimator=pomrl")
    arguments = parser.parse_intermixed_args()
    named = [word for word in arguments.words if "=" not in word]
    if not named and not arguments.words and not arguments.where:
        parser.error("name studies, or settings of stored experiments, such as tag=dev")
    if not named:
        print(write_selection(chosen(arguments), arguments.against))
        return
    if len(named) < len(arguments.words) or arguments.where or arguments.against:
        parser.error("name studies, or settings of stored experiments with --where and --against, not both")
    print(write([find(word) for word in named]))


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


def write_selection(chosen: Chosen, against: str | None = None) -> Path:
    """Write the page of stored experiments, and its figures, and return its path.

    Raises:
        ValueError: They cannot be compared with the method that is named.
    """
    compared = filters([against]) if against else selection_page.reference(chosen)
    words = [*sys.argv[1:]]
    command = shlex.join(["pomrl", "report", *words])
    folder = outputs() / "reports" / short_name("_".join(sorted(words)))
    figures: list[FigureFiles] = []
    remarks: list[str] = []
    try:
        counterparts(chosen, compared or {})
    except ValueError as error:
        if against:
            raise
        compared, remarks = None, [f"Nothing is compared in pairs: {error}."]
    for name, method in {"losses": None, "differences": compared}.items():
        if name == "losses" or method:
            try:
                figures.append(_figure(name, chosen, method, folder, command))
            except ValueError as error:
                remarks.append(f"There is no figure of {name}: {error}.")
    page = selection_page.html(chosen, figures, command, compared, remarks)
    path = folder / "index.html"
    DerivedFiles(path.with_suffix(".json")).write({path.name: page.encode()}, {"command": command, **commit()})
    for note in chosen.notes:
        warn(note)
    return path


def _figure(name: str, chosen: Chosen, method: Mapping[str, Any] | None, folder: Path, command: str) -> FigureFiles:
    """Draw means against tasks, or their differences from a method, and return the files."""
    drawing = draw(chosen, shown=Shown(against=method))
    title = f"Differences from {', '.join(map(str, method.values()))}" if method else "Planning loss"
    sidecar = Sidecar(name, command, f"{title} in each task.", **commit(), sweeps={"stored": chosen.sources()})
    save(drawing, folder, name, sidecar)
    return FigureFiles(name, folder, command=command)
