"""Draw the figures of the paper, and supplementary ones, from stored runs: `python -m src.figures [NAME ...]`.

Each figure becomes NAME.pdf, NAME.png, NAME.csv (the values that are drawn) and NAME.json (where they come from) in
outputs/figures/. With --readme the small pictures of the README are renewed instead, in outputs/readme/. With --replace
the files go to outputs/extensions/YOURS/figures/. A NAME with a dot is a module of your own that defines a figure.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from joblib import Parallel, cpu_count, delayed

from pomrl.commands.arguments import Parser, add_arguments, add_replacement, sources_of
from pomrl.commands.errors import one_line_errors
from pomrl.commands.progress import simulate
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration import studies
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.outputs import outputs
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.figures import FIGURES, PAPER, SUPPLEMENTARY, THEORY, find, simulations_of
from pomrl.figures.parts.drawing import Drawing
from pomrl.figures.parts.files import Sidecar, save, save_small
from pomrl.figures.parts.style import ESTIMATORS, SCHEDULES
from pomrl.results.stored_sweeps import StoredSweeps, stored_simulation, stored_sweep
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
class Outcome:
    """The outcome of drawing a group of figures that show the same sweeps."""

    files: list[Path] = field(default_factory=list)
    """The files of the figures that are drawn."""
    problems: list[str] = field(default_factory=list)
    """A line for each figure that is not drawn, with the reason."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """For each sweep with fewer runs than it promises, a line that says which are missing."""


@one_line_errors(LookupError)
def main() -> None:
    """Run the command; the exit status is 1 if a figure is not drawn, and sweeps that lack runs are named."""
    parser = Parser(
        prog="python -m src.figures",
        description="Draw figures from stored runs.",
        epilog=f"The paper's: {', '.join(PAPER)}. Supplementary: {', '.join(SUPPLEMENTARY)}. "
        f"Theory: {', '.join(THEORY)}.",
    )
    parser.add_argument("name", nargs="*", help="which to draw (default: all)")
    parser.add_argument("--readme", action="store_true", help="renew the small pictures of the README instead")
    add_arguments(parser)
    add_replacement(parser)
    arguments = parser.parse_args()
    names = list(dict.fromkeys(README if arguments.readme else arguments.name or FIGURES))
    sources = sources_of(arguments)
    folder = sources.results(outputs()) / ("readme" if arguments.readme else "figures")
    drawn, lacking = draw(names, folder, _save_small if arguments.readme else save, sources)
    for sweep, line in lacking.items():
        warn(f"{line}; to compute them: {studies.command(sources, sweep)}")
    if missing := len(names) - len(drawn):
        exit_with(f"{missing} of {len(names)} figures are not drawn; ./reproduce.sh computes all sweeps")


def draw(
    names: Sequence[str], folder: Path, write: Writer, sources: Sources = PUBLISHED
) -> tuple[set[str], dict[str, str]]:
    """Draw figures, and print the paths of their files and why others are not drawn.

    Simulations that the figures need and that are not stored are computed first. Figures that show the same sweeps are
    drawn one after another from tables that are read once; groups of such figures are drawn in parallel.

    Args:
        names: Names of figures, or modules that define one.
        folder: Where the files are written.
        write: The function that writes the files.
        sources: Where the configuration of the sweeps is composed from.

    Returns:
        The names of the files (without suffix) of the figures that are drawn, and for each sweep that lacks runs a line
        that says which.
    """
    simulate(dict.fromkeys(simulation for name in names for simulation in simulations_of(find(name))))
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for name in names:
        figure = find(name)
        groups.setdefault((tuple(figure.SWEEPS), simulations_of(figure)), []).append(name)
    largest_first = sorted(groups.values(), key=len, reverse=True)
    processes = 1 if len(names) < FEW else cpu_count()
    outcomes = Parallel(n_jobs=processes, return_as="generator")(
        delayed(_draw_group)(group, folder, write, sources) for group in largest_first
    )
    drawn: set[str] = set()
    lacking: dict[str, str] = {}
    for outcome in cast(Iterator[Outcome], outcomes):
        for path in outcome.files:
            print(path)
        for problem in outcome.problems:
            warn(problem)
        drawn |= {path.stem for path in outcome.files}
        lacking |= outcome.lacking
    return drawn, lacking


def _draw_group(names: Sequence[str], folder: Path, write: Writer, sources: Sources) -> Outcome:
    """Draw figures that show the same sweeps and simulations."""
    wanted, simulations = find(names[0]).SWEEPS, simulations_of(find(names[0]))
    try:
        sweeps = {sweep: stored_sweep(studies.sweep(sources, sweep)) for sweep in wanted}
    except (ConfigError, StoreError) as error:
        return Outcome(problems=[f"{name} is not drawn: {error}" for name in names])
    lacking = {sweep: stored.lacking for sweep, stored in sweeps.items() if stored.lacking}
    if wanted and all(stored.table.empty for stored in sweeps.values()):
        reason = f"nothing is stored of {', '.join(wanted)}"
        return Outcome(problems=[f"{name} is not drawn: {reason}" for name in names], lacking=lacking)
    sweeps |= {simulation: stored_simulation(SIMULATIONS[simulation]) for simulation in simulations}
    files, problems = [], []
    for name in names:
        try:
            drawing = _relabelled(find(name).draw(sweeps), sources)
            files += write(drawing, folder, name.rpartition(".")[2], _sidecar(name, sweeps, sources))
        except (ValueError, OSError) as error:
            problems.append(f"{name} is not drawn: {error}")
    return Outcome(files, problems, lacking)


def _sidecar(name: str, sweeps: StoredSweeps, sources: Sources) -> Sidecar:
    figure = find(name)
    of_sweeps = {sweep: sweeps[sweep].sources for sweep in figure.SWEEPS}
    of_simulations = {simulation: sweeps[simulation].sources for simulation in simulations_of(figure)}
    return Sidecar(name, **commit(), replacement=sources.replacement, sweeps=of_sweeps, simulations=of_simulations)


def _relabelled(drawing: Drawing, sources: Sources) -> Drawing:
    """Return the drawing with the name of the option that replaces one of ours instead of our label."""
    looks = ESTIMATORS | SCHEDULES
    replacement = sources.replacement
    if not replacement or replacement.old not in looks:
        return drawing
    return drawing.renamed(looks[replacement.old].label, replacement.new.replace("_", " "))


def _save_small(drawing: Drawing, folder: Path, name: str, _: Sidecar) -> list[Path]:
    return save_small(drawing, folder, name)
