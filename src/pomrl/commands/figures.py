"""Draw the figures of the paper, and supplementary ones, from stored runs: `python -m src.figures [NAME ...]`.

Each figure becomes NAME.pdf, NAME.png, NAME.csv (the values that are drawn) and NAME.json (where they come from) in
outputs/figures/. It shows the number of runs that the paper has, with the bands of its caption. Beside it
NAME_intervals.* is the same figure with 95 % intervals of the mean over all runs that its curves share. With --readme
the small pictures of the README are renewed instead, in outputs/readme/. With --replace the files go to
outputs/extensions/YOURS/figures/. A NAME with a dot is a module of your own that defines a figure.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import cast

from joblib import Parallel, cpu_count, delayed

from pomrl.commands.arguments import Parser, add_arguments, add_replacement, sources_of
from pomrl.commands.errors import one_line_errors
from pomrl.commands.progress import simulate
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration import studies
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import in_words, place_of
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.studies import Setting
from pomrl.figures import (
    BEYOND,
    FIGURES,
    PAPER,
    SUPPLEMENTARY,
    THEORY,
    Figure,
    WithIntervals,
    find,
    series_of,
    simulations_of,
    versions,
)
from pomrl.figures.parts.drawing import Drawing
from pomrl.figures.parts.files import Sidecar, save, save_small
from pomrl.figures.parts.style import ESTIMATORS, SCHEDULES
from pomrl.outputs import outputs
from pomrl.results.stored_sweeps import (
    StoredSweep,
    StoredSweeps,
    promised_runs,
    shared_runs,
    stored_simulation,
    stored_sweep,
)
from pomrl.store import StoreError
from pomrl.store.provenance import commit
from pomrl.theory.simulations import SIMULATIONS

README = ("dependence_on_tasksimilarity", "gamma_schedules")
"""The figures that the README shows."""

FEW = 4
"""Fewer figures than this are drawn in this process: starting others would take longer."""

Writer = Callable[[Drawing, Path, str, Sidecar], list[Path]]
"""A function that writes a drawing into a folder under a name, and returns the paths of its files."""


@dataclass(frozen=True)
class Selection:
    """Figures to draw from the sweeps of one composition, and where their files are written."""

    names: Sequence[str]
    """Names of figures or of their versions with intervals, or modules that define a figure."""
    folder: Path
    sources: Sources = PUBLISHED
    """Where the configuration of the sweeps is composed from."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of drawing figures of one selection."""

    files: list[Path] = field(default_factory=list)
    """The files of the figures that are drawn."""
    problems: list[str] = field(default_factory=list)
    """A line for each figure that is not drawn, with the reason."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """For each sweep with fewer runs than it promises, a line that says which are missing."""

    @property
    def drawn(self) -> set[str]:
        """The names of the files, without suffix."""
        return {path.stem for path in self.files}

    def __add__(self, other: "Outcome") -> "Outcome":
        """Return the outcome of drawing the figures of both."""
        return Outcome(self.files + other.files, self.problems + other.problems, {**other.lacking, **self.lacking})


@one_line_errors(LookupError)
def main() -> None:
    """Run the command; the exit status is 1 if a figure is not drawn, and sweeps that lack runs are named."""
    parser = Parser(
        prog="python -m src.figures",
        description="Draw figures from stored runs. A figure of runs is drawn twice: NAME as the paper's caption says, "
        "and NAME_intervals with 95 %% intervals of the mean over all runs that its curves share.",
        epilog=f"The paper's: {', '.join(PAPER)}. Supplementary: {', '.join(SUPPLEMENTARY)}. "
        f"Beyond the paper: {', '.join(BEYOND)}. Theory: {', '.join(THEORY)}.",
    )
    parser.add_argument("name", nargs="*", help="which to draw (default: all); NAME_intervals draws that version alone")
    parser.add_argument("--readme", action="store_true", help="renew the small pictures of the README instead")
    add_arguments(parser)
    add_replacement(parser)
    arguments = parser.parse_args()
    sources = sources_of(arguments)
    if arguments.readme:
        names, folder, write = list(README), sources.results(outputs()) / "readme", _save_small
    else:
        names = list(dict.fromkeys(version for name in arguments.name or FIGURES for version in versions(name)))
        folder, write = sources.results(outputs()) / "figures", save
    drawn, lacking = draw(names, folder, write, sources)
    for sweep, line in lacking.items():
        warn(f"{line}; to compute them: {studies.command(sources, sweep)}")
    if missing := [name for name in names if name.rpartition(".")[2] not in drawn]:
        remedy = "; ./reproduce.sh computes all sweeps of the paper" if any("." not in name for name in missing) else ""
        exit_with(f"{len(missing)} of {len(names)} figures are not drawn{remedy}")


def draw(
    names: Sequence[str], folder: Path, write: Writer, sources: Sources = PUBLISHED
) -> tuple[set[str], dict[str, str]]:
    """Draw the figures of one selection (see `draw_all`).

    Returns:
        The names of the files (without suffix) of the figures that are drawn, and for each sweep that lacks runs a line
        that says which.
    """
    (outcome,) = draw_all([Selection(names, folder, sources)], write)
    return outcome.drawn, dict(outcome.lacking)


def draw_all(selections: Sequence[Selection], write: Writer) -> list[Outcome]:
    """Draw figures, and print the paths of their files and why others are not drawn.

    Simulations that the figures need and that are not stored are computed first. The figures of all selections are
    drawn in parallel, those with the most series first, so that no process ends long after the others.

    Args:
        selections: What is drawn; no file belongs to two of them.
        write: The function that writes the files.

    Returns:
        The outcome of each selection.
    """
    pairs = [(index, name) for index, selection in enumerate(selections) for name in selection.names]
    simulate(dict.fromkeys(simulation for _, name in pairs for simulation in simulations_of(find(name))))
    pairs.sort(key=lambda pair: len(series_of(find(pair[1])) or ()), reverse=True)
    processes = 1 if len(pairs) < FEW else cpu_count()
    drawn = Parallel(n_jobs=processes, return_as="generator")(
        delayed(_draw_one)(name, selections[index], write) for index, name in pairs
    )
    outcomes = [Outcome() for _ in selections]
    for (index, _), outcome in zip(pairs, cast(Iterator[Outcome], drawn), strict=True):
        for path in outcome.files:
            print(path)
        for problem in outcome.problems:
            warn(problem)
        outcomes[index] += outcome
    return outcomes


def _draw_one(name: str, selection: Selection, write: Writer) -> Outcome:
    """Draw one figure of a selection."""
    figure, sources = find(name), selection.sources
    try:
        shown = _shown(figure, sources)
        shared = shared_runs(chain.from_iterable(shown.values()))
        sweeps: dict[str, StoredSweep] = {}
        for sweep, settings in shown.items():
            most = shared if isinstance(figure, WithIntervals) else min(shared, promised_runs(settings))
            sweeps[sweep] = stored_sweep(settings, most=most)
    except (ConfigError, StoreError) as error:
        return Outcome(problems=[f"{name} is not drawn: {error}"])
    lacking = {sweep: stored.lacking for sweep, stored in sweeps.items() if stored.lacking}
    if sweeps and not shared:
        return Outcome(problems=[f"{name} is not drawn: nothing is stored of {', '.join(sweeps)}"], lacking=lacking)
    sweeps |= {simulation: stored_simulation(SIMULATIONS[simulation]) for simulation in simulations_of(figure)}
    try:
        drawing = _relabelled(_drawing(name, figure, sweeps), sources)
        files = write(drawing, selection.folder, name.rpartition(".")[2], _sidecar(name, sweeps, sources))
    except (ValueError, OSError) as error:
        return Outcome(problems=[f"{name} is not drawn: {error}"], lacking=lacking)
    return Outcome(files, lacking=lacking)


def _drawing(name: str, figure: Figure, sweeps: StoredSweeps) -> Drawing:
    """Return what a figure draws; ValueError if one of the user's own raises an error or returns nothing."""
    if "." not in name:
        return figure.draw(sweeps)
    try:
        drawing: object = figure.draw(sweeps)
    except Exception as error:  # whatever code of somebody's own raises
        raise ValueError(f"{place_of(error, str(sys.modules[name].__file__))}: {in_words(error)}") from error
    if not isinstance(drawing, Drawing):
        raise ValueError(f"draw has to return a Drawing, and returns {type(drawing).__name__}")
    return drawing


