"""Read and audit logs from tables of transitions."""

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from jaxtyping import Bool, Int

from pomrl.planning import END
from pomrl_logs import audit
from pomrl_logs.amounts import Unit
from pomrl_logs.column_roles import ColumnNames, ColumnRoles, name_list, resolve_roles
from pomrl_logs.date_forms import check_form
from pomrl_logs.duplicates import are_copies, find_copies, is_deterministic, number_of_copy
from pomrl_logs.findings import KINDS, Finding, LogWarning, Rows
from pomrl_logs.log_files import join, read_source
from pomrl_logs.log_transitions import Combined, Transitions, read_transitions
from pomrl_logs.logs import Log
from pomrl_logs.missing_codes import check_codes
from pomrl_logs.reward_columns import describe_rewards
from pomrl_logs.table_columns import WHOLE_NUMBER, LogTable

COLUMNS = ("task", "state", "action", "reward", "next_state")
"""The default columns of a log, in the order of the arguments of `from_log`."""

MAX_COUNTED = 20_000_000
"""The largest number of transitions in a table of counts."""

CONVENTIONS = {
    "names in a text file": "text as written: 007, 07 and 7 are different names; None and NA are names, too",
    "names in a frame": "any hashable values, unchanged; the state 1 is not the state `'1'`",
    "names in parquet": "text; whole numbers are written without a point",
    "whole numbers as names": "3.0 in a file is 3 if all names of the column are whole numbers",
    "numbers in a text file": (
        "1.5, 1,5, 1.000,5 or 1,000.5, by the form of the column; 1.000 beside 250 in a file with semicolons is an "
        "error"
    ),
    "missing names": (
        "empty cells are an error; with `missing`, rows with them or its values are left out, and episodes end there"
    ),
    "missing rewards": "an error, unless declared as text in `missing`, such as NA or an empty text",
    "dates": "2025-12-31; 31/12/2025 if a day after the 12th says so, otherwise an error; 31.12.2025; or as in `dates`",
    "flags of ends": "true or false, yes or no, y or n, 1 or 0",
    "decisions without later ones": "`terminated` is true in all rows; next states are then not needed",
    "a table of counts": "`weight`: the column with the number of equal transitions",
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
    weight: str | None = None,
    ends: Sequence[Hashable] = (),
    bins: Mapping[str, int] | None = None,
    missing: Sequence[Hashable] = (),
    dates: str | None = None,
    accept: Sequence[str] = (),
) -> Log:
    """Read and audit the transitions of a log.

    See `CONVENTIONS` for the forms of tables, and `pomrl_logs.findings.KINDS` for the audit. Findings that
    remove the lower limit are also warnings (`LogWarning`); `Log.findings` has all findings.

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
        weight: The column with the number of equal transitions of a row, for tables of counts.
        ends: States in which episodes end, without later rewards.
        bins: The number of bins of each numeric column, by name.
        missing: Names of missing values, such as "NA" or "". Rows with one are left out, and their episodes end there.
        dates: The form of dates, such as "%d/%m/%Y" (default: 2025-12-31, or as found).
        accept: Names of findings to ignore, such as "chain".

    Raises:
        ValueError: The table is unreadable, a column is missing, an entry is invalid, or a finding voids advice. The
            message gives rows and the remedy, in a line for each fault.
    """
    roles = ColumnRoles(task, state, action, reward, next_state, cost, terminated, episode, time, weight)
    log = read_log(frame, roles, ends=ends, bins=bins or {}, missing=missing, dates=dates, accept=accept)
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
    dates: str | None = None,
    accept: Sequence[str] = (),
) -> Log:
    """Read a log without warnings; findings are in `Log.findings`."""
    if unknown := [name for name in accept if name not in KINDS]:
        raise ValueError(f"unknown finding {unknown[0]!r} in accept; available: {', '.join(KINDS)}")
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
    if dates is not None:
        check_form(dates)
    about += [line for source in sources for line in source.findings]
    table = LogTable(whole, sources, frozenset(missing), bins or {}, about, dates, frozenset(accept))
    if not len(table.frame):
        raise ValueError(f"{table.where}: the table has no rows; it must have a row for each decision")
    table = _repeat_counted(table, roles.weight) if roles.weight else _without_copies(table, roles, accept)
    return _make_log(read_transitions(table, roles), ends, accept)


def _repeat_counted(table: LogTable, column: str) -> LogTable:
    """Repeat rows as often as a column says, in random order, as counts have none."""
    counts = table.numbers(column)
    table.refuse((counts < 0) | (counts % 1 > 0), column, "is not a number of transitions, such as 0 or 12")
    table.check()
    if (total := counts.sum()) > MAX_COUNTED:
        raise ValueError(f"{table.where}: the sum of {column!r} must be at most {MAX_COUNTED:,}, got {total:,.0f}")
    line = f"{len(counts):,} rows count {total:,.0f} transitions by {column!r}; rewards in a row are taken as equal"
    table.findings.append(Finding("weight", line))
    rows = np.repeat(np.arange(len(counts)), counts.astype(int))
    return table.rows(np.random.default_rng(0).permutation(rows))


