"""Logs from tables: how files and frames are read, and the audit of what they say."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from jaxtyping import Int

from pomrl.models.planning import END
from pomrl_logs import audit
from pomrl_logs.column_roles import ColumnNames, Roles, several
from pomrl_logs.column_roles import resolve as resolve_roles
from pomrl_logs.copied_rows import are_copies, find_copies, number_of_copy
from pomrl_logs.findings import Finding, LogWarning
from pomrl_logs.log_files import join, read_source
from pomrl_logs.log_rows import Rows
from pomrl_logs.log_transitions import Transitions, read_transitions
from pomrl_logs.logs import Log
from pomrl_logs.reward_columns import describe_rewards
from pomrl_logs.table_columns import Table

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
    tables are read, and `pomrl_logs.audit.KINDS` what the audit looks for. What weakens advice is a warning
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
    whole = join(sources)
    roles, about = resolve_roles(roles, [str(column) for column in whole.columns], sources[0].where)
    if unknown := [name for name in bins or () if name not in [*several(roles.state), *several(roles.action)]]:
        raise ValueError(f"bins must name columns of states or actions, got {unknown[0]!r}")
    about += [line for source in sources for line in source.findings]
    table = Table(whole, sources, frozenset(missing), bins or {}, about)
    if not len(table.frame):
        raise ValueError(f"{table.where}: there are no transitions")
    return _audited(read_transitions(_without_copies(table, roles, accept), roles), ends, accept)


def _without_copies(table: Table, roles: Roles, accept: Sequence[str]) -> Table:
    """Return the table without rows that repeat others in runs."""
    if "repeats" in accept:
        return table
    names, codes = list(map(str, table.frame.columns)), _codes_of(table.frame)
    fixed = replace(roles, task=None, episode=None, time=None).columns
    repeated, differing, row = find_copies(codes, [number for number, name in enumerate(names) if name not in fixed])
    if not repeated.any():
        _say_scattered(table, row)
        return table
    but = f" but {', '.join(repr(names[number]) for number in differing)}" if differing else ""
    line = (
        f"{int(repeated.sum())} of {len(row)} rows repeat others in runs, in all columns{but}, and are counted once "
        f"({table.place(int(repeated.argmax()))}); --accept repeats counts each"
    )
    table.findings.append(Finding("repeats", "weakens", line))
    return table.rows(np.flatnonzero(~repeated))


def _codes_of(frame: "pd.DataFrame") -> list[Int[np.ndarray, " n"]]:
    """Return the number of the value in each row of each column."""
    columns = (frame.iloc[:, number] for number in range(frame.shape[1]))
    return [pd.factorize(column.map(str) if column.dtype == object else column)[0] for column in columns]


def _say_scattered(table: Table, row: Int[np.ndarray, " n"]) -> None:
    """Say that rows repeat others here and there, where that is no chance."""
    if are_copies(row):
        further = number_of_copy(row) > 0
        line = (
            f"{int(further.sum())} of {len(further)} rows are the same as others in all columns "
            f"({table.place(int(further.argmax()))}), and are counted: leave them out if they are copies"
        )
        table.findings.append(Finding("repeats", "weakens", line))


def _audited(found: Transitions, ends: Sequence[Hashable], accept: Sequence[str]) -> Log:
    """Return the log of transitions, unless something is found that makes advice void."""
    table, rows = found.table, found.rows
    ends = [table.clean(name) for name in ends]
    declared = np.array([name is END or name in ends for name in rows.states], bool)
    _check_declared(table, rows, ends)
    others = _unnamed(table.frame, found.roles)
    is_cost, has_next = found.roles.cost is not None, found.roles.next_state is not None
    findings = audit.find(rows, declared, others, accept, is_cost=is_cost, has_next=has_next)
    if findings and findings[-1].effect == "stops":
        _stop(table.where, findings[-1])
    findings += table.findings
    findings.sort(key=lambda finding: finding.effect != "weakens")
    shape = len(found.tasks), len(rows.states), len(found.actions), len(rows.states)
    cell = np.ravel_multi_index((rows.task, rows.state, rows.action, rows.following), shape)
    log = Log(cell, rows.reward, found.episode, found.tasks, rows.states, found.actions)
    maximised = describe_rewards(rows, is_cost=is_cost)
    return replace(log, ends=frozenset(ends), findings=tuple(findings), maximised=maximised)


def _unnamed(frame: "pd.DataFrame", roles: Roles) -> dict[str, "pd.Series"]:
    """Return the columns that have no role, by name; of two with one name none."""
    columns, named = list(map(str, frame.columns)), {*roles.columns, ""}
    return {
        name: frame.iloc[:, number]
        for number, name in enumerate(columns)
        if name not in named and columns.count(name) == 1
    }


def _stop(where: str, finding: Finding) -> NoReturn:
    raise ValueError(f"{where}: {finding.line}; --accept {finding.name} says that it is meant")


def _check_declared(table: Table, rows: Rows, ends: Sequence[Hashable]) -> None:
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