def _shown(figure: Figure, sources: Sources) -> dict[str, list[Setting]]:
    """Return the experiments of each sweep that a figure shows; all of them where its series do not say which."""
    series = series_of(figure) or ()
    shown = {}
    for sweep in figure.SWEEPS:
        settings = studies.sweep(sources, sweep)
        of_series = [each for each in settings if any(one.shows(sweep, each.varied) for one in series)]
        shown[sweep] = of_series or settings
    return shown


def _sidecar(name: str, sweeps: StoredSweeps, sources: Sources) -> Sidecar:
    figure = find(name)
    of_sweeps = {sweep: sweeps[sweep].sources for sweep in figure.SWEEPS}
    of_simulations = {simulation: sweeps[simulation].sources for simulation in simulations_of(figure)}
    caption = None if "." not in name else figure.__doc__
    origin = {"replacement": sources.replacement, "sweeps": of_sweeps, "simulations": of_simulations}
    return Sidecar(name, **commit(), **origin, caption=caption)


def _relabelled(drawing: Drawing, sources: Sources) -> Drawing:
    """Return the drawing with the name of the option that replaces one of ours instead of our label."""
    looks = ESTIMATORS | SCHEDULES
    replacement = sources.replacement
    if not replacement or replacement.old not in looks:
        return drawing
    return drawing.renamed(looks[replacement.old].label, replacement.new.replace("_", " "))


def _save_small(drawing: Drawing, folder: Path, name: str, _: Sidecar) -> list[Path]:
    return save_small(drawing, folder, name)
