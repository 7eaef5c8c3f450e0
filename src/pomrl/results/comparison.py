"""Compare pairs of experiments in settings and results."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pomrl.configuration.composed import METHOD_GROUPS
from pomrl.configuration.settings import varying_keys
from pomrl.results.intervals import Interval, difference
from pomrl.results.result import Result

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

LOSS_AT_LARGEST = "loss at the largest gamma"
MINIMUM_LOSS = "minimum loss"

Pair = tuple[Result, Result]
"""The old and the new result of a comparison."""


def nearest(old: Sequence[Result], new: Sequence[Result]) -> list[Pair]:
    """Pair each new result with the old one closest in settings, first outside of components."""
    return [(min(old, key=lambda side: _distance(side, other)), other) for other in new]


def _distance(a: Result, b: Result) -> tuple[int, int]:
    keys = differences([a.settings, b.settings])
    return sum("." not in key for key in keys), len(keys)


def group_pairs(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Group pairs by their changed settings; omit pairs with equal settings."""
    groups: dict[str, list[Pair]] = {}
    for a, b in pairs:
        if changed := differences([a.settings, b.settings]):
            groups.setdefault(repr(changed), []).append((a, b))
    return list(groups.values())


def differences(sides: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Map each differing key to its values; a missing key is None."""
    keys = dict.fromkeys(key for side in sides for key in side)
    values = {key: [side.get(key) for side in sides] for key in keys}
    return {key: alternatives for key, alternatives in values.items() if len({*map(repr, alternatives)}) > 1}


def same_problem(a: Result, b: Result) -> bool:
    """Return whether two results differ only in method or code."""
    groups = {key.partition(".")[0] for key in differences([a.settings, b.settings])}
    return groups <= {*METHOD_GROUPS, "code"}


def effects(group: Sequence[Pair]) -> "pd.DataFrame":
    """Tabulate the effect of a change on the results of each pair.

    Returns:
        A row for each pair with runs and each loss (column result). It has the settings that vary among pairs,
        `compared_runs`, and the difference (second minus first) with its interval.
    """
    import pandas as pd

    keys = varying_keys([a.settings for a, _ in group])
    rows: list[dict[str, Any]] = []
    for a, b in group:
        if a.runs and b.runs:
            paired = same_problem(a, b)
            runs = compared_runs(a, b, paired=paired)
            for name, interval in loss_differences(a, b, paired=paired).items():
                row = {key: a.settings.get(key, "") for key in keys} | {"result": name, "runs": runs}
                rows.append(row | interval.columns("difference"))
    return pd.DataFrame(rows)


def compared_runs(a: Result, b: Result, *, paired: bool) -> int | str:
    """Return the number of pairs; unpaired, both numbers of runs if they differ."""
    return min(a.runs, b.runs) if paired or a.runs == b.runs else f"{a.runs}, {b.runs}"


def loss_differences(a: Result, b: Result, *, paired: bool) -> dict[str, Interval]:
    """Return differences in average loss, b minus a, with intervals.

    Losses are at the largest gamma and, on grids, at gamma*.
    """
    if paired and a.runs != b.runs:
        runs = min(a.runs, b.runs)
        a, b = (Result.of_losses(result.loss[:runs], result.gammas) for result in (a, b))
    intervals = {LOSS_AT_LARGEST: difference(a.regret, b.regret, paired=paired)}
    if len(a.gammas) > 1 and len(b.gammas) > 1:
        intervals[MINIMUM_LOSS] = difference(a.minimum, b.minimum, paired=paired)
    return intervals
