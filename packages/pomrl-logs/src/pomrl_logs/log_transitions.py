"""Convert tables to transitions in ordered episodes."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.planning import END
from pomrl_logs.column_roles import ColumnRoles, name_list
from pomrl_logs.findings import Finding, Rows
from pomrl_logs.table_columns import LogTable

MAX_REWARD = 1e100
"""The upper limit of the largest absolute reward; its inverse is the lower limit."""


MISSING = "is missing; write a name, or add --missing '' to end the episode there"

MICROSECONDS_PER_DAY = 86_400e6

MAX_STEP_RATIO = 5.0
"""The largest ratio of long to short times between decisions without a note."""

UNORDERED = (
    "is not an end; without next states, all rows must be terminated, or have an order; add --next-state COLUMN, or "
    "--episode COLUMN --time COLUMN"
)


class Combined(tuple[Hashable, ...]):
    """The name of a state or action, combined from several columns."""

    __slots__ = ()

    def __str__(self) -> str:
        return ", ".join(map(str, self))


@dataclass(frozen=True, eq=False)
class Transitions:
    """The transitions of a table as numbers, sorted by episode."""

    table: LogTable
    rows: Rows
    tasks: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]
    episode: Int[np.ndarray, " n"]
    roles: ColumnRoles


def read_transitions(table: LogTable, roles: ColumnRoles) -> Transitions:
    """Read the transitions of a table; TableError with its faults."""
    tasks, task = _combined_names(table, [roles.task] if roles.task else [], "all")
    episode = _episodes(table, task, roles.episode)
    group = task if episode is None else episode
    times = None if roles.time is None else table.order(roles.time)
    order = np.lexsort((times, group)) if times is not None else np.argsort(group, kind="stable")
    table, task, group, position = table.rows(order), task[order], group[order], order
    if times is not None:
        _check_times(table, times[order], group, roles)
        _report_steps(table, times[order], group, str(roles.time))
    ended = np.zeros(len(order), bool) if roles.terminated is None else table.flags(roles.terminated)
    present, segment = _without_missing(table, roles, group, ended, has_episodes=episode is not None)
    table, task, group, position, ended = (
        table.rows(present),
        task[present],
        group[present],
        position[present],
        ended[present],
    )
    states, state, following = _states(table, roles, segment, ended, has_episodes=episode is not None)
    actions, action = _combined_names(table, name_list(roles.action), "")
    reward = table.numbers(roles.value)
    _check_scale(table, reward, roles.value)
    table.check()
    reward = -reward if roles.cost else reward
    with_next = np.flatnonzero(following >= 0)
    if ended.any():
        states, following = [*states, END], np.where(ended, len(states), following)
    is_state = np.isin(np.arange(len(states)), state)  # END is not one
    if not len(with_next):
        raise ValueError(f"{table.where}: no row has a next state; check --episode and --next-state")
    table = table.rows(with_next)
    columns = {"state": ",".join(name_list(roles.state)), "reward": roles.value}
    columns["next_state"] = ",".join(name_list(roles.next_state)) if roles.next_state else "the state of the next row"
    rows = Rows(
        task[with_next],
        state[with_next],
        action[with_next],
        following[with_next],
        reward[with_next],
        ended[with_next],
        segment[with_next],
        episode is not None,
        None if times is None else times[position][with_next],
        tuple(states),
        columns,
        is_state,
        position[with_next],
        table.label,
    )
    numbers = np.arange(len(with_next)) if episode is None else np.unique(group[with_next], return_inverse=True)[1]
    return Transitions(table, rows, tuple(tasks), tuple(actions), numbers, roles)


def _without_missing(
    table: LogTable,
    roles: ColumnRoles,
    group: Int[np.ndarray, " n"],
    ended: Bool[np.ndarray, " n"],
    *,
    has_episodes: bool,
) -> tuple[Bool[np.ndarray, " n"], Int[np.ndarray, " k"]]:
    """Return a mask of rows without missing values, and the remaining rows' episodes, cut there.

    Without `table.missing`, all rows are returned, and missing values are faults.
    """
    if not table.missing:
        return np.ones(len(group), bool), group
    last = np.append(group[1:] != group[:-1], True)
    missing = np.zeros(len(group), bool)
    for column in (*name_list(roles.state), *name_list(roles.action)):
        missing |= table.is_missing(column)
    for column in name_list(roles.next_state):
        missing |= table.is_missing(column) & ~ended & ~(last & has_episodes)
    missing |= table.is_declared_missing(roles.value)
    if missing.any():
        row = int(missing.argmax())
        line = f"{int(missing.sum())} rows with missing values are left out and end their episodes there"
        table.findings.append(Finding("missing", f"{line} ({table.label(row)})"))
    starts = np.append(False, group[1:] != group[:-1]) | missing
    return ~missing, np.cumsum(starts)[~missing]


def _check_scale(table: LogTable, reward: Float[np.ndarray, " n"], column: str) -> None:
    size = np.abs(np.where(np.isfinite(reward), reward, 0.0))
    table.refuse(size > MAX_REWARD, column, "is so large that its square overflows; divide all values by a constant")
    if size.max(initial=0.0) < 1.0 / MAX_REWARD:
        table.refuse(size > 0.0, column, "is so small that its square underflows; multiply all values by a constant")


def _combined_names(
    table: LogTable, columns: Sequence[str], default: str
) -> tuple[list[Hashable], Int[np.ndarray, " n"]]:
    """Combine columns of names; without columns, all rows have the default name."""
    if not columns:
        return [default], np.zeros(len(table.frame), int)
    columns_codes = [table.names(column) for column in columns]
    for column, (_, (code,)) in zip(columns, columns_codes, strict=True):
        table.refuse(code < 0, column, MISSING)
    names, (code,) = _combine([(labels, codes) for labels, codes in columns_codes])
    return names, code


def _combine(
    columns: Sequence[tuple[list[Hashable], list[Int[np.ndarray, " n"]]]],
) -> tuple[list[Hashable], list[Int[np.ndarray, " n"]]]:
    """Combine names; the position of an incomplete combination is -1."""
    if len(columns) == 1:
        return columns[0]
    lengths = np.cumsum([len(code) for code in columns[0][1]])[:-1]
    codes = [np.concatenate(codes) for _, codes in columns]
    present = np.all([code >= 0 for code in codes], axis=0)
    whole = np.zeros(len(present), int)
    for (labels, _), code in zip(columns, codes, strict=True):  # numbers stay small, however many columns there are
        whole = np.unique(whole * len(labels) + np.maximum(code, 0), return_inverse=True)[1]
    used, first = np.unique(whole[present], return_index=True)
    rows = np.flatnonzero(present)[first]
    names = [
        Combined(labels[code[row]] for (labels, _), code in zip(columns, codes, strict=True)) for row in rows.tolist()
    ]
    positions = np.where(present, np.searchsorted(used, whole), -1)
    return list(names), np.split(positions, lengths)


def _episodes(table: LogTable, task: Int[np.ndarray, " n"], column: str | None) -> Int[np.ndarray, " n"] | None:
    if column is None:
        return None
    names, (code,) = table.names(column)
    table.refuse(code < 0, column, "is missing; write the episode, or remove the row")
    return task * len(names) + code  # tasks may use the same names of episodes


def _check_times(
    table: LogTable, times: Float[np.ndarray, " n"], group: Int[np.ndarray, " n"], roles: ColumnRoles
) -> None:
    same = np.append(False, (times[1:] == times[:-1]) & (group[1:] == group[:-1]))
    remedy = "number the rows of each episode" if roles.episode else "give the column of episodes with --episode"
    where = f"its {'episode' if roles.episode else 'task'}; {remedy}"
    table.refuse(same, str(roles.time), f"occurs in another row of {where}")


def _report_steps(table: LogTable, times: Float[np.ndarray, " n"], group: Int[np.ndarray, " n"], column: str) -> None:
    """Report steps of unequal length between dates."""
    days = np.diff(times)[group[1:] == group[:-1]] / MICROSECONDS_PER_DAY
    if not (table.has_dates(column) and len(days)):
        return
    short, long = np.quantile(days, [0.1, 0.9])
    if long > MAX_STEP_RATIO * short:
        line = (
            f"times between decisions differ: 80 % are {short:.3g} to {long:.3g} days; gamma counts decisions, not days"
        )
        table.findings.append(Finding("steps", line))


def _states(
    table: LogTable,
    roles: ColumnRoles,
    group: Int[np.ndarray, " n"],
    ended: Bool[np.ndarray, " n"],
    *,
    has_episodes: bool,
) -> tuple[list[Hashable], Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Return the names of states, and each row's state and next state.

    An unknown next state is -1.
    """
    last = np.append(group[1:] != group[:-1], True)
    columns, following = name_list(roles.state), name_list(roles.next_state)
    if not following and not has_episodes and roles.time is None:
        table.refuse(~ended, str(roles.terminated), UNORDERED)
    if len(following) > len(columns):
        raise ValueError(f"next_state must have at most {len(columns)} columns, like state, got {len(following)}")
    columns_codes = []
    for number, column in enumerate(columns):
        pair = [column, following[number]] if number < len(following) else [column]
        names, codes = table.names(*pair)
        table.refuse(codes[0] < 0, column, MISSING)
        if len(pair) == 1 and following:
            _check_constant(table, column, codes[0], last, has_episodes=has_episodes)
            codes = [codes[0], codes[0]]
        elif len(pair) == 1:
            codes = [codes[0], np.where(last, -1, np.roll(codes[0], -1))]
        columns_codes.append((names, codes))
    names, (state, after) = _combine(columns_codes)
    is_missing = (after < 0) & ~ended
    if following:
        problem = (
            "is missing; mark ends of episodes with --terminated COLUMN, or identify episodes with --episode COLUMN"
        )
        table.refuse(is_missing & ~(last & has_episodes), following[0], problem)
    if is_missing.any():
        row = int(is_missing.argmax())
        n = int(is_missing.sum())
        line = f"last rows of episodes left out, because they have no next state: {n} ({table.label(row)})"
        table.findings.append(Finding("order", line))
    after = np.where(ended, 0, after)
    return names, state, after


def _check_constant(
    table: LogTable, column: str, code: Int[np.ndarray, " n"], last: Bool[np.ndarray, " n"], *, has_episodes: bool
) -> None:
    if has_episodes:
        changes = np.append((code[1:] != code[:-1]) & ~last[:-1], False)
        why = "changes within an episode; add a column of next values to --next-state, or leave --next-state out"
        table.refuse(changes, column, why)
