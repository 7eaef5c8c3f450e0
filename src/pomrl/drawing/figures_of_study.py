"""Draw the figures of a study from what is stored: NAME.pdf, NAME.png, NAME.csv and NAME.json for each version.

NAME shows the promised runs with the bands of the caption, NAME_intervals all runs that its curves share. Names of
files begin with the number in a paper: figure_5_NAME.pdf.
"""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from joblib import cpu_count, delayed

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import in_words, place_of
from pomrl.configuration.study import Study
from pomrl.configuration.sweeps import Setting
from pomrl.configuration.variants import Variant
from pomrl.drawing.figure import Figure, figures_of, file_name
from pomrl.drawing.files import Sidecar, save
from pomrl.drawing.series import Drawing
from pomrl.execution.local import processes
from pomrl.results.sweep_results import (
    StoredSweeps,
    SweepResults,
    load_sweep,
    promised_runs,
    shared_runs,
    simulation_origin,
)
from pomrl.store import StoreError

MIN_PARALLEL_VERSIONS = 5
"""Fewer versions than this are drawn in this process: starting others would take longer."""

FOLDER = "figures"
"""The folder of figures in the outputs of a study; those of variants have folders in it."""


Loaded = dict[tuple[str, int], SweepResults]
"""Sweeps that were read, by their names and the most runs of each experiment."""


@dataclass(frozen=True)
class Selection:
    """Versions of figures of a study, drawn under one variant."""

    study: Study
    names: Sequence[str]
    """The names of figures, or of versions with intervals."""
    variant: Variant | None = None
    """The variant; None for the experiments as published."""

    @property
    def folder(self) -> Path:
        """The folder that the files are written to."""
        of_study = self.study.outputs / FOLDER
        name = self.variant.name if self.variant else self.study.unchanged
        return of_study if name == self.study.unchanged else of_study / name

    @property
    def command(self) -> str:
        """The command that draws a figure of this selection, without the name of the figure."""
        words = ["pomrl", "reproduce", self.study.word, "figures"]
        if self.variant and self.variant.name != self.study.unchanged:
            words += ["--variants", self.variant.name]
        return shlex.join(words)


