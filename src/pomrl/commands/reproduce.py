"""The main job in one process: python -m src.reproduce [--runs N].

It computes all published sweeps, and those of the example of docs/extending.md, together; then it draws the figures,
checks the claims and writes the report. Each stage can be called by itself: src.run, src.figures, src.claims and
src.report.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from joblib import Parallel, cpu_count, delayed

from pomrl.commands import claims, computing, figures, report
from pomrl.configuration import studies
from pomrl.configuration.outputs import outputs
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED, Replacement, Sources
from pomrl.figures import FIGURES
from pomrl.figures.parts.files import save

EXTENSION = Sources(
    PUBLISHED.folder, Path(__file__).parents[3] / "examples" / "conf",
    Replacement("estimator", "ada_pomrl", "empirical_bayes"),
)  # fmt: skip
"""The example of docs/extending.md, which takes the place of ada-POMRL."""

EXTENDED = ("task_similarity", "gamma_schedules", "samples_and_tasks", "states_20", "states_30", "initial_similarity")
"""The sweeps that have ada-POMRL, and that are repeated with the example in its place."""

EXTENDED_FIGURES = ("dependence_on_tasksimilarity", "planning_omrl")
"""The figures that are drawn with the example as well."""

Stage = tuple[str, Callable[[], object]]


def main() -> None:
    """Run all stages, and print on standard error how long each of them took."""
    parser = argparse.ArgumentParser(prog="python -m src.reproduce", description="Reproduce the paper.")
    parser.add_argument("--runs", type=int, help="runs of each experiment (default: the paper's numbers)")
    arguments = parser.parse_args()
    times = []
    for name, work in stages(arguments.runs):
        print(f"== {name}", file=sys.stderr)
        start = time.monotonic()
        work()
        times.append(f"{name:24} {time.monotonic() - start:6.1f} s")
    print("\n".join(times), file=sys.stderr)


def stages(runs: int | None) -> list[Stage]:
    return [
        ("sweeps", lambda: computing.compute(list(experiments(runs)))),
        ("figures", lambda: figures.draw(list(FIGURES), outputs() / "figures", save)),
        ("figures, extended", lambda: figures.draw(EXTENDED_FIGURES, EXTENSION.results(outputs()) / "figures", save, EXTENSION)),
        ("claims, extended", lambda: claims.check_sweeps(EXTENSION)),
        ("claims", lambda: claims.check_sweeps(PUBLISHED)),
        ("report", lambda: report.write(outputs())),
    ]


def experiments(runs: int | None) -> Iterator[Experiment]:
    """Yield the experiments of all sweeps, with so many runs each, or with the number of runs of their YAML files."""
    wanted = [*((PUBLISHED, name) for name in studies.names(PUBLISHED)), *((EXTENSION, name) for name in EXTENDED)]
    composed = Parallel(cpu_count())(delayed(studies.sweep)(*each) for each in wanted)
    for setting in chain.from_iterable(composed):
        request = setting.experiment.request
        yield replace(setting.experiment, request=replace(request, runs=runs or request.runs))
