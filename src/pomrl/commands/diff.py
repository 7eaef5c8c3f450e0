"""Show what differs between experiments, in settings and in results: pomrl diff A B [C ...] [--markdown].

A and B are stored experiments (the start of a signature, or a folder) or overrides: "estimator=pomrl sigma=0.025".
The exit status is that of diff(1): 0 where they are equal, 1 where they differ, 2 on error.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill, indent
from typing import Any

import pandas as pd

from pomrl import store
from pomrl.commands.arguments import Parser, add_arguments, own_folder
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import WIDTH, printable
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.derived import RUNS, derived, mean_mixing_rates, mixing_rates_of_interest
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import flat_settings, scientific_settings, varying_keys
from pomrl.configuration.sources import PUBLISHED, Sources, named_folders
from pomrl.configuration.study import shipped
from pomrl.configuration.sweeps import experiment as experiment_of
from pomrl.configuration.sweeps import has
from pomrl.results.comparison import Side, differences, result_differences, same_problem
from pomrl.results.tables import markdown, markdown_text, plain
from pomrl.science.problem import check

Rows = list[list[str]]
Show = Callable[[str, Sequence[str], Rows], None]
"""A function that prints a table, given its title, its header and its rows."""


@one_line_errors(ValueError, status=2)
def main() -> None:
    """Run the command with the arguments of the process, and exit with status 0, 1 or 2 as diff(1) does."""
    parser = Parser(prog="pomrl diff", description="Show what differs between experiments, in settings and in results.")
    parser.add_argument("side", nargs="+", metavar="A", help='a signature, a folder, or overrides: "estimator=pomrl"')
    parser.add_argument("--markdown", action="store_true", help="print the tables in Markdown, for a review")
    add_arguments(parser)
    arguments = parser.parse_args()
    sources = replace(PUBLISHED, own=own_folder(arguments))
    if len(arguments.side) < 2:
        raise ConfigError(f"{arguments.side[0]}: there is nothing to compare it with; name two or more")
    sides = [side(sources, text) for text in arguments.side]
    raise SystemExit(compare(sources, sides, _show_markdown if arguments.markdown else _show_plain))


def side(sources: Sources, text: str) -> Side:
    """Return the experiment that an argument of the command line names, with its table where it is stored.

    Args:
        sources: The folders that overrides are composed from.
        text: Overrides of the defaults, the start of a signature, or a folder in `outputs/runs`.
    """
    if "=" in text or not text.strip():
        return _side_of_overrides(sources, text)
    folder = Path(text)
    is_stored = (folder / "manifest.json").exists()
    return _stored_side(store.StoredExperiment(folder) if is_stored else store.by_signature(text))


def _side_of_overrides(sources: Sources, text: str) -> Side:
    overrides = shlex.split(text)
    for folder in named_folders(overrides):
        sources = sources.with_study(folder)
    experiment = experiment_of(sources, overrides)
    problem, method = experiment.problem, experiment.method
    check(problem, method, range(1))
    table = store.load(experiment) if store.lookup(experiment).complete() else None
    rates = mean_mixing_rates(problem, method) if table is None else _stored_rates(table)
    quantities = derived(problem, method) | mixing_rates_of_interest(rates)
    return Side(text or "defaults", _flat(experiment), quantities, table)


def _stored_side(stored: store.StoredExperiment) -> Side:
    table = stored.table() if stored.complete() else None
    rates = {} if table is None else mixing_rates_of_interest(_stored_rates(table))
    manifest = stored.manifest()
    quantities = {**manifest.derived} if manifest else {}
    return Side(stored.signature, stored.flat_settings(), quantities | rates, table)


def _stored_rates(table: pd.DataFrame) -> list[float]:
    """Return the mixing rate in each task, averaged over the runs of `derived.RUNS` that are stored."""
    return table.loc[table["run"] < RUNS.stop].groupby("task")["alpha"].mean().tolist()


def compare(sources: Sources, sides: Sequence[Side], show: Show) -> int:
    """Print how experiments differ, with their results compared with those of the first; return the exit status."""
    changed = differences([each.settings for each in sides])
    if not changed:
        print("no difference")
        return 0
    names = [each.name for each in sides]
    show("settings", ["key", *names], _rows(changed))
    if quantities := differences([each.derived for each in sides]):
        show("derived quantities", ["quantity", *names], _rows(quantities))
    show("sweeps and figures of studies with these settings", ["", "sweeps", "figures"], _published(sources, sides))
    for other in sides[1:]:
        _show_results(sides[0], other, show)
    return 1


def _show_results(a: Side, b: Side, show: Show) -> None:
    intervals = result_differences(a, b)
    if not intervals:
        lacking = " and ".join(each.name for each in (a, b) if each.table is None)
        print(f"\nno results to compare: {printable(lacking)} not stored")
        return
    how = "in pairs over runs" if same_problem(a, b) else "not paired: these are different problems"
    title = f"{b.name} less {a.name}, on average over tasks, 95 % intervals, {how}"
    rows = [[name, *(f"{x:+.4f}" for x in (of.estimate, of.lower, of.upper))] for name, of in intervals.items()]
    show(title, ["result", "difference", "lower", "upper"], rows)


def _published(sources: Sources, sides: Sequence[Side]) -> Rows:
    """Name for each side the sweeps with an experiment that has its values of what differs, and their figures."""
    from pomrl.drawing.figure import figures_of  # here, because equal experiments need no figures

    keys = varying_keys([each.settings for each in sides])
    rows = []
    for each in sides:
        wanted = {key: each.settings[key] for key in keys if key in each.settings}
        names, figures = list[str](), dict[str, None]()
        for study in shipped():
            found = {name for name in study.sweeps if has(study.sources(sources.own), study.option(name), wanted)}
            names += map(study.option, sorted(found))
            figures |= dict.fromkeys(each.name for each in figures_of(study) if found & {*each.sweeps})
        rows.append([each.name, ", ".join(names) or "none", ", ".join(figures) or "none"])
    return rows


def _flat(experiment: Experiment) -> dict[str, Any]:
    return flat_settings(scientific_settings(experiment), experiment.options)


def _rows(values: Mapping[str, Sequence[Any]]) -> Rows:
    return [[key, *("-" if value is None else repr(value).strip("'") for value in row)] for key, row in values.items()]


def _show_plain(title: str, header: Sequence[str], rows: Rows) -> None:
    """Print a table, or below each other what a row has in each column, where the table would be too wide."""
    head, *cells = [[*map(printable, row)] for row in (header, *rows)]
    table = plain(head, cells)
    if max(map(len, table.splitlines())) > WIDTH - 2:
        lines = [line for name, *row in cells for line in (name, *map(_paragraph, head[1:], row))]
        table = "\n".join([*lines, ""])
    print(f"\n{printable(title)}\n{indent(table, '  ')}", end="")


def _paragraph(name: str, cell: str) -> str:
    return fill(
        f"  {name}: {cell}", WIDTH - 2, subsequent_indent=" " * 4, break_long_words=False, break_on_hyphens=False
    )


def _show_markdown(title: str, header: Sequence[str], rows: Rows) -> None:
    table = markdown([*map(_markdown, header)], [[*map(_markdown, row)] for row in rows])
    print(f"\n**{_markdown(title)}**\n\n{table}", end="")


def _markdown(cell: str) -> str:
    return markdown_text(printable(cell))
