"""Show what differs between experiments, in settings and in results: pomrl diff A B [C ...] [--markdown].

A and B are stored experiments (the start of a signature, or a folder) or words of `pomrl run -m`, which may be several
experiments: "estimator=pomrl sigma=0.01,0.02". Each of B, C, ... is compared with the one of A that differs least, and
those that share a difference stand together. In Markdown, all details are folded below.
The exit status is that of diff(1): 0 where they are equal, 1 where they differ, 2 on error.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill, indent
from typing import Any

from pomrl import store
from pomrl.commands.arguments import Parser, add_arguments, own_folder
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import WIDTH, printable
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.derived import RUNS, derived, mean_mixing_rates, mixing_rates_of_interest
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import flat_settings, scientific_settings, varying_keys
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.study import shipped
from pomrl.configuration.sweeps import has, selection
from pomrl.results.comparison import Side, differences, result_differences, same_problem
from pomrl.results.losses import Losses
from pomrl.results.tables import markdown, markdown_text, plain
from pomrl.science.problem import check

Rows = list[list[str]]
Pair = tuple[Side, Side]

WIDEST = 118
"""The most characters of a line in Markdown, as reviews of code show them."""


@one_line_errors(ValueError, status=2)
def main() -> None:
    """Run the command with the arguments of the process, and exit with status 0, 1 or 2 as diff(1) does."""
    parser = Parser(prog="pomrl diff", description="Show what differs between experiments, in settings and in results.")
    parser.add_argument("side", nargs="+", metavar="A", help='a signature, a folder, or settings: "estimator=pomrl"')
    parser.add_argument("--markdown", action="store_true", help="print it in Markdown with all details, for a review")
    add_arguments(parser)
    arguments = parser.parse_args()
    sources = replace(PUBLISHED, own=own_folder(arguments))
    if len(arguments.side) < 2:
        raise ConfigError(f"{arguments.side[0]}: there is nothing to compare it with; name two or more")
    first, *others = (sides(sources, text) for text in arguments.side)
    groups = grouped([(_nearest(first, other), other) for of_side in others for other in of_side])
    if not groups:
        print("no difference")
    for group in groups:
        print(_in_markdown(sources, group) if arguments.markdown else _in_plain_text(group), end="")
    raise SystemExit(1 if groups else 0)


def sides(sources: Sources, text: str) -> list[Side]:
    """Return the experiments that an argument of the command line names, with their tables where they are stored.

    Args:
        sources: The folders that settings are composed from.
        text: Words of `pomrl run -m`, the start of a signature, or a folder in `outputs/runs`.
    """
    if "=" in text or not text.strip():
        experiments = selection(sources, shlex.split(text))
        return [_side_of(each, text or "defaults") for each in experiments]
    folder = Path(text)
    is_stored = (folder / "experiment.json").exists()
    return [_stored_side(store.StoredExperiment(folder) if is_stored else store.by_signature(text))]


def _side_of(experiment: Experiment, name: str) -> Side:
    problem, method = experiment.problem, experiment.method
    check(problem, method, range(1))
    stored = store.lookup(experiment)
    runs = stored.complete()
    rates = _stored_rates(stored, runs) if runs else mean_mixing_rates(problem, method)
    quantities = derived(problem, method) | mixing_rates_of_interest(rates)
    losses = Losses.of_experiment(experiment, runs) if runs else None
    return Side(name, flat_settings(scientific_settings(experiment), experiment.options), quantities, losses)


def _stored_side(stored: store.StoredExperiment) -> Side:
    runs = stored.complete()
    rates = mixing_rates_of_interest(_stored_rates(stored, runs)) if runs else {}
    manifest = stored.manifest()
    quantities = {**manifest.derived} if manifest else {}
    code = {} if stored.outdated() is None else {"code": stored.code()}
    losses = Losses(*stored.losses(runs)) if runs else None
    return Side(stored.signature, stored.flat_settings() | code, quantities | rates, losses)


def _stored_rates(stored: store.StoredExperiment, runs: int) -> list[float]:
    """Return the mixing rate in each task, averaged over the runs of `derived.RUNS` that are stored."""
    few = min(runs, RUNS.stop)
    columns = stored.columns(["task", "alpha"], few)
    return columns["alpha"].reshape(few, columns["task"].max(), -1).mean((0, 2)).tolist()


def _nearest(first: Sequence[Side], other: Side) -> Side:
    """Return the one of several experiments that differs from another one in the fewest keys."""
    return min(first, key=lambda each: len(differences([each.settings, other.settings])))


def grouped(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Return pairs of experiments in groups that share the settings in which they differ; equal ones are left out."""
    groups: dict[str, list[Pair]] = {}
    for a, b in pairs:
        if changed := differences([a.settings, b.settings]):
            groups.setdefault(repr((changed, same_problem(a, b))), []).append((a, b))
    return list(groups.values())


