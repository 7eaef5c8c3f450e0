"""Read and audit logs from tables of transitions."""

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from jaxtyping import Int

from pomrl.planning import END
from pomrl_logs import audit
from pomrl_logs.amounts import Unit
from pomrl_logs.duplicates import are_copies, find_copies, number_of_copy
from pomrl_logs.findings import Finding, LogWarning, Rows
from pomrl_logs.log_files import join, read_source
from pomrl_logs.log_transitions import Combined, Transitions, read_transitions
from pomrl_logs.logs import Log
from pomrl_logs.reward_columns import describe_rewards
from pomrl_logs.table_columns import ColumnNames, ColumnRoles, LogTable, name_list, resolve_roles

COLUMNS = ("task", "state", "action", "reward", "next_state")
"""The default columns of a log, in the order of the arguments of `from_log`."""

CONVENTIONS = {
    "names in a text file": "text as written: 007, 07 and 7 are different names; None and NA are names, too",
    "names in a frame": "any hashable values, unchanged; the state 1 is not the state `'1'`",
    "names in parquet": "text; whole numbers are written without a point",
    "missing names": "empty cells, and values in `missing`; a row with one is an error",
    "next states": "a column; without one, the state of the next row of the episode, by `episode` and `time`",
    "a missing next state": "an end if `terminated` is true; otherwise only in last rows of episodes, then left out",
    "the end of an episode": "a separate, unnamed state if `terminated` is true; or a state in `ends`",
    "a state that is never left": "it may pay nothing, or the worst reward in each step, unless it is in `ends`",
    "several columns of a state": "`state=['severity', 'age']`, combined; without next values, constant in episodes",
    "numbers in a state": "`bins={'age': 5}` makes 5 bins of about equal size",
    "no column of tasks": "all rows belong to one task",
    "costs": "`cost` instead of `reward`",
    "several files or frames": "concatenated; their columns must be equal",
}
"""The conventions of reading."""


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
    """Read and audit the transitions of a log.

    See `CONVENTIONS` for the forms of tables, and `pomrl_logs.audit.KINDS` for the audit. Findings that weaken
    advice are also warnings (`LogWarning`); `Log.findings` has all findings.

    Args:
        frame: A table with a row for each transition, its path, or a list of tables to concatenate.
        task: The column of tasks (default "task" if present).
        state: The column of states, or several columns to combine.
        action: The column of actions, or several.
        reward: The column of numeric rewards (default "reward").
        next_state: The column of next states, or several. Default: "next_state" if present, otherwise the state of the
            next row of the episode.
        cost: The column of costs, instead of rewards.
        terminated: The column that is true where episodes terminate, as in Gymnasium. Truncated episodes need
            no column.
        episode: The column of episodes within tasks, assumed independent. By default, each transition is an episode.
        time: The column that orders the rows of an episode or task (default: order of the table).
        ends: States in which episodes end, without later rewards.
        bins: The number of bins of each numeric column, by name.
        missing: Names of missing values, such as "NA".
        accept: Names of findings to ignore, such as "chain".

    Raises:
        ValueError: The table is unreadable, a column is missing, an entry is invalid, or a finding voids advice. The
            message gives the first row and the remedy.
    """
    roles = ColumnRoles(task, state, action, reward, next_state, cost, terminated, episode, time)
    log = read_log(frame, roles, ends=ends, bins=bins or {}, missing=missing, accept=accept)
    for finding in log.findings:
        if finding.effect != "note":
            warnings.warn(finding.line, LogWarning, stacklevel=2)
    return log


def read_log(
    frame: Any,
    roles: ColumnRoles,
    *,
    ends: Sequence[Hashable] = (),
    bins: Mapping[str, int] | None = None,
    missing: Sequence[Hashable] = (),
    accept: Sequence[str] = (),
) -> Log:
    """Read a log without warnings; findings are in `Log.findings`."""
    if unknown := [name for name in accept if name not in audit.KINDS]:
        raise ValueError(f"unknown finding {unknown[0]!r} in accept; available: {', '.join(audit.KINDS)}")
    is_several = isinstance(frame, Iterable) and not isinstance(frame, pd.DataFrame | str)
    inputs: list[Any] = list(frame) if is_several else [frame]
    if not inputs:
        raise ValueError("a log must have at least one table, got none")
    named = set(roles.named())
    sources = [read_source(source, named.__contains__) for source in inputs]
    whole = join(sources)
    roles, about = resolve_roles(roles, [str(column) for column in whole.columns], sources[0].where)
    binned = [*name_list(roles.state), *name_list(roles.action)]
    if unknown := [name for name in bins or () if name not in binned]:
        raise ValueError(f"unknown column {unknown[0]!r} in bins; available: {', '.join(map(repr, binned))}")
    if few := [(name, count) for name, count in (bins or {}).items() if count < 2]:
        raise ValueError(f"the number of bins must be at least 2, got {few[0][1]} for {few[0][0]!r}")
    about += [line for source in sources for line in source.findings]
    table = LogTable(whole, sources, frozenset(missing), bins or {}, about)
    if not len(table.frame):
        raise ValueError(f"{table.where}: the table has no rows")
    return _make_log(read_transitions(_without_copies(table, roles, accept), roles), ends, accept)


