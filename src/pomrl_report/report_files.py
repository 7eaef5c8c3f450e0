"""Write reports of studies and of stored experiments."""

from collections.abc import Callable
from pathlib import Path

from pomrl.configuration.studies import Study
from pomrl.drawing.figure import figures_of
from pomrl.drawing.picture_files import Sidecar, save
from pomrl.drawing.plots import draw
from pomrl.judging.claim import claims_of
from pomrl.results.selection import choose
from pomrl.results.sweep_results import SweepResults
from pomrl.store.derived import write_file
from pomrl_report.figure_files import FigureFiles
from pomrl_report.html_pages import StudyPage, html, selection_page

Warn = Callable[[str], object]


def write(study: Study, warn: Warn) -> Path:
    """Write the page of a study, with pictures and tables beside it; return its path.

    Alone, the page still has all words and numbers. Without claims and figures, the page shows the stored sweeps.
    """
    command, folder = f"pomrl reproduce {study.argument} report", study.outputs / "report"
    if study.sweeps and not claims_of(study) and not figures_of(study):
        selectors = [f"experiment={','.join(map(study.option, study.sweeps))}"]
        selection = choose(selectors, sources=study.sources)
        return write_selection(selection, folder, command, warn, study.config.title)
    page = StudyPage(study)
    path = _write(folder, html(page, command, warn), command)
    for figure in page.drawn_figures:
        figure.write(folder, command)
    return path


def _write(folder: Path, page: str, command: str) -> Path:
    path = folder / "index.html"
    write_file(path, page.encode(), command)
    return path


def write_selection(selection: SweepResults, folder: Path, command: str, warn: Warn, title: str = "") -> Path:
    """Write the page of stored experiments; return its path.

    If too many settings vary for a figure, a remark replaces it.
    """
    figure, remark, name = None, "", "losses"
    try:
        common = selection.with_common_runs()
        sidecar = Sidecar(name, command, "Planning loss in each task.", sweeps={"stored": common.origins})
        save(draw(common), folder, name, sidecar)
        figure = FigureFiles(name, folder)
    except ValueError as error:
        remark = f"Losses are not drawn: {error}."
    for note in selection.notes:
        warn(note)
    return _write(folder, selection_page(selection, figure, command, remark, title), command)