def _changed(group: Sequence[Pair]) -> Rows:
    """Return the settings in which the pairs of a group differ, without those that come with another option."""
    both = [side.settings for side in group[0]]
    return _rows({key: [each.get(key) for each in both] for key in varying_keys(both)})


def _effects(group: Sequence[Pair]) -> Rows:
    """Return a table with its head: the settings that tell the pairs apart, and what the change does to each."""
    keys = varying_keys([a.settings for a, _ in group])
    rows: Rows = []
    for a, b in group:
        where = ["-" if (value := a.settings.get(key)) is None else str(value) for key in keys]
        for name, of in result_differences(a, b).items():
            rows.append([*where, name, f"{of.estimate:+.4f}", f"{of.lower:+.4f} to {of.upper:+.4f}"])
    return [[*keys, "result", "difference", "95 % interval"], *rows]


def _not_stored(group: Sequence[Pair]) -> list[str]:
    """Return a sentence on each pair of which there is nothing to compare."""
    keys, sentences = varying_keys([a.settings for a, _ in group]), list[str]()
    for pair in group:
        names = " and ".join(dict.fromkeys(each.name for each in pair if each.losses is None))
        where = "".join(f"{key}={pair[0].settings.get(key)}: " for key in keys)
        sentences += [f"{where}no results to compare: {names} not stored"] if names else []
    return sentences


def _how(group: Sequence[Pair]) -> str:
    pairs = "in pairs over runs" if same_problem(*group[0]) else "not paired: these are different problems"
    return f"the second less the first, on average over tasks, {pairs}"


def _in_plain_text(group: Sequence[Pair]) -> str:
    changed = [fill(printable(f"{key}: {a} -> {b}"), WIDTH, subsequent_indent="    ") for key, a, b in _changed(group)]
    lacking = [f"{fill(printable(line), WIDTH - 2, subsequent_indent='  ')}\n" for line in _not_stored(group)]
    head, *rows = [[*map(printable, row)] for row in _effects(group)]
    table = plain(head, rows) if rows else ""
    if max(map(len, table.splitlines()), default=0) > WIDTH - 2:
        table = "".join(f"{fill('  '.join(row), WIDTH - 2, subsequent_indent='  ')}\n" for row in rows)
    how = [f"  {_how(group)}"] if rows else []
    return "\n".join(["", *changed, *how, indent("".join([table, *lacking]), "  ")])


def _in_markdown(sources: Sources, group: Sequence[Pair]) -> str:
    changed = [f"- **{key}**: {a} -> {b}" for key, a, b in _changed(group)]
    head, *rows = [[*map(_markdown, row)] for row in _effects(group)]
    table = markdown(head, rows) if rows else ""
    if max(map(len, table.splitlines()), default=0) > WIDEST:
        table = _list(["; ".join(filter(None, row)) for row in rows])
    details = [f"{key}: {a} -> {b}" for key, a, b in _rows(differences([side.settings for side in group[0]]))]
    for pair in group:
        details += [f"{key}: {a} -> {b}" for key, a, b in _rows(differences([side.derived for side in pair]))]
        details += [f"{name}: sweeps {found}; figures {figures}" for name, found, figures in _published(sources, pair)]
    folded = _list([_markdown(line) for line in dict.fromkeys(details)])
    lines = [_wrapped(_markdown(line)) for line in changed]
    summary = "<details><summary>settings, derived quantities, sweeps and figures</summary>"
    effect = [f"{_how(group).capitalize()}:", "", table] if rows else []
    lacking = _list([_markdown(line) for line in _not_stored(group)])
    shown = ["", *lines, "", *effect, *([lacking] if lacking else [])]
    return "\n".join([*shown, summary, "", folded, "</details>", ""])


def _list(lines: Sequence[str]) -> str:
    return "".join(f"{_wrapped(f'- {line}')}\n" for line in lines)


def _wrapped(line: str) -> str:
    return fill(line, WIDEST, subsequent_indent="  ", break_on_hyphens=False)


def _published(sources: Sources, pair: Pair) -> Rows:
    """Name for each side the sweeps with an experiment that has its values of what differs, and their figures."""
    from pomrl.drawing.figure import figures_of  # here, because nothing else needs figures

    keys = varying_keys([each.settings for each in pair])
    rows = []
    for each in pair:
        wanted = {key: each.settings[key] for key in keys if key in each.settings}
        names, figures = list[str](), dict[str, None]()
        for study in shipped():
            found = {name for name in study.sweeps if has(study.sources(sources.own), study.option(name), wanted)}
            names += map(study.option, sorted(found))
            figures |= dict.fromkeys(each.name for each in figures_of(study) if found & {*each.sweeps})
        rows.append([each.name, ", ".join(names) or "none", ", ".join(figures) or "none"])
    return rows


def _rows(values: Mapping[str, Sequence[Any]]) -> Rows:
    return [[key, *("-" if value is None else repr(value).strip("'") for value in row)] for key, row in values.items()]


def _markdown(cell: str) -> str:
    return markdown_text(printable(cell))
