"""Logs from tables: from data frames, from files, and from the episodes of Gymnasium's environments."""

from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from pomrl.checks import check_memory
from pomrl.models_and_logs.logs import Log

COLUMNS = ("task", "state", "action", "reward", "next_state")
"""What a log has for each transition, in the order of the arguments of `from_log`."""


def from_log(
    frame: pd.DataFrame | str | Path,
    *,
    task: str = "task",
    state: str = "state",
    action: str = "action",
    reward: str = "reward",
    next_state: str = "next_state",
) -> Log:
    """Return the transitions of a log, counted.

    Tasks may have different numbers of transitions, and need not have any from some pairs. States and actions are
    anything that is hashable; they are sorted where they can be, and else in the order of the log. Names of different
    kinds differ: the state 1 is not the state '1', so that a column of numbers and one of texts share no state.

    Args:
        frame: A table with a row for each transition, or the path of one: a file of the format parquet, or CSV.
        task: The name of the column that says which task a transition belongs to.
        state: The column of states.
        action: The column of actions.
        reward: The column of rewards, which are numbers.
        next_state: The column of next states.

    Raises:
        TypeError: The log is neither a data frame nor a path.
        ValueError: The table cannot be read, lacks a column, or has a bad entry; the message names the first one.
    """
    table, where = _read(frame)
    _check_columns(table, where, (task, state, action, reward, next_state))
    if table.empty:
        raise ValueError(f"{where}: there are no transitions")
    rewards = _numbers(table, reward, where)
    for column in (task, state, action, next_state):
        _refuse(table[column].isna().to_numpy(), where, column, "is missing")
    tasks, k = _coded(table, where, task)
    actions, a = _coded(table, where, action)
    states, codes = _coded(table, where, state, next_state)
    s, s_next = codes.reshape(2, -1)
    check_memory(3 * 8 * len(tasks) * len(states) ** 2 * len(actions), f"{where}: {len(tasks)} tasks, {len(states)} states")
    shape = len(tasks), len(states), len(actions), len(states)
    cell = np.ravel_multi_index((k, s, a, s_next), shape)
    sums = (np.bincount(cell, weights, int(np.prod(shape))).reshape(shape) for weights in (None, rewards, rewards**2))
    return Log(*sums, tasks, states, actions)


def _check_columns(table: pd.DataFrame, where: str, named: Sequence[str]) -> None:
    """Raise a ValueError unless each of these columns is there once, and none has two roles."""
    for role, column in zip(COLUMNS, named, strict=True):
        times = list(table.columns).count(column)
        if not times:
            raise ValueError(f"{where}: there is no column {column!r}; there are {', '.join(map(repr, table.columns))}")
        if times > 1:
            raise ValueError(f"{where}: there are {times} columns {column!r}, and one of them has to be the {role}")
        if (first := COLUMNS[named.index(column)]) != role:
            raise ValueError(f"{where}: the column {column!r} is given twice, for {first} and for {role}")


def _read(frame: object) -> tuple[pd.DataFrame, str]:
    """Return the table of a log and a name for it in messages."""
    if isinstance(frame, pd.DataFrame):
        return frame, "the log"
    if not isinstance(frame, str | Path):
        raise TypeError(f"a log is a pandas.DataFrame or the path of a file, and not a {type(frame).__name__}")
    path = Path(frame)
    readers = {".parquet": pd.read_parquet, ".csv": pd.read_csv}
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: a log is a file that ends with .parquet or .csv")
    try:
        return readers[path.suffix.lower()](path), str(path)
    except Exception as error:  # pandas and pyarrow raise errors of many kinds where a file is damaged
        raise ValueError(f"{path}: it cannot be read ({' '.join(str(error).split())})") from error


def _numbers(table: pd.DataFrame, column: str, where: str) -> Float[np.ndarray, " n"]:
    parsed = pd.to_numeric(table[column], errors="coerce")
    _refuse(np.full(len(table), np.iscomplexobj(parsed)), where, column, "is a complex number")
    found = parsed.to_numpy(float, na_value=np.nan)
    _refuse(~np.isfinite(found), where, column, "is no finite number")
    return found


def _refuse(bad: np.ndarray, where: str, column: str, why: str) -> None:
    """Raise a ValueError that names the first bad row, counted from 0, if there is one."""
    if bad.any():
        raise ValueError(f"{where}: row {int(bad.argmax())}: the value of {column!r} {why}")


def _coded(table: pd.DataFrame, where: str, *columns: str) -> tuple[tuple[Hashable, ...], Int[np.ndarray, " n"]]:
    """Return the names in some columns, and the number of the name in each of their rows, column by column."""
    values = pd.concat([table[column] for column in columns], ignore_index=True)
    try:
        codes, names = pd.factorize(values)
    except TypeError as error:
        raise ValueError(f"{where}: the values of {columns[0]!r} cannot be names ({error})") from error
    try:
        order = sorted(range(len(names)), key=lambda number: names[number])
    except TypeError:  # names of several kinds have no order
        order = list(range(len(names)))
    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    plain = (names[number] for number in order)
    return tuple(name.item() if isinstance(name, np.generic) else name for name in plain), place[codes]
