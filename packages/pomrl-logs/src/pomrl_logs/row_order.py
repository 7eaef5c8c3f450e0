"""Check the order of rows where it gives the next states."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from pomrl_logs.association import MIN_ROWS, associate
from pomrl_logs.findings import Finding, Rows
from pomrl_logs.numeric_columns import as_numbers

ORDERED_SHARE = 0.95
"""The smallest share of episodes ordered by a column of order."""

MAX_DESCENTS = 0.25
"""The largest share of falling steps in a merged column of order."""

MIN_STEPS = 10
"""The smallest number of steps within episodes for a check."""

DAYS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y"),
    *("%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)
"""The recognised formats of days, beside ISO 8601."""

DATE_FORMATS = ("ISO8601", *(day + clock for day in DAYS for clock in ("", " %H:%M", " %H:%M:%S", " %I:%M %p")))
"""The recognised formats of dates."""

MAX_MISSING_SHARE = 0.2
"""The largest share of missing values of a column of order."""

CLOCK_FORMATS = ("%H:%M", "%H:%M:%S")
"""The recognised formats of times of the day."""

MAX_DIGITS = 15
"""The largest number of digits of a name; a float keeps them all."""

MIXED_P = 1e-3
"""The p-value from which next rows seem independent of rows."""


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A possible column of the order of rows in episodes."""

    name: str
    is_date: bool
    rises: float
    """The share of episodes in which the column rises."""
    falls: float
    row: int
    """A row out of order."""


def check_order(rows: Rows, columns: Mapping[str, "pd.Series"]) -> Iterator[Finding]:
    """Find columns of order without a role, and rows in no order."""
    steps = np.flatnonzero(rows.group[1:] == rows.group[:-1])
    has_order = rows.time is not None
    if not has_order and len(steps) >= MIN_STEPS:
        candidates = [candidate for item in columns.items() if (candidate := _candidate(rows, steps, *item))]
        candidates.sort(key=lambda candidate: (not candidate.is_date, -candidate.rises))
        has_order = bool(candidates) and candidates[0].rises >= ORDERED_SHARE
        if has_order:
            yield Finding("order", f"the rows of episodes are in the order of {candidates[0].name!r}")
        elif candidates:
            yield _unsorted(rows, candidates[0], columns[candidates[0].name])
    yield from _check_mixed(rows, "independent" if has_order else "unsorted")


def _candidate(rows: Rows, steps: Int[np.ndarray, " k"], name: str, column: "pd.Series") -> _Candidate | None:
    dates = read_dates(column)
    values = _numbers(column) if dates is None else dates
    if values is None or np.isnan(values).mean() > MAX_MISSING_SHARE or _is_row_number(values, rows):
        return None
    steps = steps[~np.isnan(values[steps + 1] - values[steps])]
    if len(steps) < MIN_STEPS:
        return None
    change, group = values[steps + 1] - values[steps], rows.group[steps]
    if dates is not None:  # several rows may have one date
        rises, falls = (_share_of_episodes(group, sign * change >= 0) for sign in (1, -1))
        is_order = _share_of_episodes(group, change == 0) <= 0.5
    else:
        rises, falls = (_share_of_episodes(group, sign * change > 0) for sign in (1, -1))
        is_order = _orders_rows(rows.group, values, steps, max(rises, falls))
    row = int(steps[int((change < 0).argmax())]) + 1
    return _Candidate(name, dates is not None, rises, falls, row) if is_order else None


def _numbers(column: "pd.Series") -> Float[np.ndarray, " n"] | None:
    """Read numbers, times of the day, or the digits of names of one form, such as `2024-W07`."""
    if as_numbers(column.iloc[:MIN_STEPS]) is not None:
        return as_numbers(column)
    clock = read_dates(column, CLOCK_FORMATS)
    return _digits(column) if clock is None else clock


