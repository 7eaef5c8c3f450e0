"""Logs from tables: from data frames and from files."""

from collections.abc import Hashable, Sequence
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


def from_log(  # noqa: PLR0913  (the table, and a name for each of its columns)
    frame: "pd.DataFrame | str | Path",
    *,
    task: str = "task",
    state: str = "state",
    action: str = "action",
    reward: str = "reward",
    next_state: str = "next_state",
    terminated: str | None = None,
    episode: str | None = None,
) -> Log:
    """Return the transitions of a log.

    Tasks may have different numbers of transitions, and need not have any from some pairs. States and actions are
    anything that is hashable; they are sorted where they can be, and else in the order of the log. Names of different
    kinds differ: the state 1 is not the state '1', so that a column of numbers and one of texts share no state.

    Args:
        frame: A table with a row for each transition, or the path of one, a file of the format parquet or CSV.
        task: The name of the column that says which task a transition belongs to.
        state: The column of states.
        action: The column of actions.
        reward: The column of rewards, which are numbers.
        next_state: The column of next states.
        terminated: The column that says whether an episode has ended with a transition, as Gymnasium's `terminated`
            does: it leads to a state "end", after which nothing is paid. `truncated` needs no column: where episodes
            are cut off, the next state is one like all others.
        episode: The column that says which episode of its task a transition belongs to; advice takes episodes to be
            independent of each other. By default each transition is one, as it is where states say all that matters.

    Raises:
        ValueError: The table cannot be read, lacks a column, or has a bad entry; the message names the first one.
    """
    named = (task, state, action, reward, next_state, *(column for column in (terminated, episode) if column))
    table = _read_table(frame, named)
    if not len(table.frame):
        raise ValueError(f"{table.where}: there are no transitions")
    tasks, k = table.encode(named[0])
    actions, a = table.encode(named[2])
    states, s_both = table.encode(named[1], named[4])
    s, s_next = np.split(s_both, 2)
    if terminated is not None and (ends := table.flags(terminated)).any():
        states = states if END in states else (*states, END)
        s_next = np.where(ends, states.index(END), s_next)
    shape = len(tasks), len(states), len(actions), len(states)
    check_memory(3 * 8 * int(np.prod(shape)), f"{table.where}: {len(tasks)} tasks, {len(states)} states")
    cell = np.ravel_multi_index((k, s, a, s_next), shape)
    return Log(cell, table.numbers(reward), _episodes(table, k, episode), tasks, states, actions)


@dataclass(frozen=True, eq=False)
class _Table:
    """A table of transitions, with a name for messages."""

    frame: "pd.DataFrame"
    where: str

    def numbers(self, column: str) -> Float[np.ndarray, " n"]:
        """Return a column of finite numbers."""
        found = pd.to_numeric(self.frame[column], errors="coerce").to_numpy(float, na_value=np.nan)
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

    def encode(self, *columns: str) -> tuple[tuple[Hashable, ...], Int[np.ndarray, " n"]]:
        """Return the names in some columns, and the number of the name in each of their rows, column by column."""
        for column in columns:
            self.refuse(self.frame[column].isna().to_numpy(), column, "is missing")
        try:
            codes, found = pd.factorize(pd.concat([self.frame[column] for column in columns], ignore_index=True))
        except TypeError as error:
            raise ValueError(f"{self.where}: the values of {columns[0]!r} cannot be names ({error})") from error
        names = found.tolist()
        try:
            order = sorted(range(len(names)), key=names.__getitem__)
        except TypeError:  # names of several kinds have no order
            order = list(range(len(names)))
        return tuple(names[number] for number in order), np.argsort(order)[codes]


def _episodes(table: _Table, task: Int[np.ndarray, " n"], column: str | None) -> Int[np.ndarray, " n"]:
    """Return the number of the episode of each transition; tasks may use the same names."""
    if column is None:
        return np.arange(len(task))
    names, code = table.encode(column)
    return task * len(names) + code


def _read_table(frame: Any, named: Sequence[str]) -> _Table:
    """Return the table of a log, which has each of these columns once."""
    if len(set(named)) < len(named):
        raise ValueError(f"a column is given twice, and has one meaning: {', '.join(map(repr, named))}")
    table, where = (frame, "the log") if isinstance(frame, pd.DataFrame) else (_from_file(Path(frame), named), frame)
    for column in named:
        if (times := list(table.columns).count(column)) != 1:
            raise ValueError(
                f"{where}: there are {times} columns {column!r}; all: {', '.join(map(repr, table.columns))}"
            )
    return _Table(table, str(where))


def _from_file(path: Path, columns: Sequence[str]) -> "pd.DataFrame":
    """Return a table from a file, with these columns alone as far as it has them; ValueError if it cannot be read."""
    try:
        if path.suffix.lower() == ".csv":
            return pd.read_csv(path, usecols=lambda name: name in columns)
        return pd.read_parquet(path, columns=list(columns))
    except Exception as error:  # pandas and pyarrow raise errors of many kinds where a file is damaged
        raise ValueError(f"{path}: it cannot be read ({' '.join(str(error).split())})") from error
