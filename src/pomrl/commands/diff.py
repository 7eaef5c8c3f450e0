"""The command `diff`: differences between experiments, in settings and results."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Annotated, Literal

from pomrl.commands.errors import one_line_errors
from pomrl.commands.revisions import compare_revisions, parse_range
from pomrl.commands.terminal import print_frame, printable
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import varying_keys
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.results.comparison import Pair, differences, effects, group_pairs, nearest, same_problem
from pomrl.results.result import Result
from pomrl.results.selection import PREVIOUS, resolve
from pomrl.results.tables import markdown_text

WIDEST = 78
"""The most characters of a line."""


@one_line_errors(ValueError, status=2)
def diff(
    a: str,
    /,
    *b: Annotated[str, "B"],
    config_dir: Annotated[Path | None, "DIR"] = None,
    format: Literal["text", "csv", "markdown", "latex"] = "text",
) -> None:
    """Show what differs between experiments, in settings and in results.

    Each side is words of `pomrl run -m`. Each of B, C, ... is compared with the nearest experiment of A; equal
    differences
    stand together. A alone compares results of the previous code with those of the present code; name other versions:
    "tag=dev code=LABEL" "tag=dev". OLD..NEW, two git revisions, lists the published sweeps with other settings; main..
    compares with the working files. The exit status is that of diff(1): 0 if equal, 1 if different, 2 on error.

    Args:
        a: Settings such as "estimator=pomrl sigma=0.01,0.02"; or a signature, a folder, or OLD..NEW.
        b: What A is compared with.
        config_dir: A folder like conf/ with options of your own.
        format: The form of tables (default: text).
    """
    sources = PUBLISHED.with_options(config_dir)
    if not b and (revisions := parse_range(a)):
        raise SystemExit(1 if compare_revisions(*revisions, format) else 0)
    if b:
        pairs = [pair for other in b for pair in nearest(sides(a, sources), sides(other, sources))]
    else:
        pairs = _select_code_changes(nearest(sides(f"{a} code={PREVIOUS}", sources), sides(a, sources)), a)
    if groups := group_pairs(pairs):
        show(groups, format)
    else:
        print("no difference")
    raise SystemExit(1 if groups else 0)


def sides(text: str, sources: Sources) -> list[Result]:
    """Return the experiments of an argument, with losses where stored."""
    matches, _ = resolve(shlex.split(text), sources=sources)
    if not matches:
        raise ConfigError(f"{text or 'defaults'}: nothing of this is stored")
    return [match.result(text) for match in matches]


def _select_code_changes(pairs: Sequence[Pair], text: str) -> list[Pair]:
    """Return pairs that differ only in code; ConfigError if all differ otherwise."""
    code_changes = [(a, b) for a, b in pairs if {*differences([a.settings, b.settings])} <= {"code"}]
    if pairs and not code_changes:
        changed = ", ".join(key for key in differences([side.settings for side in pairs[0]]) if key != "code")
        raise ConfigError(
            f"{text}: what the code before computed has another {changed}; name both sides, with code=all"
        )
    return code_changes


def show(groups: Sequence[Sequence[Pair]], form: str) -> None:
    """Print groups of pairs: their common difference and its effects."""
    import pandas as pd

    if form == "csv":
        tables = [effects(group).assign(changed="; ".join(_changed_settings(group))) for group in groups]
        print_frame(pd.concat(tables, ignore_index=True), form)
        return
    for group in groups:
        for line in [*_changed_settings(group, whole=form != "text"), *_remarks(group)]:
            text = f"- {markdown_text(printable(line))}" if form == "markdown" else printable(line)
            print(fill(text, WIDEST, subsequent_indent="  ", break_on_hyphens=False))
        if len(table := effects(group)):
            print()
            print_frame(table, form)
        print()


def _changed_settings(group: Sequence[Pair], *, whole: bool = False) -> list[str]:
    settings = [side.settings for side in group[0]]
    changed = differences(settings)
    keys = [*varying_keys(settings), *(changed if whole else [])]
    return [f"{key}: {changed[key][0]} -> {changed[key][1]}" for key in dict.fromkeys(keys)]


def _remarks(group: Sequence[Pair]) -> Iterator[str]:
    if any(a.runs and b.runs for a, b in group):
        pairs = "in pairs over runs" if same_problem(*group[0]) else "not paired: these are different problems"
        yield f"the second less the first, on average over tasks, {pairs}"
    keys = varying_keys([a.settings for a, _ in group])
    for pair in group:
        if missing := list(dict.fromkeys(side.name for side in pair if not side.runs)):
            where = "".join(f"{key}={pair[0].settings.get(key)}: " for key in keys)
            commands = " and ".join(f"pomrl run -m {name}" for name in missing)
            computes = "computes it" if len(missing) == 1 else "compute them"
            yield f"{where}no results to compare: {' and '.join(missing)} not stored; {commands} {computes}"
