"""Draw the figures of the paper, and supplementary ones, from what is stored: python -m src.figures [NAME ...].

Each becomes NAME.pdf, NAME.png, NAME.csv (what is drawn) and NAME.json (where it comes from) in outputs/figures/. With
--readme the small pictures that the README shows are renewed instead, in outputs/readme/. With --replace they go to
outputs/extensions/YOURS/figures/. A NAME with a dot is a module of your own that offers what ours do.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn, cast

from joblib import Parallel, cpu_count, delayed

from pomrl import published, store
from pomrl.conf import Conf, add_arguments, add_replacement, conf_of
from pomrl.config import ConfigError
from pomrl.figures import FIGURES, PAPER, SUPPLEMENTARY, THEORY, find
from pomrl.figures.parts.drawing import Drawing
from pomrl.figures.parts.files import save, save_small
from pomrl.figures.parts.style import ESTIMATORS, SCHEDULES
from pomrl.provenance import commit

CONF = Conf(Path(__file__).parents[1] / "conf")

README = ("dependence_on_tasksimilarity", "gamma_schedules")

FEW = 4
"""Fewer figures are drawn sooner than further processes have started."""

Sources = dict[str, Any]
Outcome = tuple[list[Path], list[str], dict[str, str]]
"""The files of some figures, why others are not drawn, and a line for each sweep that lacks runs."""
Writer = Callable[[Drawing, Path, str, Sources], list[Path]]


def main() -> None:
    """The command. It ends with a warning that names the sweeps to run where runs are missing."""
    names = f"The paper's: {', '.join(PAPER)}. Supplementary: {', '.join(SUPPLEMENTARY)}. Theory: {', '.join(THEORY)}."
    parser = argparse.ArgumentParser(
        prog="python -m src.figures", description="Draw figures from stored runs.", epilog=names
    )
    parser.add_argument("name", nargs="*", help="which to draw (default: all)")
    parser.add_argument("--readme", action="store_true", help="renew the small pictures of the README instead")
    add_arguments(parser)
    add_replacement(parser)
    arguments = parser.parse_args()
    wanted = list(dict.fromkeys(README if arguments.readme else arguments.name or FIGURES))
    try:
        for name in wanted:
            find(name)
        conf = conf_of(CONF, arguments)
        folder = conf.results(store.root().parent) / ("readme" if arguments.readme else "figures")
        drawn, lacking = draw(wanted, folder, _save_small if arguments.readme else save, conf)
    except (LookupError, ConfigError, store.StoreError, OSError) as error:
        _exit(" ".join(str(error).split()))
    for sweep, line in lacking.items():
        print(f"{line}; to compute them: {published.command(conf, sweep)}", file=sys.stderr)
    if len(drawn) < len(wanted):
        _exit(f"{len(wanted) - len(drawn)} of {len(wanted)} figures are not drawn; ./reproduce.sh computes all sweeps")


def draw(names: Sequence[str], folder: Path, write: Writer, conf: Conf = CONF) -> tuple[set[str], dict[str, str]]:
    """Draw the figures: the names of those that are drawn, and a line for each sweep that lacks runs."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        groups.setdefault(tuple(find(name).SWEEPS), []).append(name)
    processes = 1 if len(names) < FEW else cpu_count()
    outcomes = Parallel(n_jobs=processes, return_as="generator")(
        delayed(_group)(group, sweeps, folder, write, conf)
        for sweeps, group in sorted(groups.items(), key=_largest_first)
    )
    drawn: set[str] = set()
    lacking: dict[str, str] = {}
    for files, problems, missing in cast(Iterator[Outcome], outcomes):
        print(*files, sep="\n", end="\n" if files else "")
        print(*problems, sep="\n", end="\n" if problems else "", file=sys.stderr)
        drawn |= {path.stem for path in files}
        lacking |= missing
    return drawn, lacking


def _largest_first(group: tuple[tuple[str, ...], list[str]]) -> int:
    return -len(group[1])


def _group(names: Sequence[str], sweeps: Sequence[str], folder: Path, write: Writer, conf: Conf) -> Outcome:
    """Draw figures that share their sweeps, which are read once."""
    try:
        stored = {sweep: _read(sweep, names, conf) for sweep in sweeps}
    except ConfigError as error:
        return [], [f"{name} is not drawn: {error}" for name in names], {}
    missing = {sweep: tables.lacking for sweep, tables in stored.items() if tables.lacking}
    if sweeps and all(tables.table.empty for tables in stored.values()):
        return [], [f"{name} is not drawn: nothing is stored of {', '.join(sweeps)}" for name in names], missing
    files, problems = [], []
    for name in names:
        try:
            drawing = find(name).draw({sweep: tables.table for sweep, tables in stored.items()})
        except ValueError as error:
            problems.append(f"{name} is not drawn: {error}")
            continue
        of_sweeps = {sweep: tables.sources for sweep, tables in stored.items()}
        stands_in = {"replacement": asdict(conf.replacement)} if conf.replacement else {}
        sources = {"figure": name, **commit(), **stands_in, "sweeps": of_sweeps}
        files += write(_named(drawing, conf), folder, name.rpartition(".")[2], sources)
    return files, problems, missing


def _read(sweep: str, names: Sequence[str], conf: Conf) -> published.Tables:
    """What is stored of a sweep, as far as these figures and ours show it."""
    runs = max(figure.RUNS for figure in map(find, [*FIGURES, *names]) if sweep in figure.SWEEPS)
    return published.tables(published.sweep(conf, sweep), runs)


def _named(drawing: Drawing, conf: Conf) -> Drawing:
    """With the name of what stands in for a method, in the place of ours."""
    looks = ESTIMATORS | SCHEDULES
    replacement = conf.replacement
    if not replacement or replacement.old not in looks:
        return drawing
    return drawing.renamed(looks[replacement.old].label, replacement.new.replace("_", " "))


def _save_small(drawing: Drawing, folder: Path, name: str, _: Sources) -> list[Path]:
    return save_small(drawing, folder, name)


def _exit(line: str) -> NoReturn:
    print(line, file=sys.stderr)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
