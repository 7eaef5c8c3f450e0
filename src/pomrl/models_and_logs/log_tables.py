"""Logs from tables: which column is what, names as they are written, next states, and the audit of all that."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from pomrl.models_and_logs import audit
from pomrl.models_and_logs.findings import Finding, LogWarning
from pomrl.models_and_logs.log_files import Source, as_text, join, lacking, read_source
from pomrl.models_and_logs.logs import Log
from pomrl.models_and_logs.models import END

COLUMNS = ("task", "state", "action", "reward", "next_state")
"""What a log has for each transition, in the order of the arguments of `from_log`."""

CONVENTIONS = {
    "names in a text file": "text as it is written: 007, 07 and 7 are three names, and so are None and NA",
    "names in a frame": "any values that are hashable, as they are; the state 1 is not the state `'1'`",
    "names in parquet": "text; whole numbers are written without a point",
    "missing names": "empty cells, and what `missing` lists; a row with one is refused",
    "next states": "a column; or, without one, the state of the next row of the episode by `episode` and `time`",
    "a next state that is missing": "the end, where `terminated` is true; the last row of an episode is left out",
    "the end of an episode": "`terminated`, a state of its own that is equal to no name; or states that `ends` lists",
    "a state that is never left": "bounded by the worst that the log shows, unless `ends` lists it",
    "several columns of a state": "`state=['severity', 'age']`, one name together; those without a next column stay",
    "numbers in a state": "`bins={'age': 5}` makes 5 bins of about equal size",
    "no column of tasks": "all rows are of one task",
    "costs": "`cost` in the place of `reward`: what is spent",
    "several files or frames": "one below the other, with the same columns",
}
"""What is given, and how it is read; the page of the documentation shows it."""

ColumnNames = str | Sequence[str]
"""The name of a column, or of several that are one name together."""


class Combined(tuple[Hashable, ...]):
    """The names in several columns of a row, which are one name together."""

    __slots__ = ()

    def __str__(self) -> str:
        return ", ".join(map(str, self))


def from_log(  # noqa: PLR0913  (the table, and a name for each of its columns)
    frame: "pd.DataFrame | str | Path | Sequence[pd.DataFrame | str | Path]",
    *,
    task: str | None = None,
    state: ColumnNames = "state",
    action: ColumnNames = "action",
    reward: str | None = None,
    next_state: ColumnNames | None = None,
    cost: str | None = None,
    terminated: str | None = None,
    episode: str | None = None,
    time: str | None = None,
    ends: Sequence[Hashable] = (),
    bins: Mapping[str, int] | None = None,
    missing: Sequence[Hashable] = (),
    accept: Sequence[str] = (),
) -> Log:
    """Return the transitions of a log, after an audit of them.

    Tasks may have different numbers of transitions, and need not have any from some pairs. `CONVENTIONS` says how
    tables are read, and `pomrl.models_and_logs.audit.KINDS` what the audit looks for. What weakens advice is a warning
    (`LogWarning`), and all findings are in `Log.findings`.

    Args:
        frame: A table with a row for each transition, or the path of one; or several, one below the other.
        task: The name of the column that says which task a transition belongs to; by default "task" if there is one.
        state: The column of states, or several.
        action: The column of actions, or several.
        reward: The column of rewards, which are numbers; by default "reward".
        next_state: The column of next states, or several; by default "next_state" if there is one, or else the state of
            the next row of the episode.
        cost: The column of costs, in the place of rewards.
        terminated: The column that says whether an episode has ended with a transition, as Gymnasium's `terminated`
            does: nothing is paid after it. `truncated` needs no column: where episodes are cut off, the next state is
            one like all others.
        episode: The column that says which episode of its task a transition belongs to; advice takes episodes to be
            independent of each other. By default each transition is one, as it is where states say all that matters.
        time: The column by which the rows of an episode, or of a task, are in order; by default rows are.
        ends: States after which nothing is paid.
        bins: Columns of states with numbers, and how many bins each is put into.
        missing: Names that mean that a cell is missing, such as "NA".
        accept: Findings of the audit that are meant, and do not stop it, such as "chain".

    Raises:
        ValueError: The table cannot be read, lacks a column, or has a bad entry, or the audit finds what makes advice
            void; the message names the first row, and says what to write instead.
    """
    roles = Roles(task, state, action, reward, next_state, cost, terminated, episode, time)
    log = read_log(frame, roles, ends=ends, bins=bins or {}, missing=missing, accept=accept)
    for finding in log.findings:
        if finding.effect != "note":
            warnings.warn(finding.line, LogWarning, stacklevel=2)
    return log


@dataclass(frozen=True)
class Roles:
    """The names of columns, as the arguments of `from_log`."""

    task: str | None = None
    state: ColumnNames = "state"
    action: ColumnNames = "action"
    reward: str | None = None
    next_state: ColumnNames | None = None
    cost: str | None = None
    terminated: str | None = None
    episode: str | None = None
    time: str | None = None

    def named(self) -> list[str]:
        """Return all columns that have a role, by their defaults where none is named."""
        value = self.cost or self.reward or "reward"
        rest = (value, self.task or "task", self.terminated, self.episode, self.time)
        names = [*_several(self.state), *_several(self.action), *_several(self.next_state or "next_state"), *rest]
        return [name for name in names if name is not None]


def _several(names: ColumnNames) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def read_log(
    frame: Any,
    roles: Roles,
    *,
    ends: Sequence[Hashable] = (),
    bins: Mapping[str, int] | None = None,
    missing: Sequence[Hashable] = (),
    accept: Sequence[str] = (),
) -> Log:
    """Return a log as `from_log` does, without warnings: findings are in `Log.findings`."""
    if unknown := [name for name in accept if name not in audit.KINDS]:
        raise ValueError(f"accept must name findings, {', '.join(audit.KINDS)}, got {unknown[0]!r}")
    given = [frame] if isinstance(frame, pd.DataFrame | str | Path) else list(frame)
    if not given:
        raise ValueError("a log must have a table, got none")
    named = set(roles.named())
    sources = [read_source(each, named.__contains__) for each in given]
    table = _Table(join(sources), sources, frozenset(missing), bins or {}, [])
    roles = _resolve(table, roles)
    if not len(table.frame):
        raise ValueError(f"{table.where}: there are no transitions")
    table = _without_repeats(table, accept)
    return _audited(_transitions(table, roles), ends, accept)


@dataclass(frozen=True, eq=False)
class _Table:
    """A table of transitions, with what messages call it."""

    frame: "pd.DataFrame"
    sources: list[Source]
    missing: frozenset[Hashable]
    bins: Mapping[str, int]
    findings: list[Finding]
    """What is found while columns are read."""

    @property
    def where(self) -> str:
        return self.sources[0].where

    def place(self, row: int) -> str:
        """Return what a message calls a row of the frame."""
        if len(self.sources) == 1:
            number = int(self.frame.index[row])
            return f"{'row' if self.sources[0].line is None else 'line'} {number}"
        at = int(self.frame.index[row])
        for source in self.sources:
            if at < len(source.frame):
                return f"{source.where}, {source.place(at)}"
            at -= len(source.frame)
        raise IndexError(row)

    def rows(self, kept: Any) -> "_Table":
        """Return the table with some of the rows, in this order."""
        return _Table(self.frame.iloc[kept], self.sources, self.missing, self.bins, self.findings)

    def refuse(self, bad: Bool[np.ndarray, " n"], column: str, why: str) -> None:
        """Raise a ValueError that names the first bad row, if there is one."""
        if bad.any():
            row = int(bad.argmax())
            value = self.frame[column].iloc[row]
            raise ValueError(f"{self.where}: {self.place(row)}: the value of {column!r} {why} ({value!r})")

    def is_missing(self, column: str) -> Bool[np.ndarray, " n"]:
        """Return where a name is missing."""
        series = self.frame[column]
        tokens = [*self.missing, *([""] if self._is_of_file() else [])]
        return (series.isna() | series.isin(tokens)).to_numpy()

    def _is_of_file(self) -> bool:
        return any(source.where != "the log" for source in self.sources)

    def numbers(self, column: str) -> Float[np.ndarray, " n"]:
        """Return a column of finite numbers; decimal commas are read where no comma stands between fields."""
        series = self.frame[column]
        if series.dtype.kind in "mM":
            self.refuse(np.ones(len(series), bool), column, "is a date, not a number")
        codes, found = pd.factorize(series)
        values = pd.to_numeric(pd.Series(np.asarray(found, object)), errors="coerce").to_numpy(float, na_value=np.nan)
        texts = [value if isinstance(value, str) else "" for value in found]
        commas = np.array(
            [np.isnan(number) and text.count(",") == 1 for number, text in zip(values, texts, strict=True)], bool
        )
        if commas.any() and all(source.separator != "," for source in self.sources):
            read = pd.to_numeric(pd.Series([text.replace(",", ".") for text in texts]), errors="coerce").to_numpy(float)
            values = np.where(commas, read, values)
            row = int(commas[codes].argmax())
            line = f"{column!r} has decimal commas: {series.iloc[row]} is {values[codes[row]]:g} ({self.place(row)})"
            self.findings.append(Finding("decimals", "note", line))
        numbers = np.append(values, np.nan)[codes]
        self.refuse(~np.isfinite(numbers), column, "is no finite number")
        return numbers

    def flags(self, column: str) -> Bool[np.ndarray, " n"]:
        """Return a column of truth values, which may be 0 and 1."""
        series = self.frame[column]
        words = series.map(lambda value: str(value).strip().lower()).astype(object)
        is_true, is_false = (words.isin(each).to_numpy() for each in (("true", "1", "1.0"), ("false", "0", "0.0")))
        self.refuse(~(is_true | is_false), column, "is neither true nor false")
        return is_true

    def order(self, column: str) -> Float[np.ndarray, " n"]:
        """Return a column of times as numbers."""
        series = self.frame[column]
        codes, found = pd.factorize(series)
        values = audit.numbers_of(pd.Series(np.asarray(found, object)))
        if values is None:
            self.refuse(np.ones(len(series), bool), column, "is neither a number nor a date such as 2025-12-31")
        numbers = np.append(np.asarray(values), np.nan)[codes]
        self.refuse(np.isnan(numbers), column, "is missing")
        return numbers

    def names(self, *columns: str) -> tuple[list[Hashable], list[Int[np.ndarray, " n"]]]:
        """Return the names in some columns, sorted, and the number of the name in each row of each; -1: missing.

        All columns share names; numbers are put into bins by those of the first column.
        """
        if (count := next((self.bins[column] for column in columns if column in self.bins), None)) is not None:
            return self._bins(columns, count)
        series = [self.frame[column] for column in columns]
        codes, values = list[Any](), list[Any]()
        index: dict[Hashable, int] = {}
        for column, each in zip(columns, series, strict=True):
            try:
                code, found = pd.factorize(each)
            except TypeError as error:
                raise ValueError(f"{self.where}: the values of {column!r} cannot be names ({error})") from error
            clean = [self.clean(value) for value in np.asarray(found, object)]
            self._say_blanks(column, each, code, list(found), clean)
            places = np.array([index.setdefault(value, len(index)) for value in clean] + [-1])
            codes.append(np.where(self.is_missing(column), -1, places[code]))
        used = np.zeros(len(index) + 1, bool)
        for code in codes:
            used[code] = True
        values = list(index)
        order = [place for place in sort_names(values) if used[place]]
        position = np.full(len(index) + 1, -1)
        position[order] = np.arange(len(order))
        return [values[place] for place in order], [np.where(code < 0, -1, position[code]) for code in codes]

    def clean(self, value: Hashable) -> Hashable:
        text = as_text(value) if self._is_of_file() else value
        return text.strip() if isinstance(text, str) else text

    def _say_blanks(self, column: str, series: Any, code: Any, found: list[Any], clean: list[Any]) -> None:
        padded = np.array(
            [isinstance(old, str) and old != new for old, new in zip(found, clean, strict=True)] + [False]
        )
        if padded.any():
            at = padded[code]
            row = int(at.argmax())
            example = f"{self.place(row)} has {series.iloc[row]!r}"
            line = f"{int(at.sum())} names of {column!r} have blanks around them, and are read without ({example})"
            self.findings.append(Finding("names", "note", line))

    def _bins(self, columns: Sequence[str], count: int) -> tuple[list[Hashable], list[Int[np.ndarray, " n"]]]:
        numbers = [audit.numbers_of(self.frame[column].astype(object)) for column in columns]
        for column, each in zip(columns, numbers, strict=True):
            if each is None:
                self.refuse(np.ones(len(self.frame), bool), column, "must be a number, because --bins names it")
        values = [np.asarray(each) for each in numbers]
        edges = audit.edges_of(values[0][~np.isnan(values[0])], count)
        ends = [-np.inf, *edges, np.inf]
        names = [f"{low:g} to {high:g}" for low, high in pairwise(ends)]
        return list(names), [
            np.where(np.isnan(each), -1, np.searchsorted(edges, each, side="right")) for each in values
        ]


def sort_names(names: Sequence[Hashable]) -> list[int]:
    """Return the positions of names in order: numbers in texts by their value; names of several kinds as they come."""
    import re

    def natural(text: str) -> list[Any]:
        parts = re.split(r"(\d+)", text)
        return [(part, 0) if not number % 2 else (int(part), part) for number, part in enumerate(parts)]

    positions = list(range(len(names)))
    try:
        if all(isinstance(name, str) for name in names):
            keys = [natural(str(name)) for name in names]
            return sorted(positions, key=lambda place: (keys[place], str(names[place])))
        return sorted(positions, key=names.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        return positions


def _resolve(table: _Table, roles: Roles) -> Roles:
    """Return the roles with the columns that the table has, each once; ValueError where one is not there."""
    columns = [str(column) for column in table.frame.columns]
    if roles.cost is not None and roles.reward is not None:
        raise ValueError("a log must have rewards or costs, got both --reward and --cost")
    task = roles.task or ("task" if "task" in columns else None)
    if task is None:
        hint = get_close_matches("task", columns, 1, 0.7)
        line = "there is no column 'task', and all rows are of one task" + (
            f"; --task {hint[0]} names one" if hint else ""
        )
        table.findings.append(Finding("task", "note", line))
    following = roles.next_state or ("next_state" if "next_state" in columns else None)
    if following is None and roles.episode is None and roles.time is None:
        error = lacking("next_state", columns, table.where)
        raise ValueError(f"{error}; without next states, name the order of rows: --episode COLUMN --time COLUMN")
    found = Roles(
        task,
        roles.state,
        roles.action,
        None if roles.cost else roles.reward or "reward",
        following,
        roles.cost,
        roles.terminated,
        roles.episode,
        roles.time,
    )
    rest = (found.task, found.cost or found.reward, found.terminated, found.episode, found.time)
    every = [*_several(found.state), *_several(found.action), *(_several(following) if following else []), *rest]
    named = [name for name in every if name is not None]
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise ValueError(f"a column is given twice, and has one meaning: {twice!r}")
    for name in named:
        if columns.count(name) != 1:
            raise lacking(name, table.frame.columns.tolist(), table.where)
    if unknown := [name for name in table.bins if name not in [*_several(found.state), *_several(found.action)]]:
        raise ValueError(f"bins must name columns of states or actions, got {unknown[0]!r}")
    return found


def _without_repeats(table: _Table, accept: Sequence[str]) -> _Table:
    """Return the table without rows that repeat others in runs."""
    if "repeats" in accept:
        return table
    frame = table.frame
    codes = [
        pd.factorize(
            frame.iloc[:, number].map(str) if frame.iloc[:, number].dtype == object else frame.iloc[:, number]
        )[0]
        for number in range(frame.shape[1])
    ]
    key = np.zeros(len(frame), np.uint64)
    for code in codes:
        key = key * np.uint64(11400714819323198485) + (code + 1).astype(np.uint64)
        key ^= key >> np.uint64(29)
    row = pd.factorize(key)[0]
    repeated = audit.find_repeats(row)
    if not repeated.any():
        _say_scattered(table, row)
        return table
    line = (
        f"{int(repeated.sum())} of {len(frame)} rows repeat others in runs, in all columns, and are counted once "
        f"({table.place(int(repeated.argmax()))}); --accept repeats counts each"
    )
    table.findings.append(Finding("repeats", "weakens", line))
    return table.rows(np.flatnonzero(~repeated))


def _say_scattered(table: _Table, row: Int[np.ndarray, " n"]) -> None:
    """Say that rows repeat others here and there, where that is no chance."""
    if audit.are_copies(row):
        further = audit.number_of_copy(row) > 0
        line = (
            f"{int(further.sum())} of {len(further)} rows are the same as others in all columns "
            f"({table.place(int(further.argmax()))}), and are counted: leave them out if they are copies"
        )
        table.findings.append(Finding("repeats", "weakens", line))


@dataclass(frozen=True, eq=False)
class _Transitions:
    """A table as numbers, in the order of episodes."""

    table: _Table
    rows: audit.Rows
    tasks: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]
    episode: Int[np.ndarray, " n"]
    roles: Roles


def _transitions(table: _Table, roles: Roles) -> _Transitions:
    tasks, task = _names_of(table, [roles.task] if roles.task else [], "all")
    episode = _episodes(table, task, roles.episode)
    group = task if episode is None else episode
    times = None if roles.time is None else table.order(roles.time)
    order = np.lexsort((times, group)) if times is not None else np.argsort(group, kind="stable")
    table, task, group = table.rows(order), task[order], group[order]
    if times is not None:
        _check_times(table, times[order], group, roles)
    ended = np.zeros(len(order), bool) if roles.terminated is None else table.flags(roles.terminated)
    states, state, following = _states(table, roles, group, ended, has_episodes=episode is not None)
    actions, action = _names_of(table, _several(roles.action), "")
    value = roles.cost or roles.reward or "reward"
    reward = table.numbers(value)
    reward = -reward if roles.cost else reward
    kept = np.flatnonzero(following >= 0)
    if ended.any():
        states, following = [*states, END], np.where(ended, len(states), following)
    is_state = np.isin(np.arange(len(states)), state)  # the end is none
    if not len(kept):
        raise ValueError(f"{table.where}: there are no transitions: no row has a next state")
    table = table.rows(kept)
    columns = {"state": ",".join(_several(roles.state)), "reward": value}
    columns["next_state"] = ",".join(_several(roles.next_state)) if roles.next_state else "the state of the next row"
    rows = audit.Rows(
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
        table.place,
    )
    numbers = np.arange(len(kept)) if episode is None else np.unique(rows.group, return_inverse=True)[1]
    return _Transitions(table, rows, tuple(tasks), tuple(actions), numbers, roles)


def _names_of(table: _Table, columns: Sequence[str], alone: str) -> tuple[list[Hashable], Int[np.ndarray, " n"]]:
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


def _episodes(table: _Table, task: Int[np.ndarray, " n"], column: str | None) -> Int[np.ndarray, " n"] | None:
    """Return the number of the episode of each transition; tasks may use the same names."""
    if column is None:
        return None
    names, (code,) = table.names(column)
    table.refuse(code < 0, column, "is missing")
    return task * len(names) + code


def _check_times(table: _Table, times: Float[np.ndarray, " n"], group: Int[np.ndarray, " n"], roles: Roles) -> None:
    same = np.append(False, (times[1:] == times[:-1]) & (group[1:] == group[:-1]))
    what = "of its episode" if roles.episode else "of its task; --episode names what has one row at a time"
    table.refuse(same, str(roles.time), f"is that of another row {what}")


def _states(
    table: _Table, roles: Roles, group: Int[np.ndarray, " n"], ended: Bool[np.ndarray, " n"], *, has_episodes: bool
) -> tuple[list[Hashable], Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Return the names of states, and the states and next states of rows; -1 where a last row has no next state."""
    last = np.append(group[1:] != group[:-1], True)
    columns, following = _several(roles.state), [] if roles.next_state is None else _several(roles.next_state)
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
    table: _Table, column: str, code: Int[np.ndarray, " n"], last: Bool[np.ndarray, " n"], *, has_episodes: bool
) -> None:
    """Refuse a column of states without next states that changes within an episode."""
    if has_episodes:
        changes = np.append((code[1:] != code[:-1]) & ~last[:-1], False)
        why = "changes within an episode: name its next values too, --next-state A,B, or leave --next-state out"
        table.refuse(changes, column, why)


