"""Draw the figures of a study from stored runs.

The files of a numbered figure have a prefix, as in figure_5_NAME.pdf. NAME shows the runs required by its sweeps;
NAME_intervals may show more, for claims.
"""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from joblib import cpu_count, delayed

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import format_error, place_of
from pomrl.configuration.studies import Study
from pomrl.configuration.sweeps import Setting
from pomrl.configuration.variants import Variant
from pomrl.drawing.figure import Figure, figure_number, figures_of, file_name
from pomrl.drawing.picture_files import Sidecar, save
from pomrl.drawing.series import Drawing
from pomrl.execution.local import processes
from pomrl.results.sweep_results import (
    StoredSweeps,
    SweepResults,
    load_sweep,
    max_requested_runs,
    shared_runs,
    simulation_origin,
)
from pomrl.store import StoreError

MIN_PARALLEL_VERSIONS = 5
"""The smallest number of versions drawn in parallel. For fewer, starting processes takes longer than drawing."""

JOBS_PER_WORKER = 4
"""The number of jobs for each worker; with more, a sweep is composed in several jobs, and with fewer, workers wait."""

FOLDER = "figures"
"""The folder of figures in the outputs of a study, with a subfolder for each variant."""

SweepCache = dict[tuple[str, int], SweepResults]
"""Loaded sweeps by name and largest number of runs."""


@dataclass(frozen=True)
class Selection:
    """Versions of figures of a study under one variant."""

    study: Study
    names: Sequence[str]
    """The names of figures, or of versions with intervals."""
    variant: Variant | None = None
    """The variant; None for the experiments as published."""

    @property
    def variant_name(self) -> str:
        return self.variant.name if self.variant else self.study.unchanged

    @property
    def folder(self) -> Path:
        folder = self.study.outputs / FOLDER
        return folder if self.variant_name == self.study.unchanged else folder / self.variant_name

    def command(self, name: str) -> str:
        is_unchanged = self.variant_name == self.study.unchanged
        variants = [] if is_unchanged else ["--variants", self.variant_name]
        return f"{shlex.join(['pomrl', 'reproduce', self.study.argument, 'figures', *variants])} --only {name}"


@dataclass(frozen=True)
class DrawnFigure:
    """The outcome of drawing a version."""

    name: str
    files: list[Path] = field(default_factory=list)
    problem: str = ""
    """The reason why the figure is not drawn, in one line; empty if it is."""
    missing_runs: Mapping[str, str] = field(default_factory=dict)
    """A line for each sweep with fewer runs than required, by name."""


def versions(study: Study, names: Sequence[str] = ()) -> list[str]:
    """Return the requested versions, by default all; ConfigError if unknown."""
    figures = figures_of(study)
    available = [figure.name for figure in figures]
    matches = {
        name: [*chain.from_iterable(figure.match_versions(name) for figure in figures)] for name in names or available
    }
    if unknown := [name for name, versions in matches.items() if not versions]:
        raise ConfigError(f"{study.argument}: unknown figure {unknown[0]!r}; available: {', '.join(available)}")
    return list(dict.fromkeys(chain.from_iterable(matches.values())))


def describe_sweeps(study: Study, name: str) -> str:
    """Name the sweeps of a figure, and the override to select them.

    The text is empty without a figure of this name or number.
    """
    matches = [figure for figure in figures_of(study) if figure.match_versions(name)]
    published = [figure for figure in matches if not figure.variant] or matches
    names = chain.from_iterable(figure.sweeps for figure in published)
    sweeps = list(dict.fromkeys(map(study.sweep_argument, names)))
    if not sweeps:
        return ""
    number = figure_number(published[0].docstring)
    label = f"Figure {number}" if number else f"figure {published[0].name}"
    noun, end = ("sweeps", ", in pomrl run with -m") if len(sweeps) > 1 else ("sweep", "")
    return f"{label} shows the {noun} {', '.join(sweeps)}; use experiment={','.join(sweeps)}{end}"


def find_figure(study: Study, version: str) -> Figure:
    """Find the figure with this version."""
    return next(figure for figure in figures_of(study) if version in figure.versions)


def file_stem(study: Study, name: str) -> str:
    """Return the file name of a version or page's figure, without suffix."""
    docstrings = [figure.docstring for figure in figures_of(study) if name in figure.versions]
    return file_name(name, docstrings[0]) if docstrings else name


