"""The command `pomrl diff`."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Annotated, Literal

from pomrl.commands.errors import one_line_errors
from pomrl.commands.review import compare_revisions, parse_range
from pomrl.commands.terminal import print_frame, printable
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import varying_keys
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.results.comparison import Pair, differences, effects, group_pairs, nearest, same_problem
from pomrl.results.result import Result
from pomrl.results.selection import PREVIOUS, resolve
from pomrl.results.tables import markdown_text

MAX_LINE_CHARACTERS = 78
"""The maximum length of a line."""


@one_line_errors(ValueError, status=2)
def diff(
    a: str,
    /,
    *b: Annotated[str, "B"],
    runs: Annotated[int | None, "N"] = None,
    sweeps: Annotated[Sequence[str], "NAME"] = (),
    config_dir: Path | None = None,
    format: Literal["text", "csv", "markdown", "latex"] = "text",
) -> None:
    """Show differences between experiments, in settings and results.

    Each experiment of B is compared with the most similar one of A, and pairs with equal differences are grouped. A
    alone compares results of the previous and the present code. For older code, give both: "tag=dev code=LABEL"
    "tag=dev". OLD..NEW compares two git revisions in settings, code and results, each with its own code; main..
    compares main with the working files. The exit status is 0 if equal, 1 if different, and 2 on error, as in diff(1).

    Args:
        a: Settings, such as "estimator=pomrl sigma=0.01,0.02"; or a signature, a folder, or OLD..NEW.
        b: Settings, signatures or folders to compare with A.
        runs: With OLD..NEW, compute this number of runs of each changed experiment with both codes.
        sweeps: With OLD..NEW, only these sweeps STUDY/NAME, or studies.
        config_dir: A folder like conf/ with your own options.
        format: The format of tables (default: text).
    """
    sources = PUBLISHED.with_options(config_dir)
    _check_repeated([a, *b])
    if runs is not None and runs < 1:
        raise ConfigError(f"--runs must be at least 1, got {runs}")
    if not b and (revisions := parse_range(a)):
        raise SystemExit(compare_revisions(*revisions, format, runs, sweeps))
    if runs or sweeps:
        raise ConfigError("--runs and --sweeps need two git revisions, such as main..branch")
    if a and not b and "=" not in a:
        raise ConfigError(f"{a}: only settings can be compared with the previous code; give B to compare with")
    if b:
        pairs = [pair for other in b for pair in nearest(sides(a, sources), sides(other, sources))]
    else:
        pairs = _select_code_changes(nearest(sides(f"{a} code={PREVIOUS}", sources), sides(a, sources)), a)
    if groups := group_pairs(pairs):
        show(groups, format)
    else:
        print("no difference")
    raise SystemExit(1 if groups else 0)


def _check_repeated(selections: Sequence[str]) -> None:
    for index, text in enumerate(selections):
        if "=" in text and text in selections[:index]:
            raise ConfigError(f"{text} is given twice; quote a selection of several words")


def sides(text: str, sources: Sources) -> list[Result]:
    """Return the results of an argument's experiments; ConfigError without any."""
    matches, _ = resolve(shlex.split(text), sources=sources)
    if not matches:
        remedy = "give B to compare with other settings" if f"code={PREVIOUS}" in text else "pomrl runs lists all"
        raise ConfigError(f"no stored experiments for {text or 'the defaults'}; {remedy}")
    return [match.result(text) for match in matches]


def _select_code_changes(pairs: Sequence[Pair], text: str) -> list[Pair]:
    code_changes = [(a, b) for a, b in pairs if {*differences([a.settings, b.settings])} <= {"code"}]
    if pairs and not code_changes:
        changed = ", ".join(key for key in differences([side.settings for side in pairs[0]]) if key != "code")
        start = f"{text or 'the defaults'}: results of the previous code also differ in {changed}"
        raise ConfigError(f"{start}; give both A and B, with code=all")
    return code_changes


def show(groups: Sequence[Sequence[Pair]], form: str) -> None:
    """Print groups of pairs with common differences and effects."""
    import pandas as pd

    if form == "csv":
        tables = [effects(group).assign(changed="; ".join(_changed_settings(group))) for group in groups]
        print_frame(pd.concat(tables, ignore_index=True), form)
        return
    for group in groups:
        for line in [*_changed_settings(group, whole=form != "text"), *_remarks(group)]:
            text = f"- {markdown_text(printable(line))}" if form == "markdown" else printable(line)
            print(fill(text, MAX_LINE_CHARACTERS, subsequent_indent="  ", break_on_hyphens=False))
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
        pairs = "in pairs over runs" if same_problem(*group[0]) else "not paired: the problems differ"
        yield f"second minus first, averaged over tasks, {pairs}"
    keys = varying_keys([a.settings for a, _ in group])
    for pair in group:
        if missing := list(dict.fromkeys(side.name for side in pair if not side.runs)):
            where = "".join(f"{key}={pair[0].settings.get(key)}: " for key in keys)
            commands = " and ".join(f"pomrl run -m {name}" for name in missing)
            yield f"{where}no stored runs to compare; to compute them: {commands}"
