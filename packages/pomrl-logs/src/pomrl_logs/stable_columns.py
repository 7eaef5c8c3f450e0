"""Check that columns mean the same in all rows: units, codes and courses."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from pomrl_logs.association import MAX_TESTED_ROWS, Association, associate, is_relevant
from pomrl_logs.findings import Finding, Rows
from pomrl_logs.row_order import read_dates
from pomrl_logs.table_columns import assign_bins

MIN_PAIR_ROWS = 5
"""The smallest number of rows of a compared mean reward."""

MIN_PAIRS = 8
"""The smallest number of compared pairs of state and action."""

MIN_RANK_CORRELATION = 0.5
"""The rank correlation of mean rewards from which they have the same order."""

MIN_Z = 4.0
"""The number of standard errors from which mean rewards have the opposite order."""

MIN_MIXED_ROWS = 10
"""The smallest number of rows of a transition in a check for two units."""

MIXED_SHARE = 0.5
"""The share of transitions with two sizes of rewards from which they have two units."""

MAX_TASK_RATIO = 10.0
"""The largest ratio of the spreads of rewards between tasks."""

MAX_LATER_RATIO = 4.0
"""The largest ratio of the spreads of rewards between earlier and later rows."""

MIN_CALENDAR_SHARE = 0.5
"""The smallest share of different times among rows, from which they order the rows of tasks."""

MAX_LEVELS = 8
"""The largest number of values of a column explaining a change of rewards."""


class _Scale(NamedTuple):
    """The rewards of a part of the log, compared with the others."""

    correlation: float
    """The correlation of ranks."""
    z: float
    """The correlation in standard errors."""
    ratio: float
    shift: float
    """The difference of means, in standard deviations of the others."""
    is_negative: bool
    """Whether the mean is nearer to the negative mean of the others."""


def check_units(rows: Rows) -> Iterator[Finding]:
    """Find rewards in two units, and tasks with another unit or sign than all others."""
    yield from _check_mixed_units(rows)
    means = _pair_means(rows, rows.task)
    for task in np.unique(rows.task):
        scale = _compare(means, task)
        what = _task_fault(scale) if scale else ""
        if what:
            row = int((rows.task == task).argmax())
            yield Finding(
                "units",
                f"the rewards {rows.columns['reward']!r} of one task {what} of all other tasks ({rows.label(row)}): "
                "give all rewards in one unit and with one sign",
            )
            return


def _check_mixed_units(rows: Rows) -> Iterator[Finding]:
    """Find equal transitions whose rewards have two sizes, with the same ratio for most transitions."""
    size = pd.Series(np.log(np.abs(rows.reward[rows.reward != 0.0])))
    transition = _code(rows.task, rows.state, rows.action, rows.following)[rows.reward != 0.0]
    groups = [values for _, values in size.groupby(transition) if len(values) >= MIN_MIXED_ROWS]
    ratios = np.array([_cluster_ratio(np.sort(values.to_numpy())) for values in groups])
    middle = float(np.median(ratios)) if len(ratios) >= MIN_PAIRS else 0.0
    if middle > np.log(MAX_LATER_RATIO) and (np.abs(ratios - middle) < np.log(2.0)).mean() > MIXED_SHARE:
        yield Finding(
            "units",
            f"the rewards {rows.columns['reward']!r} of equal transitions have two sizes, one {np.exp(middle):.3g} "
            f"times the other (as from {rows.label(0)} on): give all rewards in one unit",
        )


def _cluster_ratio(sizes: Float[np.ndarray, " n"]) -> float:
    """Return the logarithmic distance of two clusters of sorted sizes, 0 if one is small or they are near."""
    gaps = np.diff(sizes)
    split = int(gaps.argmax()) + 1
    is_apart = gaps.max() > np.log(MAX_LATER_RATIO) and min(split, len(sizes) - split) >= 0.1 * len(sizes)
    return float(np.median(sizes[split:]) - np.median(sizes[:split])) if is_apart else 0.0


def _task_fault(scale: _Scale) -> str:
    if scale.z < -MIN_Z and scale.is_negative:
        return "rank states and actions against those"
    if scale.correlation > MIN_RANK_CORRELATION and not 1 / MAX_TASK_RATIO < scale.ratio < MAX_TASK_RATIO:
        return f"are {scale.ratio:.3g} times as large as those"
    return ""


def check_drift(rows: Rows, columns: Mapping[str, "pd.Series"]) -> Iterator[Finding]:
    """Find changes between the earlier and the later half of each task's rows.

    The orders are that of the table, that of episodes, and those by columns of times.
    """
    if len(rows.task) < 2:
        return
    pair = _code(rows.task, rows.state, rows.action)
    transition = _code(pair, rows.following)
    paid = assign_bins(rows.reward, 3)
    orders = _orders(rows, columns)
    tested = np.arange(len(pair))
    if len(pair) > MAX_TESTED_ROWS:
        tested = np.sort(np.random.default_rng(0).choice(len(pair), MAX_TESTED_ROWS, replace=False))
    for order in orders:
        later = _later_half(rows, order)
        course = associate(later[tested], rows.following[tested], pair[tested])
        reward = associate(later[tested], paid[tested], transition[tested])
        row = int(later.argmax())
        if fault := _later_fault(_compare(_pair_means(rows, later), 1)):
            yield _units_finding(rows, fault, row)
        elif is_relevant(course, 2 * len(orders)):
            yield _drift_finding(rows, "equal states and actions lead elsewhere", course, row)
        elif is_relevant(reward, 2 * len(orders)) and not _is_explained(later, paid, transition, columns):
            yield _drift_finding(rows, "equal transitions pay otherwise", reward, row)


def _orders(rows: Rows, columns: Mapping[str, "pd.Series"]) -> list[Int[np.ndarray, " n"]]:
    """Return different orders of rows, unless sorted by their content."""
    times = [rows.time, *map(read_dates, columns.values())]
    by_time = [np.argsort(time, kind="stable") for time in times if time is not None and _is_calendar(time, rows.task)]
    orders = [np.argsort(rows.position), *([np.arange(len(rows.task))] if rows.has_episodes else []), *by_time]
    different = {_later_half(rows, order).tobytes(): order for order in orders}.values()
    content = rows.state, rows.action, rows.following, rows.reward
    return [order for order in different if not any(_is_sorted(each[order], rows.task[order]) for each in content)]


def _is_calendar(time: Float[np.ndarray, " n"], task: Int[np.ndarray, " n"]) -> bool:
    """Return whether times order the rows of tasks, not only those of episodes."""
    times = pd.DataFrame({"task": task, "time": time})
    return int(times.duplicated().sum()) <= (1.0 - MIN_CALENDAR_SHARE) * len(time)


def _is_sorted(values: np.ndarray, task: Int[np.ndarray, " n"]) -> bool:
    by_task = values[np.argsort(task, kind="stable")]
    return any(min((np.diff(each) < 0).mean(), (np.diff(each) > 0).mean()) < 0.01 for each in (values, by_task))


def _later_half(rows: Rows, order: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    task = rows.task[order]
    by_task = order[np.argsort(task, kind="stable")]
    size = np.bincount(task)
    number = np.empty(len(order), int)
    number[by_task] = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    return (number >= size[rows.task] // 2).astype(int)


def _later_fault(scale: _Scale | None) -> str:
    if scale is None:
        return ""
    if scale.z < -MIN_Z and scale.is_negative:
        return "have the opposite order and sign"
    if scale.correlation < MIN_RANK_CORRELATION:
        return ""
    if not 1 / MAX_LATER_RATIO < scale.ratio < MAX_LATER_RATIO:
        return f"are {scale.ratio:.3g} times as large"
    return f"are shifted by {scale.shift:.2g} standard deviations" if abs(scale.shift) > MAX_LATER_RATIO else ""


def _units_finding(rows: Rows, fault: str, row: int) -> Finding:
    return Finding(
        "units",
        f"the rewards {rows.columns['reward']!r} of equal states and actions {fault} in the later half of rows (from "
        f"about {rows.label(row)} on): give all rewards in one unit and with one sign",
    )


def _drift_finding(rows: Rows, what: str, outcome: Association, row: int) -> Finding:
    return Finding(
        "drift",
        f"{what} in the later half of each task's rows (Cramér's V = {outcome.effect:.2f}; from about "
        f"{rows.label(row)} on): use the same codes in all rows, add the cause to --state {rows.columns['state']}, or "
        "leave out the rows before the change",
    )


def _is_explained(
    later: Int[np.ndarray, " n"],
    paid: Int[np.ndarray, " n"],
    transition: Int[np.ndarray, " n"],
    columns: Mapping[str, "pd.Series"],
) -> bool:
    """Return whether a column of few values, such as a tariff, explains the change of rewards."""
    for column in columns.values():
        codes, values = pd.factorize(column.map(str))
        if 1 < len(values) <= MAX_LEVELS and not is_relevant(associate(later, paid, _code(transition, codes)), 2):
            return True
    return False


def _pair_means(rows: Rows, part: Int[np.ndarray, " n"]) -> "pd.DataFrame":
    """Return mean rewards of frequent pairs of state and action, by part."""
    keys = {"part": part, "pair": _code(rows.state, rows.action), "reward": rows.reward}
    means = pd.DataFrame(keys).groupby(["part", "pair"])["reward"].agg(["mean", "size"]).reset_index()
    return means[means["size"] >= MIN_PAIR_ROWS]


def _compare(means: "pd.DataFrame", part: int) -> _Scale | None:
    """Compare the mean rewards of a part with the median of the others; None for few pairs."""
    is_part = means["part"] == part
    others = means[~is_part].groupby("pair")["mean"].median()
    own = means[is_part].set_index("pair")["mean"]
    shared = own.index.intersection(others.index)
    own, others = own[shared].to_numpy(), others[shared].to_numpy()
    if len(shared) < MIN_PAIRS or not np.ptp(own) or not np.ptp(others):
        return None
    correlation = _rank_correlation(own, others)
    is_negative = abs(own.mean() + others.mean()) <= abs(own.mean() - others.mean()) + 0.5 * others.std()
    shift = (own.mean() - others.mean()) / others.std()
    z = float(np.arctanh(np.clip(correlation, -0.999, 0.999)) * np.sqrt(len(shared) - 3))
    return _Scale(correlation, z, float(own.std() / others.std()), float(shift), bool(is_negative))


def _rank_correlation(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> float:
    ranks = np.stack([pd.Series(values).rank() for values in (x, y)])
    return float(np.corrcoef(ranks)[0, 1])


def _code(*columns: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    code = np.zeros(len(columns[0]), int)
    for column in columns:
        code = code * (int(column.max(initial=0)) + 1) + column
    return code