def draw(selections: Sequence[Selection]) -> Iterator[DrawnFigure]:
    """Draw figures in parallel; selections must not share files."""
    figures = list(chain.from_iterable(map(_split_by_figure, selections)))
    is_parallel = sum(len(selection.names) for selection in figures) >= MIN_PARALLEL_VERSIONS
    workers = min(cpu_count(), len(figures)) if is_parallel else 1
    if workers > 1:  # a job with several figures of a sweep composes it once
        figures.sort(key=lambda selection: find_figure(selection.study, selection.names[0]).sweeps)
    size = max(1, len(figures) // (workers * JOBS_PER_WORKER)) if workers > 1 else 1
    jobs = (figures[first : first + size] for first in range(0, len(figures), size))
    return chain.from_iterable(processes(workers)(delayed(_draw_figures)(job) for job in jobs))


def _split_by_figure(selection: Selection) -> list[Selection]:
    groups = groupby(selection.names, lambda name: find_figure(selection.study, name).name)
    return [replace(selection, names=[*names]) for _, names in groups]


def _draw_figures(selections: Sequence[Selection]) -> list[DrawnFigure]:
    return [version for selection in selections for version in _draw_versions(selection)]


def _draw_versions(selection: Selection) -> list[DrawnFigure]:
    cache: SweepCache = {}
    return [_draw(selection, name, cache) for name in selection.names]


def _draw(selection: Selection, name: str, cache: SweepCache) -> DrawnFigure:
    missing_runs: dict[str, str] = {}
    figure = find_figure(selection.study, name)
    try:
        sweeps = load_sweeps(selection, name, cache)
        missing_runs |= {sweep: sweeps[sweep].notes[0] for sweep in figure.sweeps if sweeps[sweep].notes}
        drawing, sidecar = draw_version(selection, name, sweeps)
        files = save(drawing, selection.folder, file_name(name, figure.docstring), sidecar)
        return DrawnFigure(name, files, missing_runs=missing_runs)
    except (ValueError, StoreError, OSError) as error:
        problem = str(error)
    except Exception as error:  # user-defined code may raise anything
        problem = f"{place_of(error, str(sys.modules[figure.module].__file__))}: {format_error(error)}"
    return DrawnFigure(name, problem=f"{name} is not drawn: {problem}", missing_runs=missing_runs)


def load_sweeps(selection: Selection, name: str, cache: SweepCache | None = None) -> StoredSweeps:
    """Load the runs shared by a version's experiments; if no run is missing, all runs of each sweep.

    Their number is at most the required number or, with intervals, the number for claims if larger. So additional
    stored runs change no figure.
    """
    figure, cache = find_figure(selection.study, name), {} if cache is None else cache
    experiments = shown_settings(figure, selection)
    shared = {sweep: shared_runs(settings) for sweep, settings in experiments.items()}
    fewest = min(filter(None, shared.values()), default=0)
    claim_runs = 0 if name == figure.name else selection.study.config.runs
    requested = {sweep: max_requested_runs(settings) for sweep, settings in experiments.items()}
    is_complete = all(shared[sweep] >= runs for sweep, runs in requested.items())
    sweeps: dict[str, Any] = {}
    for sweep, settings in experiments.items():
        max_runs = min(fewest, max(requested[sweep], claim_runs))
        if is_complete:
            max_runs = max(max_runs, requested[sweep])
        if (sweep, max_runs) not in cache:
            cache[sweep, max_runs] = load_sweep(settings, max_runs)
        sweeps[sweep] = cache[sweep, max_runs]
    return sweeps | {simulation.name: simulation.load() for simulation in figure.simulations}


def draw_version(selection: Selection, name: str, sweeps: StoredSweeps) -> tuple[Drawing, Sidecar]:
    """Draw a version and make its sidecar; ValueError without stored runs."""
    figure = find_figure(selection.study, name)
    if figure.sweeps and not any(sweeps[sweep].results for sweep in figure.sweeps):
        raise ValueError(f"no stored runs of {', '.join(figure.sweeps)}")
    drawing = figure.draw(sweeps, None if name == figure.name else "ci")
    return drawing, Sidecar(
        name,
        command=selection.command(name),
        docstring=figure.docstring,
        variant=figure.variant or selection.variant_name,
        sweeps={selection.study.option(sweep): sweeps[sweep].origins for sweep in figure.sweeps},
        simulations={simulation.name: [simulation_origin(simulation)] for simulation in figure.simulations},
    )


def _shown_variant(figure: Figure, selection: Selection) -> Variant | None:
    own = [variant for variant in selection.study.variants if variant.name == figure.variant]
    return own[0] if own else selection.variant


def shown_settings(figure: Figure, selection: Selection) -> dict[str, list[Setting]]:
    """Return a figure's experiments by sweep; all if series select none.

    Raises:
        ConfigError: A series selects a value missing from the sweep.
    """
    experiments = {}
    for sweep in figure.sweeps:
        settings = selection.study.settings(sweep, _shown_variant(figure, selection))
        curves = [curve for curve in figure.selected_series if curve.sweep == sweep]
        for curve in curves:
            curve.check_values([setting.varied for setting in settings])
        selected = [setting for setting in settings if any(curve.shows(sweep, setting.varied) for curve in curves)]
        experiments[sweep] = selected or settings
    return experiments