def _without_copies(table: LogTable, roles: ColumnRoles, accept: Sequence[str]) -> LogTable:
    if "repeats" in accept:
        return table
    names, codes = list(map(str, table.frame.columns)), _column_codes(table.frame)
    fixed = replace(roles, task=None, episode=None, time=None).columns
    labels = [number for number, name in enumerate(names) if name not in fixed]
    repeated, differing, row = find_copies(codes, labels)
    if repeated.any() and _is_deterministic(dict(zip(names, codes, strict=True)), roles, repeated):
        line = f"{int(repeated.sum())} of {len(row)} rows are in runs that repeat earlier ones"
        repeated, differing, row = find_copies(codes, labels, in_runs=False)
        if not repeated.any():
            line += (
                "; equal decisions always have equal outcomes here, so they are kept; remove them if they are copies"
            )
            table.findings.append(Finding("repeats", line))
            return table
    if not repeated.any():
        if "copies" not in accept:
            _add_scattered_copies(table, row)
        return table
    but = f" except {', '.join(repr(names[number]) for number in differing)}" if differing else ""
    line = (
        f"{int(repeated.sum())} of {len(row)} rows repeat earlier rows, equal in all columns{but}, and are left out "
        f"({table.label(int(repeated.argmax()))}); to keep them, add --accept repeats"
    )
    table.findings.append(Finding("repeats", line))
    return table.rows(np.flatnonzero(~repeated))


def _is_deterministic(
    codes: Mapping[str, Int[np.ndarray, " n"]], roles: ColumnRoles, repeated: Bool[np.ndarray, " n"]
) -> bool:
    """Return whether state and action decide reward and next state.

    Without a column, the next state is the state of the next row of the episode.
    """
    task = [codes[roles.task]] if roles.task else []
    state = [codes[name] for name in name_list(roles.state)]
    following = [codes[name] for name in name_list(roles.next_state)]
    rows = np.arange(len(repeated))
    if not following:
        episode = _joint_codes([*task, codes[roles.episode] if roles.episode else np.zeros_like(rows)])
        rows = np.flatnonzero(episode[1:] == episode[:-1])
        following = [np.append(code[1:], -1) for code in state]
    pair = _joint_codes([*task, *state, *(codes[name] for name in name_list(roles.action))])
    return is_deterministic(pair[rows], _joint_codes([codes[roles.value], *following])[rows], repeated[rows])


def _joint_codes(codes: Sequence[Int[np.ndarray, " n"]]) -> Int[np.ndarray, " n"]:
    joint = codes[0]
    for code in codes[1:]:
        joint = pd.factorize(joint * (int(code.max(initial=0)) + 2) + code + 1)[0]
    return joint


def _column_codes(frame: "pd.DataFrame") -> list[Int[np.ndarray, " n"]]:
    columns = (frame.iloc[:, number] for number in range(frame.shape[1]))
    return [pd.factorize(column.map(str) if column.dtype == object else column)[0] for column in columns]


def _add_scattered_copies(table: LogTable, row: Int[np.ndarray, " n"]) -> None:
    if are_copies(row):
        copies = number_of_copy(row) > 0
        line = (
            f"{int(copies.sum())} of {len(copies)} rows equal earlier rows in all columns "
            f"({table.label(int(copies.argmax()))}), and are kept: remove copies, or add --accept copies"
        )
        table.findings.append(Finding("copies", line))


def _make_log(transitions: Transitions, ends: Sequence[Hashable], accept: Sequence[str]) -> Log:
    table, rows = transitions.table, transitions.rows
    ends = [_clean_end(table, rows.states, name) for name in ends]
    declared = np.array([name is END or name in ends for name in rows.states], bool)
    _check_declared(table, rows, ends)
    columns = _columns_without_role(table.frame, transitions.roles)
    is_cost, has_next = transitions.roles.cost is not None, transitions.roles.next_state is not None
    codes = [finding for finding in check_codes(rows) if finding.name not in accept]
    if stopping := [finding for finding in codes if finding.effect == "stops"]:
        _stop(table.where, stopping[0])
    findings = audit.find(rows, declared, columns, accept, is_cost=is_cost, has_next=has_next)
    if findings and findings[-1].effect == "stops":
        _stop(table.where, findings[-1])
    findings += [*codes, *table.findings]
    findings.sort(key=lambda finding: finding.effect != "no limit")
    shape = len(transitions.tasks), len(rows.states), len(transitions.actions), len(rows.states)
    cell = np.ravel_multi_index((rows.task, rows.state, rows.action, rows.following), shape)
    log = Log(cell, rows.reward, transitions.episode, transitions.tasks, rows.states, transitions.actions)
    maximised, unit = describe_rewards(rows, is_cost=is_cost), Unit(transitions.roles.value, is_cost)
    return replace(log, ends=frozenset(ends), findings=tuple(findings), maximised=maximised, unit=unit)


def _clean_end(table: LogTable, states: Sequence[Hashable], name: Hashable) -> Hashable:
    """Return the name of an end as in the log; combined names are tuples, or their text."""
    combined = {str(state): state for state in states if isinstance(state, Combined)}
    if not combined:
        clean = table.clean(name)
        plain = clean.partition(".")[0] if isinstance(clean, str) and WHOLE_NUMBER.fullmatch(clean) else clean
        return clean if clean in states else plain
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
                f"{table.where}: {table.label(int(leaves.argmax()))}: states in ends must not start a row, "
                f"got {name!r}; mark ends of episodes by rows with --terminated COLUMN"
            )