def _without_copies(table: LogTable, roles: ColumnRoles, accept: Sequence[str]) -> LogTable:
    if "repeats" in accept:
        return table
    names, codes = list(map(str, table.frame.columns)), _column_codes(table.frame)
    fixed = replace(roles, task=None, episode=None, time=None).columns
    repeated, differing, row = find_copies(codes, [number for number, name in enumerate(names) if name not in fixed])
    if not repeated.any():
        _add_scattered_copies(table, row)
        return table
    but = f" except {', '.join(repr(names[number]) for number in differing)}" if differing else ""
    line = (
        f"{int(repeated.sum())} of {len(row)} rows repeat earlier rows, equal in all columns{but}, and are left out "
        f"({table.label(int(repeated.argmax()))}); to keep them, add --accept repeats"
    )
    table.findings.append(Finding("repeats", "weakens", line))
    return table.rows(np.flatnonzero(~repeated))


def _column_codes(frame: "pd.DataFrame") -> list[Int[np.ndarray, " n"]]:
    columns = (frame.iloc[:, number] for number in range(frame.shape[1]))
    return [pd.factorize(column.map(str) if column.dtype == object else column)[0] for column in columns]


def _add_scattered_copies(table: LogTable, row: Int[np.ndarray, " n"]) -> None:
    if are_copies(row):
        copies = number_of_copy(row) > 0
        line = (
            f"{int(copies.sum())} of {len(copies)} rows equal earlier rows in all columns "
            f"({table.label(int(copies.argmax()))}), and are kept; remove them if they are copies"
        )
        table.findings.append(Finding("repeats", "weakens", line))


def _make_log(transitions: Transitions, ends: Sequence[Hashable], accept: Sequence[str]) -> Log:
    table, rows = transitions.table, transitions.rows
    ends = [_clean_end(table, rows.states, name) for name in ends]
    declared = np.array([name is END or name in ends for name in rows.states], bool)
    _check_declared(table, rows, ends)
    columns = _columns_without_role(table.frame, transitions.roles)
    is_cost, has_next = transitions.roles.cost is not None, transitions.roles.next_state is not None
    findings = audit.find(rows, declared, columns, accept, is_cost=is_cost, has_next=has_next)
    if findings and findings[-1].effect == "stops":
        _stop(table.where, findings[-1])
    findings += table.findings
    findings.sort(key=lambda finding: finding.effect != "weakens")
    shape = len(transitions.tasks), len(rows.states), len(transitions.actions), len(rows.states)
    cell = np.ravel_multi_index((rows.task, rows.state, rows.action, rows.following), shape)
    log = Log(cell, rows.reward, transitions.episode, transitions.tasks, rows.states, transitions.actions)
    maximised, unit = describe_rewards(rows, is_cost=is_cost), Unit(transitions.roles.value, is_cost)
    return replace(log, ends=frozenset(ends), findings=tuple(findings), maximised=maximised, unit=unit)


def _clean_end(table: LogTable, states: Sequence[Hashable], name: Hashable) -> Hashable:
    """Return the name of an end as in the log; combined names are tuples, or their text."""
    combined = {str(state): state for state in states if isinstance(state, Combined)}
    if not combined:
        return table.clean(name)
    return tuple(map(table.clean, name)) if isinstance(name, tuple) else combined.get(str(name), name)


def _columns_without_role(frame: "pd.DataFrame", roles: ColumnRoles) -> dict[str, "pd.Series"]:
    columns, named = list(map(str, frame.columns)), {*roles.columns, ""}
    return {
        name: frame.iloc[:, number]
        for number, name in enumerate(columns)
        if name not in named and columns.count(name) == 1
    }


def _stop(where: str, finding: Finding) -> NoReturn:
    raise ValueError(f"{where}: {finding.line}; if this is intended, add --accept {finding.name}")


def _check_declared(table: LogTable, rows: Rows, ends: Sequence[Hashable]) -> None:
    for name in ends:
        if name not in rows.states:
            available = ", ".join(map(repr, rows.states[:20])) + ", ..." * (len(rows.states) > 20)
            raise ValueError(f"{table.where}: unknown state {name!r} in ends; available: {available}")
        leaves = rows.state == rows.states.index(name)
        if leaves.any():
            raise ValueError(
                f"{table.where}: {table.label(int(leaves.argmax()))}: states in ends must not start a row, got {name!r}"
            )
