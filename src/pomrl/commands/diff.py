"""Show what differs between experiments, in settings and in results: pomrl diff A [B ...] [--format FORMAT].

Each side is words of `pomrl run -m`, which may mean several experiments: "estimator=pomrl sigma=0.01,0.02"; or the
start of a signature, or a folder. Each of B, C, ... is compared with the one of A that differs least, and those that
share a difference stand together. Of A alone, what the code before the present one computed is compared with what the
present code computes of the same settings; other versions are named: pomrl diff "tag=dev code=LABEL" "tag=dev".
Of OLD..NEW, revisions of git, it shows which published sweeps have other settings: pomrl diff main..branch, or main..
for the files as they are.
The exit status is that of diff(1): 0 where they are equal, 1 where they differ, 2 on error.
"""

import shlex
from collections.abc import Iterator, Sequence
from textwrap import fill

from pomrl.commands.arguments import Parser, add_config_dir, add_format, sources
from pomrl.commands.errors import one_line_errors
from pomrl.commands.revisions import compare_revisions, parse_range
from pomrl.commands.terminal import print_frame, printable
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import varying_keys
from pomrl.configuration.sources import Sources
from pomrl.results.comparison import Pair, differences, effects, group_pairs, nearest, same_problem
from pomrl.results.result import Result
from pomrl.results.selection import PREVIOUS, resolve
from pomrl.results.tables import markdown_text

WIDEST = 78
"""The most characters of a line."""


@one_line_errors(ValueError, status=2)
def main(parser: Parser) -> None:
    """Run the command and exit with status 0, 1 or 2 as diff(1) does."""
    parser.add_argument(
        "side", nargs="+", metavar="A", help='settings: "estimator=pomrl", a signature, a folder, OLD..NEW'
    )
    add_config_dir(parser)
    add_format(parser)
    arguments = parser.parse_args()
    of, first, *others = sources(arguments), *arguments.side
    if not others and (revisions := parse_range(first)):
        raise SystemExit(1 if compare_revisions(*revisions, arguments.format) else 0)
    if others:
        pairs = [pair for other in others for pair in nearest(sides(first, of), sides(other, of))]
    else:
        pairs = _of_same_settings(nearest(sides(f"{first} code={PREVIOUS}", of), sides(first, of)), first)
    if groups := group_pairs(pairs):
        show(groups, arguments.format)
    else:
        print("no difference")
    raise SystemExit(1 if groups else 0)


def sides(text: str, sources: Sources) -> list[Result]:
    """Return the experiments that an argument names, with their losses where they are stored."""
    found, _ = resolve(shlex.split(text), sources=sources)
    if not found:
        raise ConfigError(f"{text or 'defaults'}: nothing of this is stored")
    return [match.result(text) for match in found]


def _of_same_settings(pairs: Sequence[Pair], text: str) -> list[Pair]:
    """Return the pairs that differ in code alone; ConfigError if there are others alone, as after a changed default."""
    found = [(a, b) for a, b in pairs if {*differences([a.settings, b.settings])} <= {"code"}]
    if pairs and not found:
        changed = ", ".join(key for key in differences([side.settings for side in pairs[0]]) if key != "code")
        raise ConfigError(
            f"{text}: what the code before computed has another {changed}; name both sides, with code=all"
        )
    return found


def show(groups: Sequence[Sequence[Pair]], form: str) -> None:
    """Print pairs of experiments, those that share a difference together: what differs, and what that does."""
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
    """Return the settings in which the pairs of a group differ; as a whole with those that come with another option."""
    both = [side.settings for side in group[0]]
    changed = differences(both)
    keys = [*varying_keys(both), *(changed if whole else [])]
    return [f"{key}: {changed[key][0]} -> {changed[key][1]}" for key in dict.fromkeys(keys)]


def _remarks(group: Sequence[Pair]) -> Iterator[str]:
    """Yield how results are compared, and which pairs have nothing to compare."""
    if any(a.runs and b.runs for a, b in group):
        pairs = "in pairs over runs" if same_problem(*group[0]) else "not paired: these are different problems"
        yield f"the second less the first, on average over tasks, {pairs}"
    keys = varying_keys([a.settings for a, _ in group])
    for pair in group:
        if lacking := list(dict.fromkeys(side.name for side in pair if not side.runs)):
            where = "".join(f"{key}={pair[0].settings.get(key)}: " for key in keys)
            commands = " and ".join(f"pomrl run -m {name}" for name in lacking)
            computes = "computes it" if len(lacking) == 1 else "compute them"
            yield f"{where}no results to compare: {' and '.join(lacking)} not stored; {commands} {computes}"
