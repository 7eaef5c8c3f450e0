"""Write the results of each study, or of any stored experiments, into a page: pomrl report STUDY ... | KEY=VALUE ..."""

import shlex
import sys
from pathlib import Path

from pomrl.commands.arguments import Parser, add_asked, choose_experiments
from pomrl.commands.errors import one_line_errors
from pomrl.commands.plot import short_name
from pomrl.commands.terminal import warn
from pomrl.configuration.study import Study, find
from pomrl.drawing.figure import figures_of
from pomrl.drawing.files import Sidecar, save
from pomrl.drawing.plots import draw
from pomrl.judging.claim import claims_of
from pomrl.outputs import outputs
from pomrl.report.figure_files import FigureFiles
from pomrl.report.page import html, selection_page
from pomrl.results.selection import choose
from pomrl.results.sweep_results import SweepResults
from pomrl.store.derived import write_file


@one_line_errors(ValueError)
def main(parser: Parser) -> None:
    """Write the report and print its path; print one line and exit with status 1 if that is not possible."""
    add_asked(parser, "STUDY")
    arguments = parser.parse_intermixed_args()
    named = [word for word in arguments.words if "=" not in word]
    settings = len(named) < len(arguments.words) or arguments.where
    if bool(named) == bool(settings):
        parser.error("name studies, or settings of stored experiments, not both")
    if named:
        for study in map(find, named):
            print(write(study))
    else:
        command, folder = ["pomrl", "report", *sys.argv[1:]], outputs() / "reports" / short_name(sys.argv[1:])
        print(write_selection(choose_experiments(arguments), folder, shlex.join(command)))


def write(study: Study) -> Path:
    """Write the page of a study into its outputs, and return the path.

    That of a study with neither claims nor figures is the page of what is stored of its sweeps.
    """
    command, folder = f"pomrl report {study.word}", study.outputs / "report"
    if study.sweeps and not claims_of(study) and not figures_of(study):
        words = [f"experiment={','.join(map(study.option, study.sweeps))}"]
        results = choose(words, sources=study.sources)
        return write_selection(results, folder, command, study.described.title)
    return _write(folder, html(study, command, warn), command)


def _write(folder: Path, page: str, command: str) -> Path:
    path = folder / "index.html"
    write_file(path, page.encode(), command)
    return path


def write_selection(results: SweepResults, folder: Path, command: str, title: str = "") -> Path:
    """Write the page of stored experiments, with a figure of their losses in each task, into a folder; return its path.

    The title is that of their study, if they are of one.
    Experiments that a figure cannot tell apart have a page without one, which says so.
    """
    figure, remark, name = None, "", "losses"
    try:
        sidecar = Sidecar(name, command, "Planning loss in each task.", sweeps={"stored": results.origins})
        save(draw(results), folder, name, sidecar)
        figure = FigureFiles(name, folder)
    except ValueError as error:
        remark = f"There is no figure of losses: {error}."
    for note in results.notes:
        warn(note)
    return _write(folder, selection_page(results, figure, command, remark, title), command)
