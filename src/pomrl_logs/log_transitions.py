"""The transitions of a table: tasks, episodes in their order, states and the states that follow."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.models.planning import END
from pomrl_logs.column_roles import Roles, several
from pomrl_logs.findings import Finding
from pomrl_logs.log_rows import Rows
from pomrl_logs.table_columns import Table

LARGEST_REWARD = 1e100
"""The largest reward of a log, and the inverse of the least."""


class Combined(tuple[Hashable, ...]):
    """The names in several columns of a row, which are one name together."""

    __slots__ = ()

    def __str__(self) -> str:
        return ", ".join(map(str, self))


@dataclass(frozen=True, eq=False)
class Transitions:
    """A table as numbers, in the order of episodes."""

    table: Table
    rows: Rows
    tasks: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]
    episode: Int[np.ndarray, " n"]
    roles: Roles


def read_transitions(table: Table, roles: Roles) -> Transitions:
    """Return the transitions of a table whose columns have these roles; ValueError with the first bad row."""
    tasks, task = _names_of(table, [roles.task] if roles.task else [], "all")
    episode = _episodes(table, task, roles.episode)
    group = task if episode is None else episode
    times = None if roles.time is None else table.order(roles.time)
    order = np.lexsort((times, group)) if times is not None else np.argsort(group, kind="stable")
    table, task, group, position = table.rows(order), task[order], group[order], order
    if times is not None:
        _check_times(table, times[order], group, roles)
    ended = np.zeros(len(order), bool) if roles.terminated is None else table.flags(roles.terminated)
    states, state, following = _states(table, roles, group, ended, has_episodes=episode is not None)
    actions, action = _names_of(table, several(roles.action), "")
    reward = table.numbers(roles.value)
    _check_scale(table, reward, roles.value)
    reward = -reward if roles.cost else reward
    kept = np.flatnonzero(following >= 0)
    if ended.any():
        states, following = [*states, END], np.where(ended, len(states), following)
    is_state = np.isin(np.arange(len(states)), state)  # the end is none
    if not len(kept):
        raise ValueError(f"{table.where}: there are no transitions: no row has a next state")
    table = table.rows(kept)
    columns = {"state": ",".join(several(roles.state)), "reward": roles.value}
    columns["next_state"] = ",".join(several(roles.next_state)) if roles.next_state else "the state of the next row"
    rows = Rows(
        task[kept],
        state[kept],
        action[kept],
        following[kept],
        reward[kept],
        ended[kept],
        group[kept],
        episode is not None,
        times is not None,
        tuple(states),
        columns,
        is_state,
        position[kept],
        table.place,
    )
    numbers = np.arange(len(kept)) if episode is None else np.unique(rows.group, return_inverse=True)[1]
    return Transitions(table, rows, tuple(tasks), tuple(actions), numbers, roles)


def _check_scale(table: Table, reward: Float[np.ndarray, " n"], column: str) -> None:
    """Refuse rewards whose squares no double holds."""
    size = np.abs(reward)
    table.refuse(size > LARGEST_REWARD, column, "is so large that squares overflow: divide all by a number")
    if size.max(initial=0.0) < 1.0 / LARGEST_REWARD:
        table.refuse(size > 0.0, column, "is so small that squares vanish: multiply all by a number")


def _names_of(table: Table, columns: Sequence[str], alone: str) -> tuple[list[Hashable], Int[np.ndarray, " n"]]:
    """Return the names of some columns together, and their number in each row; without columns, one name."""
    if not columns:
        return [alone], np.zeros(len(table.frame), int)
    parts = [table.names(column) for column in columns]
    for column, (_, (code,)) in zip(columns, parts, strict=True):
        table.refuse(code < 0, column, "is missing; leave the row out, or write a name")
    names, (code,) = _together([(each, codes) for each, codes in parts])
    return names, code


def _together(
    parts: Sequence[tuple[list[Hashable], list[Int[np.ndarray, " n"]]]],
) -> tuple[list[Hashable], list[Int[np.ndarray, " n"]]]:
    """Return the names of combinations of columns that are there, and their numbers; -1: one part is missing."""
    if len(parts) == 1:
        return parts[0]
    sizes = [len(names) for names, _ in parts]
    whole = []
    for codes in zip(*(codes for _, codes in parts), strict=True):
        there = np.all([code >= 0 for code in codes], axis=0)
        whole.append(np.where(there, np.ravel_multi_index([np.maximum(code, 0) for code in codes], sizes), -1))
    used = np.unique(np.concatenate(whole))
    used = used[used >= 0]
    places = np.unravel_index(used, sizes)
    names = [Combined(parts[number][0][place[i]] for number, place in enumerate(places)) for i in range(len(used))]
    return list(names), [np.where(code < 0, -1, np.searchsorted(used, code)) for code in whole]


def _episodes(table: Table, task: Int[np.ndarray, " n"], column: str | None) -> Int[np.ndarray, " n"] | None:
    """Return the number of the episode of each transition; tasks may use the same names."""
    if column is None:
        return None
    names, (code,) = table.names(column)
    table.refuse(code < 0, column, "is missing")
    return task * len(names) + code


def _check_times(table: Table, times: Float[np.ndarray, " n"], group: Int[np.ndarray, " n"], roles: Roles) -> None:
    same = np.append(False, (times[1:] == times[:-1]) & (group[1:] == group[:-1]))
    what = "of its episode" if roles.episode else "of its task; --episode names what has one row at a time"
    table.refuse(same, str(roles.time), f"is that of another row {what}")


def _states(
    table: Table, roles: Roles, group: Int[np.ndarray, " n"], ended: Bool[np.ndarray, " n"], *, has_episodes: bool
) -> tuple[list[Hashable], Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Return the names of states, and the states and next states of rows; -1 where a last row has no next state."""
    last = np.append(group[1:] != group[:-1], True)
    columns, following = several(roles.state), several(roles.next_state)
    if len(following) > len(columns):
        raise ValueError(f"next_state must have at most the {len(columns)} columns of state, got {len(following)}")
    parts = []
    for number, column in enumerate(columns):
        pair = [column, following[number]] if number < len(following) else [column]
        names, codes = table.names(*pair)
        table.refuse(codes[0] < 0, column, "is missing; leave the row out, or write a name")
        if len(pair) == 1 and following:
            _check_constant(table, column, codes[0], last, has_episodes=has_episodes)
            codes = [codes[0], codes[0]]
        elif len(pair) == 1:
            codes = [codes[0], np.where(last, -1, np.roll(codes[0], -1))]
        parts.append((names, codes))
    names, (state, after) = _together(parts)
    lacks = (after < 0) & ~ended
    if following:
        words = (
            "is missing; --terminated COLUMN says where episodes end, and --episode COLUMN which rows are their last"
        )
        table.refuse(lacks & ~(last & has_episodes), following[0], words)
    if lacks.any():
        row = int(lacks.argmax())
        line = f"{int(lacks.sum())} last rows of episodes have no next state, and are left out ({table.place(row)})"
        table.findings.append(Finding("order", "note", line))
    after = np.where(ended, 0, after)
    return names, state, after


def _check_constant(
    table: Table, column: str, code: Int[np.ndarray, " n"], last: Bool[np.ndarray, " n"], *, has_episodes: bool
) -> None:
    """Refuse a column of states without next states that changes within an episode."""
    if has_episodes:
        changes = np.append((code[1:] != code[:-1]) & ~last[:-1], False)
        why = "changes within an episode: name its next values too, --next-state A,B, or leave --next-state out"
        table.refuse(changes, column, why)
