"""Logs from tables: from data frames, from files, and from the episodes of Gymnasium's environments."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from pomrl.checks import check_memory
from pomrl.models_and_logs.logs import Log
from pomrl.models_and_logs.models import END

COLUMNS = ("task", "state", "action", "reward", "next_state")
"""What a log has for each transition, in the order of the arguments of `from_log`."""


def from_log(
    frame: "pd.DataFrame | str | Path | Sequence[Mapping[str, Any]]",
    *,
    task: str = "task",
    state: str = "state",
    action: str = "action",
    reward: str = "reward",
    next_state: str = "next_state",
    terminated: str | None = None,
) -> Log:
    """Return the transitions of a log, counted.

    Tasks may have different numbers of transitions, and need not have any from some pairs. States and actions are
    anything that is hashable; they are sorted where they can be, and else in the order of the log. Names of different
    kinds differ: the state 1 is not the state '1', so that a column of numbers and one of texts share no state.

    Args:
        frame: A table with a row for each transition, or the path of one, a file of the format parquet or CSV; or
            episodes of environments of Gymnasium (`episodes_table`), for which no column is to be named.
        task: The name of the column that says which task a transition belongs to.
        state: The column of states.
        action: The column of actions.
        reward: The column of rewards, which are numbers.
        next_state: The column of next states.
        terminated: The column that says whether an episode has ended with a transition, as Gymnasium's `terminated`
            does: it leads to a state "end", after which nothing is paid. `truncated` needs no column: where episodes
            are cut off, the next state is one like all others.

    Raises:
        TypeError: The log is neither a data frame, nor a path, nor a sequence of episodes.
        ValueError: The table cannot be read, lacks a column, or has a bad entry; the message names the first one.
    """
    named = (task, state, action, reward, next_state, *([] if terminated is None else [terminated]))
    if isinstance(frame, list | tuple) and all(isinstance(each, Mapping) for each in frame):
        frame, terminated, named = episodes_table(frame), "terminated", (*COLUMNS, "terminated")
    table = _read(frame, named)
    if not len(table.frame):
        raise ValueError(f"{table.where}: there are no transitions")
    rewards = table.numbers(named[3])
    for column in (*named[:3], named[4]):
        table.refuse(table.frame[column].isna().to_numpy(), column, "is missing")
    tasks, k = table.coded(named[0])
    actions, a = table.coded(named[2])
    states, s_both = table.coded(named[1], named[4])
    s, s_next = np.split(s_both, 2)
    if terminated is not None and (ends := table.flags(terminated)).any():
        states = states if END in states else (*states, END)
        s_next = np.where(ends, states.index(END), s_next)
    shape = len(tasks), len(states), len(actions), len(states)
    check_memory(3 * 8 * int(np.prod(shape)), f"{table.where}: {len(tasks)} tasks, {len(states)} states")
    cell = np.ravel_multi_index((k, s, a, s_next), shape)
    counts, total, squares = (
        np.bincount(cell, weights, int(np.prod(shape))).reshape(shape) for weights in (None, rewards, rewards**2)
    )
    return Log(counts, total, squares, tasks, states, actions)


def episodes_table(episodes: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """Return the transitions of episodes as a table with the columns `COLUMNS` and terminated.

    Args:
        episodes: What interactions with environments of Gymnasium gave: each has the keys observations (one more than
            there are actions), actions, rewards, terminated (of the last step, or of each), and task.

    Raises:
        ValueError: An episode lacks a key, or its lengths do not fit; the message has its number.
    """
    return pd.concat([_episode(number, each) for number, each in enumerate(episodes)] or [pd.DataFrame()])


def _episode(number: int, episode: Mapping[str, Any]) -> "pd.DataFrame":
    keys = ("task", "observations", "actions", "rewards", "terminated")
    if missing := [key for key in keys if key not in episode]:
        raise ValueError(f"episode {number}: {missing[0]} is missing; it has {', '.join(map(str, episode))}")
    observations, actions, rewards = (list(episode[key]) for key in keys[1:4])
    if not len(actions) == len(rewards) == len(observations) - 1:
        lengths = f"{len(observations)} observations, {len(actions)} actions and {len(rewards)} rewards"
        raise ValueError(f"episode {number}: {lengths}; there has to be one observation more than actions and rewards")
    ends = np.zeros(len(actions), bool)
    ends[-1:] = np.ravel(episode["terminated"])[-1:]
    columns = [episode["task"]] * len(actions), observations[:-1], actions, rewards, observations[1:]
    return pd.DataFrame({**dict(zip(COLUMNS, columns, strict=True)), "terminated": ends})


@dataclass(frozen=True, eq=False)
class _Table:
    """A table of transitions, with a name for messages."""

    frame: "pd.DataFrame"
    where: str

    def numbers(self, column: str) -> Float[np.ndarray, " n"]:
        """Return a column of finite numbers."""
        parsed = pd.to_numeric(self.frame[column], errors="coerce")
        self.refuse(np.full(len(parsed), np.iscomplexobj(parsed)), column, "is a complex number")
        found = parsed.to_numpy(float, na_value=np.nan)
        self.refuse(~np.isfinite(found), column, "is no finite number")
        return found

    def flags(self, column: str) -> Bool[np.ndarray, " n"]:
        """Return a column of truth values, which may be 0 and 1."""
        found = self.frame[column]
        self.refuse(~found.isin([True, False]).to_numpy(), column, "is neither true nor false")
        return found.to_numpy(bool)

    def refuse(self, bad: Bool[np.ndarray, " n"], column: str, why: str) -> None:
        """Raise a ValueError that names the first bad row, counted from 0, if there is one."""
        if bad.any():
            raise ValueError(f"{self.where}: row {int(bad.argmax())}: the value of {column!r} {why}")

    def coded(self, *columns: str) -> tuple[tuple[Hashable, ...], Int[np.ndarray, " n"]]:
        """Return the names in some columns, and the number of the name in each of their rows, column by column."""
        values = pd.concat([self.frame[column] for column in columns], ignore_index=True)
        try:
            codes, names = pd.factorize(values)
        except TypeError as error:
            raise ValueError(f"{self.where}: the values of {columns[0]!r} cannot be names ({error})") from error
        try:
            order = sorted(range(len(names)), key=lambda number: names[number])
        except TypeError:  # names of several kinds have no order
            order = list(range(len(names)))
        place = np.empty(len(order), int)
        place[order] = np.arange(len(order))
        plain = (names[number] for number in order)
        return tuple(name.item() if isinstance(name, np.generic) else name for name in plain), place[codes]


def _read(frame: object, named: Sequence[str]) -> _Table:
    """Return the table of a log with these columns; only they are read from a file."""
    if isinstance(frame, pd.DataFrame):
        _check_columns(list(frame.columns), "the log", named)
        return _Table(frame, "the log")
    if not isinstance(frame, str | Path):
        raise TypeError(f"a log is a pandas.DataFrame or the path of a file, and not a {type(frame).__name__}")
    path = Path(frame)
    readers = {".parquet": _read_parquet, ".csv": _read_csv}
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: a log is a file that ends with .parquet or .csv")
    return _Table(readers[path.suffix.lower()](path, named), str(path))


def _read_parquet(path: Path, named: Sequence[str]) -> "pd.DataFrame":
    try:
        return pd.read_parquet(path, columns=list(named))
    except Exception as error:  # a column may be missing, or the file is damaged
        _check_columns(list(_readable(path, pd.read_parquet).columns), str(path), named)
        raise ValueError(f"{path}: it cannot be read ({' '.join(str(error).split())})") from error


def _read_csv(path: Path, named: Sequence[str]) -> "pd.DataFrame":
    """Read a CSV file; its first line by itself, because pandas gives a column that is there twice a new name."""
    first = _readable(path, lambda file: pd.read_csv(file, header=None, nrows=1, dtype=str))
    _check_columns(first.iloc[0].tolist(), str(path), named)
    return _readable(path, lambda file: pd.read_csv(file, usecols=list(dict.fromkeys(named))))


def _readable(path: Path, reader: Any) -> "pd.DataFrame":
    try:
        return reader(path)
    except Exception as error:  # pandas and pyarrow raise errors of many kinds where a file is damaged
        raise ValueError(f"{path}: it cannot be read ({' '.join(str(error).split())})") from error


def _check_columns(columns: Sequence[object], where: str, named: Sequence[str]) -> None:
    """Raise a ValueError unless each of these columns is there once, and none has two roles."""
    roles = (*COLUMNS, "terminated")
    for role, column in zip(roles, named, strict=False):
        times = list(columns).count(column)
        if not times:
            raise ValueError(f"{where}: there is no column {column!r}; there are {', '.join(map(repr, columns))}")
        if times > 1:
            raise ValueError(f"{where}: there are {times} columns {column!r}, and one of them has to be the {role}")
        if (first := roles[list(named).index(column)]) != role:
            raise ValueError(f"{where}: the column {column!r} is given twice, for {first} and for {role}")