def _audited(found: _Transitions, ends: Sequence[Hashable], accept: Sequence[str]) -> Log:
    """Return the log of transitions, unless something is found that makes advice void."""
    table, rows = found.table, found.rows
    ends = [table.clean(name) for name in ends]
    declared = np.array([name is END or name in ends for name in rows.states], bool)
    _check_declared(table, rows, ends)
    roles = found.roles
    named = {*_several(roles.state), *_several(roles.action), *(_several(roles.next_state) if roles.next_state else [])}
    named |= {roles.task, roles.reward, roles.cost, roles.terminated, roles.episode, roles.time, ""}
    columns = table.frame.columns
    others = {
        str(name): table.frame[name] for name in columns if str(name) not in named and list(columns).count(name) == 1
    }
    checks = [audit.check_rewards(rows, is_cost=roles.cost is not None)]
    if roles.next_state is not None:
        checks += [audit.check_coding(rows, declared), audit.check_chain(rows)]
    checks += [audit.check_columns(rows, others), audit.check_ends(rows, declared)]
    findings = [finding for check in checks for finding in check if finding.name not in accept]
    for finding in findings:
        if finding.effect == "stops":
            _stop(table.where, finding)
    findings += table.findings
    findings.sort(key=lambda finding: finding.effect != "weakens")
    shape = len(found.tasks), len(rows.states), len(found.actions), len(rows.states)
    cell = np.ravel_multi_index((rows.task, rows.state, rows.action, rows.following), shape)
    log = Log(cell, rows.reward, found.episode, found.tasks, rows.states, found.actions)
    return replace(log, ends=frozenset(ends), findings=tuple(findings))


def _stop(where: str, finding: Finding) -> NoReturn:
    raise ValueError(f"{where}: {finding.line}; --accept {finding.name} says that it is meant")


def _check_declared(table: _Table, rows: audit.Rows, ends: Sequence[Hashable]) -> None:
    """Refuse declared ends that are no states, or that are left."""
    for name in ends:
        if name not in rows.states:
            raise ValueError(
                f"{table.where}: ends must be states, {', '.join(map(repr, rows.states[:20]))}, got {name!r}"
            )
        leaves = rows.state == rows.states.index(name)
        if leaves.any():
            raise ValueError(
                f"{table.where}: {table.place(int(leaves.argmax()))}: {name!r} is no end, because it is left"
            )