def _digits(column: "pd.Series") -> Float[np.ndarray, " n"] | None:
    text = column.dropna().astype(str)
    is_one_form = text.str.replace(r"\d+", "0", regex=True).nunique() == 1
    digits = text.str.replace(r"\D+", "", regex=True)
    if not is_one_form or not digits.str.len().between(1, MAX_DIGITS).all():
        return None
    return digits.astype(float).reindex(column.index).to_numpy(float)


def read_dates(column: "pd.Series", formats: Sequence[str] = DATE_FORMATS) -> Float[np.ndarray, " n"] | None:
    """Convert dates, also with the day or the month first, NaN if missing; None if any value is no date."""
    try:
        codes, distinct = pd.factorize(column)
    except TypeError:
        return None
    values = pd.Series(np.asarray(distinct, object))
    if not len(values) or pd.to_numeric(values, errors="coerce").notna().any():
        return None
    for form in formats:
        if _parse(values.iloc[:MIN_STEPS], form).notna().all() and (times := _parse(values, form)).notna().all():
            return np.append(times.astype("int64").to_numpy(float), np.nan)[codes]
    return None


def _parse(values: "pd.Series", form: str) -> "pd.Series":
    return pd.to_datetime(values, errors="coerce", format=form, utc=True)


def _orders_rows(
    group: Int[np.ndarray, " n"], values: Float[np.ndarray, " n"], steps: Int[np.ndarray, " k"], monotone: float
) -> bool:
    """Return whether numbers rise or fall in episodes, count their rows, or rise in a few runs."""
    if monotone >= ORDERED_SHARE:
        return True
    differs = np.diff(values[np.lexsort((values, group))])[steps] > 0
    is_distinct = _share_of_episodes(group[steps], differs) >= ORDERED_SHARE
    descents = float((values[steps + 1] < values[steps]).mean())
    return is_distinct and (descents <= MAX_DESCENTS or _counts_rows(group, values))


def _is_row_number(values: Float[np.ndarray, " n"], rows: Rows) -> bool:
    """Return whether a column only repeats the order of the table."""
    in_table = values[np.argsort(rows.position)]
    return bool((np.diff(in_table) > 0).all()) and len(np.unique(rows.group)) > 1


def _share_of_episodes(group: Int[np.ndarray, " k"], is_right: Bool[np.ndarray, " k"]) -> float:
    return 1.0 - len(np.unique(group[~is_right])) / len(np.unique(group))


def _counts_rows(group: Int[np.ndarray, " n"], values: Float[np.ndarray, " n"]) -> bool:
    """Return whether whole numbers count the rows of episodes."""
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    extent = np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
    # The last row of an episode is left out, and may have any number.
    size = np.diff(np.append(starts, len(values)))
    return bool((np.abs(extent - size + 0.5) <= 0.5).mean() >= ORDERED_SHARE) and bool((values % 1 == 0).all())


def _unsorted(rows: Rows, candidate: _Candidate, column: "pd.Series") -> Finding:
    name, row = candidate.name, candidate.row
    what = f"falls in {candidate.falls:.0%} of episodes" if candidate.falls >= ORDERED_SHARE else "rises and falls"
    return Finding(
        "unsorted",
        f"rows are not in the order of {name!r}, which {what} ({rows.label(row)} has {column.iloc[row]} after "
        f"{column.iloc[row - 1]}): add --time {name}, or sort the rows by their time",
    )


def _check_mixed(rows: Rows, name: str) -> Iterator[Finding]:
    state, following = rows.state[~rows.ended], rows.following[~rows.ended]
    if len(state) < MIN_ROWS or len(np.unique(state)) < 2:
        return
    task_state = (rows.task * len(rows.states) + rows.state)[~rows.ended]
    by_state = associate(state, following, rows.group[~rows.ended])
    by_action = associate(rows.action[~rows.ended], following, task_state)
    if min(by_state.p, by_action.p) > MIXED_P:
        yield Finding(
            name,
            f"next rows are independent of states and actions in {len(state):,} rows of episodes ({rows.label(0)}): "
            "if rows are mixed, name the column of their order with --time, or of next states with --next-state",
        )
