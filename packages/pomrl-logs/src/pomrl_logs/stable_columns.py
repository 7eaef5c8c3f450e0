"""Check that columns mean the same in all rows: units, codes and courses."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from pomrl_logs.association import MAX_TESTED_ROWS, Association, associate, is_relevant
from pomrl_logs.findings import Finding, Rows
from pomrl_logs.numeric_columns import assign_bins
from pomrl_logs.row_order import read_dates

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

MIN_OPPOSED_SHARE = 0.5
"""The share of other tasks with the opposite order of rewards from which a task has another sign."""

MIN_RELATIVE_CHANGE = 0.1
"""The smallest mean change of rewards of equal transitions that counts, in their standard deviations."""

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
    opposed_shares = _opposed_shares(means)
    for task in sorted(np.unique(rows.task).tolist(), key=lambda task: -opposed_shares.get(task, 0.0)):
        if what := _task_fault(_compare(means, task), opposed_shares.get(task, 0.0)):
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


def _opposed_shares(means: "pd.DataFrame") -> dict[int, float]:
    """Return the share of other tasks whose mean rewards have the opposite order and sign, by task.

    The median of the other tasks would hide a sign that several tasks have.
    """
    table = means.pivot_table(index="part", columns="pair", values="mean")
    is_known, values = table.notna().to_numpy(float), table.fillna(0.0).to_numpy()
    order = table.rank(axis=1)
    ranks = order.sub(order.mean(axis=1), axis=0).fillna(0.0).to_numpy()
    shared = is_known @ is_known.T
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = ranks @ ranks.T / np.sqrt((ranks**2 @ is_known.T) * (is_known @ (ranks**2).T))
        z = np.arctanh(np.clip(correlation, -0.999, 0.999)) * np.sqrt(shared - 3.0)
        own = values @ is_known.T / shared
        deviation = table.std(axis=1, ddof=0).fillna(0.0).to_numpy()
        is_negative = np.abs(own + own.T) <= np.abs(own - own.T) + 0.5 * deviation
        is_opposed = (shared >= MIN_PAIRS) & (z < -MIN_Z) & is_negative
        shares = is_opposed.sum(1) / ((shared >= MIN_PAIRS).sum(1) - 1)
    return dict(zip(table.index.astype(int), np.nan_to_num(shares).tolist(), strict=True))


def _task_fault(scale: _Scale | None, opposed_share: float) -> str:
    if opposed_share >= MIN_OPPOSED_SHARE:
        return "rank states and actions against those"
    if scale is None:
        return ""
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
            cause = _find_cause(later, rows.following, pair, columns)
            yield _drift_finding(rows, "equal states and actions lead elsewhere", course, row, cause)
        elif (
            is_relevant(reward, 2 * len(orders))
            and _relative_change(rows.reward, later, transition) >= MIN_RELATIVE_CHANGE
            and not _find_cause(later, paid, transition, columns)
        ):
            yield _drift_finding(rows, "equal transitions pay otherwise", reward, row)


def _orders(rows: Rows, columns: Mapping[str, "pd.Series"]) -> list[Int[np.ndarray, " n"]]:
    """Return different orders of rows, unless sorted by their content."""
    times = [rows.time, *map(read_dates, columns.values())]
    by_time = [np.argsort(time, kind="stable") for time in times if time is not None and _is_calendar(time, rows.task)]
    orders = [np.argsort(rows.position), *([np.arange(len(rows.task))] if rows.has_episodes else []), *by_time]
    different = {_later_half(rows, order).tobytes(): order for order in orders}.values()
    content = rows.state, rows.action, rows.following, rows.reward
    return [order for order in different if not any(_is_sorted(values[order], rows.task[order]) for values in content)]


def _is_calendar(time: Float[np.ndarray, " n"], task: Int[np.ndarray, " n"]) -> bool:
    """Return whether times order the rows of tasks, not only those of episodes."""
    times = pd.DataFrame({"task": task, "time": time})
    return int(times.duplicated().sum()) <= (1.0 - MIN_CALENDAR_SHARE) * len(time)


def _is_sorted(values: np.ndarray, task: Int[np.ndarray, " n"]) -> bool:
    by_task = values[np.argsort(task, kind="stable")]
    return any(
        min((np.diff(ordered) < 0).mean(), (np.diff(ordered) > 0).mean()) < 0.01 for ordered in (values, by_task)
    )


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


def _drift_finding(rows: Rows, what: str, outcome: Association, row: int, cause: str | None = None) -> Finding:
    state = rows.columns["state"]
    remedy = "use the same codes in all rows, add the cause to --state {state}, or leave out the rows before the change"
    if cause:
        remedy = f"the column {cause!r} explains it: add --task {cause}, or --state {state},{cause}"
    return Finding(
        "drift",
        f"{what} in the later half of each task's rows (Cramér's V = {outcome.effect:.2f}; from about "
        f"{rows.label(row)} on): {remedy.format(state=state)}",
    )


def _relative_change(
    reward: Float[np.ndarray, " n"], later: Int[np.ndarray, " n"], transition: Int[np.ndarray, " n"]
) -> float:
    """Return the mean change of rewards of equal transitions, in standard deviations of rewards."""
    key = np.unique(transition, return_inverse=True)[1]
    counts, sums = (
        np.stack([np.bincount(key, values * (later == half)) for half in (0, 1)]) for values in (1.0, reward)
    )
    weight = counts.min(0)
    means = sums / np.maximum(counts, 1.0)
    change = (weight * np.abs(means[1] - means[0])).sum() / max(weight.sum(), 1.0)
    return float(change / max(reward.std(), np.finfo(float).tiny))


def _find_cause(
    later: Int[np.ndarray, " n"],
    outcome: Int[np.ndarray, " n"],
    stratum: Int[np.ndarray, " n"],
    columns: Mapping[str, "pd.Series"],
) -> str | None:
    """Return a column of few values, such as a tariff, explaining the change; None without one."""
    for name, column in columns.items():
        codes, values = pd.factorize(column.map(str))
        if 1 < len(values) <= MAX_LEVELS and not is_relevant(associate(later, outcome, _code(stratum, codes)), 2):
            return name
    return None


def _pair_means(rows: Rows, part: Int[np.ndarray, " n"]) -> "pd.DataFrame":
    """Return mean rewards of frequent pairs of state and action, by part."""
    keys = {"part": part, "pair": _code(rows.state, rows.action), "reward": rows.reward}
    means = pd.DataFrame(keys).groupby(["part", "pair"])["reward"].agg(["mean", "size"]).reset_index()
    return means[means["size"] >= MIN_PAIR_ROWS]


def _compare(means: "pd.DataFrame", part: int) -> _Scale | None:
    """Compare the mean rewards of a part with the median of the others; None for few pairs."""
    is_part = means["part"] == part
    medians = means[~is_part].groupby("pair")["mean"].median()
    own = means[is_part].set_index("pair")["mean"]
    shared = own.index.intersection(medians.index)
    own, medians = own[shared].to_numpy(), medians[shared].to_numpy()
    if len(shared) < MIN_PAIRS or not np.ptp(own) or not np.ptp(medians):
        return None
    correlation = _rank_correlation(own, medians)
    is_negative = abs(own.mean() + medians.mean()) <= abs(own.mean() - medians.mean()) + 0.5 * medians.std()
    shift = (own.mean() - medians.mean()) / medians.std()
    z = float(np.arctanh(np.clip(correlation, -0.999, 0.999)) * np.sqrt(len(shared) - 3))
    return _Scale(correlation, z, float(own.std() / medians.std()), float(shift), bool(is_negative))


def _rank_correlation(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> float:
    ranks = np.stack([pd.Series(values).rank() for values in (x, y)])
    return float(np.corrcoef(ranks)[0, 1])


def _code(*columns: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    code = np.zeros(len(columns[0]), int)
    for column in columns:
        code = code * (int(column.max(initial=0)) + 1) + column
    return code
