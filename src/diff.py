"""What differs between experiments, in configuration and in result: python -m src.diff A B [C ...] [--markdown].

A and B are stored runs (the start of a signature, or a folder) or sets of overrides: "estimator=pomrl sigma=0.025".
Exit status as of diff(1): 0 when they are equal, 1 when they differ, 2 on error.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from pomrl import config, published, store
from pomrl.comparison import Side, differences, result_differences, same_problem
from pomrl.conf import Conf, add_arguments, conf_of
from pomrl.derived import derived, mixing_rates_of_interest
from pomrl.experiment import check
from pomrl.figures import FIGURES

CONF = Conf(Path(__file__).parents[1] / "conf")

Rows = list[list[str]]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m src.diff", description="What differs between experiments.")
    parser.add_argument("side", nargs="+", metavar="A", help='a signature, a folder, or overrides: "estimator=pomrl"')
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown, for a review")
    add_arguments(parser)
    arguments = parser.parse_args()
    try:
        conf = conf_of(CONF, arguments)
        if len(arguments.side) < 2:
            raise config.ConfigError(f"{arguments.side[0]}: there is nothing to compare it with; name two or more")
        sides = [side(conf, text) for text in arguments.side]
        raise SystemExit(compare(conf, sides, arguments.markdown))
    except (ValueError, HydraException, OmegaConfBaseException, store.StoreError, OSError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        raise SystemExit(2) from error


def side(conf: Conf, text: str) -> Side:
    """A stored run, or the experiment that overrides describe."""
    if "=" in text or not text.strip():
        experiment = published.experiment(conf, shlex.split(text))
        check(experiment.problem, experiment.method, range(1))
        run = store.run_of(experiment)
        table = store.load(experiment) if run.complete() else None
        rates = _stored_rates(table) or mixing_rates_of_interest(experiment.problem, experiment.method)
        follows = derived(experiment.problem, experiment.method) | dict(rates)
        return Side(text or "defaults", _flat(experiment), follows, table)
    run = store.Run(Path(text)) if (Path(text) / "manifest.json").exists() else store.by_signature(text)
    table = run.table() if run.complete() else None
    return Side(run.signature, run.flat_settings(), run.manifest().get("derived", {}) | _stored_rates(table), table)


def _stored_rates(table: Any) -> dict[str, float]:
    if table is None:
        return {}
    mean = table.loc[table["run"] < 10].groupby("task")["alpha"].mean()
    return {f"alpha in task {t}": round(float(mean.loc[t]), 6) for t in sorted({1, min(2, len(mean)), len(mean)})}


def compare(conf: Conf, sides: Sequence[Side], markdown: bool) -> int:
    """Print what differs; the exit status."""
    changed = differences([each.settings for each in sides])
    if not changed:
        print("no difference")
        return 0
    show = _markdown if markdown else _plain
    names = [each.name for each in sides]
    show("settings", ["key", *names], _rows(changed))
    if follows := differences([each.derived for each in sides]):
        show("what follows", ["quantity", *names], _rows(follows))
    show(
        "published sweeps and figures with these settings",
        ["", "sweeps", "figures"],
        _published(conf, sides, list(changed)),
    )
    for other in sides[1:]:
        _show_results(sides[0], other, show)
    return 1


def _show_results(a: Side, b: Side, show: Any) -> None:
    found = result_differences(a, b)
    if not found:
        lacking = " and ".join(each.name for each in (a, b) if each.table is None)
        print(f"\nno results to compare: {lacking} not stored")
        return
    how = "in pairs over runs" if same_problem(a, b) else "not paired: these are different problems"
    rows = [[name, *(f"{x:+.4f}" for x in (of.estimate, of.lower, of.upper))] for name, of in found.items()]
    title = f"{b.name} less {a.name}, on average over tasks, 95 % intervals, {how}"
    show(title, ["result", "difference", "lower", "upper"], rows)


def _published(conf: Conf, sides: Sequence[Side], keys: list[str]) -> Rows:
    """For each side, the published sweeps with a job that has its values of the changed settings, and their figures."""
    sweeps = {
        name: [_flat(setting.experiment) for setting in published.sweep(conf, name)] for name in published.names(conf)
    }
    rows = []
    for each in sides:
        wanted = {key: repr(each.settings.get(key)) for key in keys}
        used = [
            name
            for name, jobs in sweeps.items()
            if any(all(repr(job.get(key)) == value for key, value in wanted.items()) for job in jobs)
        ]
        figures = [name for name, figure in FIGURES.items() if set(figure.SWEEPS) & set(used)]
        rows.append([each.name, ", ".join(used) or "none", ", ".join(figures) or "none"])
    return rows


def _flat(experiment: config.Experiment) -> dict[str, Any]:
    return config.flat(config.settings(experiment), experiment.options)


def _rows(values: dict[str, list[Any]]) -> Rows:
    return [[key, *("-" if value is None else repr(value).strip("'") for value in row)] for key, row in values.items()]


def _plain(title: str, header: list[str], rows: Rows) -> None:
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}")
    for row in [header, *rows]:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _markdown(title: str, header: list[str], rows: Rows) -> None:
    print(f"\n**{title}**\n")
    for row in [header, ["---"] * len(header), *rows]:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