@dataclass(frozen=True)
class DrawnFigure:
    """The outcome of drawing a version of a figure."""

    name: str
    """The name of the version."""
    files: list[Path] = field(default_factory=list)
    """The files of the figure, if it is drawn."""
    problem: str = ""
    """A line that says why the figure is not drawn; empty if it is."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """For each sweep with fewer runs than it promises, a line that says which are missing."""


def versions(study: Study, wanted: Sequence[str] = ()) -> list[str]:
    """Return the names of the versions of figures of a study, of all figures or of those that words name.

    Raises:
        ConfigError: There is no figure of such a name or number.
    """
    figures = figures_of(study)
    names = [figure.name for figure in figures]
    named = {word: [name for figure in figures for name in figure.versions_of(word)] for word in wanted or names}
    if unknown := [word for word, versions in named.items() if not versions]:
        raise ConfigError(f"{unknown[0]}: {study.word} has no such figure; there are {', '.join(names)}")
    return list(dict.fromkeys(chain.from_iterable(named.values())))


def version_of(study: Study, name: str) -> Figure:
    """Return the figure that has a version of this name."""
    return next(figure for figure in figures_of(study) if name in figure.versions)


def files_of(study: Study, name: str) -> str:
    """Return the name of the files of a version; that of a figure which a page of the study makes is its own."""
    docstrings = [figure.docstring for figure in figures_of(study) if name in figure.versions]
    return file_name(name, docstrings[0]) if docstrings else name


def draw(selections: Sequence[Selection]) -> Iterator[DrawnFigure]:
    """Draw figures in parallel, and yield each version; no file may belong to two selections."""
    of_figures = [replace(selection, names=names) for selection in selections for names in _by_figure(selection)]
    workers = (
        1 if sum(len(of.names) for of in of_figures) < MIN_PARALLEL_VERSIONS else min(cpu_count(), len(of_figures))
    )
    return chain.from_iterable(processes(workers)(delayed(_draw_versions)(of_figure) for of_figure in of_figures))


def _by_figure(selection: Selection) -> list[list[str]]:
    """Return the names of the versions of each figure of a selection."""
    of_figures: dict[str, list[str]] = {}
    for name in selection.names:
        of_figures.setdefault(version_of(selection.study, name).name, []).append(name)
    return list(of_figures.values())


def _draw_versions(selection: Selection) -> list[DrawnFigure]:
    """Draw versions of one figure, which share what they read."""
    loaded: Loaded = {}
    return [_draw(selection, name, loaded) for name in selection.names]


def _draw(selection: Selection, name: str, loaded: Loaded) -> DrawnFigure:
    """Draw a version of a figure."""
    lacking: dict[str, str] = {}
    try:
        sweeps = load_sweeps(selection, name, loaded)
        shown = version_of(selection.study, name).sweeps
        lacking |= {sweep: sweeps[sweep].notes[0] for sweep in shown if sweeps[sweep].notes}
        drawing, sidecar = draw_version(selection, name, sweeps)
        return DrawnFigure(
            name, save(drawing, selection.folder, files_of(selection.study, name), sidecar), lacking=lacking
        )
    except (ValueError, StoreError, OSError) as error:
        problem = str(error)
    except Exception as error:  # whatever code of somebody's own raises
        module = sys.modules[version_of(selection.study, name).module]
        problem = f"{place_of(error, str(module.__file__))}: {in_words(error)}"
    return DrawnFigure(name, problem=f"{name} is not drawn: {problem}", lacking=lacking)


def load_sweeps(selection: Selection, name: str, loaded: Loaded | None = None) -> StoredSweeps:
    """Load what a version of a figure shows: the runs that all of its experiments have.

    They are at most those that sweeps promise, or with intervals those that claims are judged on by default, so that no
    picture depends on what else is stored.
    """
    figure, loaded = version_of(selection.study, name), {} if loaded is None else loaded
    shown = shown_settings(figure, selection)
    shared = shared_runs(chain.from_iterable(shown.values()))
    found: dict[str, Any] = {}
    for sweep, settings in shown.items():
        judged = 0 if name == figure.name else selection.study.described.runs
        most = min(shared, max(promised_runs(settings), judged))
        if (sweep, most) not in loaded:
            loaded[sweep, most] = load_sweep(settings, most)
        found[sweep] = loaded[sweep, most]
    return found | {simulation.name: simulation.load() for simulation in figure.simulations}


def draw_version(selection: Selection, name: str, sweeps: StoredSweeps) -> tuple[Drawing, Sidecar]:
    """Draw a version of a figure, and return what its sidecar says as well.

    Raises:
        ValueError: None of the runs that it shows is stored, or it cannot be drawn.
    """
    figure, variant = version_of(selection.study, name), selection.variant
    if figure.sweeps and not any(sweeps[sweep].results for sweep in figure.sweeps):
        raise ValueError(f"nothing is stored of {', '.join(figure.sweeps)}")
    drawing = figure.draw_version(sweeps, with_intervals=name != figure.name)
    return drawing, Sidecar(
        name,
        command=f"{selection.command} --only {name}",
        docstring=figure.docstring,
        variant=variant.name if variant else selection.study.unchanged,
        sweeps={selection.study.option(sweep): sweeps[sweep].origins for sweep in figure.sweeps},
        simulations={simulation.name: [simulation_origin(simulation)] for simulation in figure.simulations},
    )


def shown_settings(figure: Figure, selection: Selection) -> dict[str, list[Setting]]:
    """Return the experiments of each sweep that a figure shows; all of them where its series do not say which.

    Raises:
        ConfigError: A series asks for a value that the sweep does not have.
    """
    shown = {}
    for sweep in figure.sweeps:
        settings = selection.study.settings(sweep, selection.variant)
        for one in (one for one in figure.series if one.sweep == sweep):
            one.refuse_unknown([setting.varied for setting in settings])
        of_series = [setting for setting in settings if any(one.shows(sweep, setting.varied) for one in figure.series)]
        shown[sweep] = of_series or settings
    return shown
