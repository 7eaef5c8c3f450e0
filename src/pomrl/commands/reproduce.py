"""The main job in one process: python -m src.reproduce [--runs N] [--beyond].

It computes all published sweeps together, and those of the example of docs/extending.md. Then it checks the claims, for
which it adds the runs that undecided claims need; it draws the figures, and writes the report. Each stage is also a
command of its own: src.run, src.claims, src.figures and src.report. With --beyond it does the same with the sweeps,
the claims of ours and the figures that go beyond the paper instead, and writes the report anew.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

from joblib import Parallel, cpu_count, delayed

from pomrl.commands import claims, computing, figures, ours, report
from pomrl.commands.arguments import Parser
from pomrl.commands.deciding import BUDGET
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import exit_with, warn
from pomrl.configuration import studies
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED, Replacement, Sources, beside_the_package
from pomrl.execution import ExecutionError
from pomrl.figures import BEYOND, FIGURES, versions
from pomrl.figures.parts.files import save
from pomrl.outputs import outputs
from pomrl.report import ReportError

EXAMPLES = beside_the_package("examples") / "conf"
"""The options of docs/extending.md, which only a checkout has."""

EXTENSION = Sources(PUBLISHED.folder, EXAMPLES, Replacement("estimator", "ada_pomrl", "pooled_variances"))
"""The example of docs/extending.md in the place of ada-POMRL."""

EXTENDED = ("task_similarity", "gamma_schedules", "samples_and_tasks", "states_20", "states_30", "initial_similarity")
"""The sweeps with ada-POMRL, which are repeated with the example in its place."""

EXTENDED_FIGURES = ("dependence_on_tasksimilarity", "planning_omrl")
"""The figures that are drawn with the example as well."""


@one_line_errors(ReportError, ExecutionError, LookupError)
def main() -> None:
    """Run all stages, and print on standard error how long each of them took; exit with status 1 where one failed."""
    parser = Parser(prog="python -m src.reproduce", description="Compute, draw, check and report everything.")
    parser.add_argument("--runs", type=int, metavar="N", help="runs of each experiment (default: the paper's numbers)")
    parser.add_argument("--beyond", action="store_true", help="the experiments beyond the paper instead")
    arguments = parser.parse_args()
    if arguments.runs is not None and arguments.runs < 1:
        exit_with(f"--runs {arguments.runs}: it has to be at least 1", 2)
    times = []
    for name, work in (stages_beyond if arguments.beyond else stages)(arguments.runs).items():
        warn(f"== {name}")
        start = time.monotonic()
        work()
        times.append(f"{name:24} {time.monotonic() - start:6.1f} s")
    for line in times:
        warn(line)


def stages(runs: int | None) -> Mapping[str, Callable[[], object]]:
    """Return the stages by their names, in their order; `runs` is the number of runs of each experiment."""
    on_extension = {"claims on the extension": lambda: claims.check_sweeps(EXTENSION)} if EXAMPLES.is_dir() else {}
    return {
        "sweeps": lambda: compute(runs),
        "claims": lambda: claims.check_sweeps(PUBLISHED, BUDGET if runs is None else None),
        **on_extension,
        "figures": lambda: figures.draw_all(selections(), save),
        "report": lambda: print(report.write(outputs())),
    }


def stages_beyond(runs: int | None) -> Mapping[str, Callable[[], object]]:
    """Return the stages of what goes beyond the paper; `runs` is the number of runs of each experiment."""
    figures_beyond = [version for name in BEYOND for version in versions(name)]
    return {
        "sweeps beyond the paper": lambda: compute(runs, studies.BEYOND),
        "claims of ours": lambda: ours.check_ours(ours.BUDGET if runs is None else None),
        "figures": lambda: figures.draw_all([figures.Selection(figures_beyond, outputs() / "figures")], save),
        "report": lambda: print(report.write(outputs())),
    }


def compute(runs: int | None, beyond: Sequence[str] = ()) -> None:
    """Compute what the store lacks of all sweeps, or of these beyond the paper; exit with status 1 if one fails."""
    if not computing.compute(list(experiments(runs, beyond))):
        exit_with("not all experiments were computed")


def selections() -> list[figures.Selection]:
    """Return all figures of what the main job computes, and those that are drawn with the example as well."""
    every = [version for name in FIGURES if name not in BEYOND for version in versions(name)]
    extended = [version for name in EXTENDED_FIGURES for version in versions(name)]
    selected = [figures.Selection(every, outputs() / "figures")]
    if EXAMPLES.is_dir():
        selected.append(figures.Selection(extended, EXTENSION.results(outputs()) / "figures", EXTENSION))
    return selected


def experiments(runs: int | None, beyond: Sequence[str] = ()) -> Iterator[Experiment]:
    """Yield the experiments of all sweeps, with so many runs each, or with the numbers of their YAML files if None.

    With names of sweeps beyond the paper, those of these sweeps are yielded instead.

    Environments, in which few runs say nothing, are only computed in the latter case. Compositions that are not cached
    take a tenth of a second each, so that the sweeps are composed in parallel.
    """
    sweeps = [(PUBLISHED, name) for name in beyond or studies.of_the_paper(PUBLISHED)]
    if EXAMPLES.is_dir() and not beyond:
        sweeps += [(EXTENSION, name) for name in EXTENDED]
    if runs is None and not beyond:
        sweeps.append((PUBLISHED, "environments"))
    composed = Parallel(cpu_count())(delayed(studies.sweep)(*each) for each in sweeps)
    for setting in chain.from_iterable(cast(list[list[studies.Setting]], composed)):
        request = setting.experiment.request
        yield replace(setting.experiment, request=replace(request, runs=runs or request.runs))
