"""Read columns of a table of transitions: roles, numbers, names and times."""

import re
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from pomrl_logs.findings import Finding
from pomrl_logs.log_files import TableSource, as_text, missing_column_error


def as_numbers(values: "pd.Series") -> Float[np.ndarray, " n"] | None:
    """Convert numbers or times to floats; None if any value is neither."""
    values = values.astype(object).where(values.astype(object) != "", None)
    numbers = pd.to_numeric(values, errors="coerce")
    if (numbers.isna() & values.notna()).any():
        numbers = _as_times(values)
        if (numbers.isna() & values.notna()).any():
            return None
        return np.where(numbers.isna(), np.nan, _microseconds(numbers))
    return numbers.to_numpy(float, na_value=np.nan)


def _microseconds(times: "pd.Series") -> Float[np.ndarray, " n"]:
    """Return times in the same unit for all columns; pandas takes the unit of each from its values."""
    counts, unit = times.astype("int64").to_numpy(), times.dt.unit
    if unit == "ns":  # whole microseconds stay exact
        return counts // 1_000 + counts % 1_000 / 1_000.0
    return counts * {"s": 1e6, "ms": 1e3, "us": 1.0}[unit]


def _as_times(values: "pd.Series") -> "pd.Series":
    texts = values.map(lambda value: str(value) if isinstance(value, Number) else value)  # numbers are no epochs
    return pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True)


def assign_bins(values: Float[np.ndarray, " n"], count: int) -> Int[np.ndarray, " n"]:
    """Return the bin of each number, with bins of about equal size."""
    return np.searchsorted(bin_edges(values, count), values, side="right")


def bin_edges(values: Float[np.ndarray, " n"], count: int) -> Float[np.ndarray, " k"]:
    """Return the inner edges of bins of about equal size."""
    return np.unique(np.quantile(values, np.arange(1, count) / count, method="higher")) if len(values) else np.empty(0)


ColumnNames = str | Sequence[str]
"""The name of a column, or the names of combined columns."""


@dataclass(frozen=True)
class ColumnRoles:
    """The names of columns by role, as in `from_log`."""

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
        """Return all columns with a role, including default columns."""
        return replace(self, task=self.task or "task", next_state=self.next_state or "next_state").columns

    @property
    def value(self) -> str:
        return self.cost or self.reward or "reward"

    @property
    def columns(self) -> list[str]:
        single = (self.task, self.value, self.terminated, self.episode, self.time)
        names = [*name_list(self.state), *name_list(self.action), *name_list(self.next_state), *single]
        return [name for name in names if name is not None]


def name_list(names: ColumnNames | None) -> list[str]:
    """Convert one or several names of columns to a list."""
    if names is None:
        return []
    if not isinstance(names, str | Sequence) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"a column must be given by its name as text, such as '0', got {names!r}")
    return [names] if isinstance(names, str) else list(names)


def resolve_roles(roles: ColumnRoles, columns: Sequence[str], where: str) -> tuple[ColumnRoles, list[Finding]]:
    """Add default columns to the roles, and report a missing task column.

    ValueError for a missing column, one with two roles, or both rewards and costs.
    """
    if roles.cost is not None and roles.reward is not None:
        raise ValueError("a log must have either rewards or costs, got both --reward and --cost")
    task = roles.task or ("task" if "task" in columns else None)
    following = roles.next_state or ("next_state" if "next_state" in columns else None)
    if following is None and roles.episode is None and roles.time is None:
        error = missing_column_error("next_state", columns, where)
        raise ValueError(f"{error}; add --next-state COLUMN, or the order of rows with --episode COLUMN --time COLUMN")
    resolved = replace(roles, task=task, next_state=following)
    named = resolved.columns
    if len(set(named)) < len(named):
        twice = next(name for name in named if named.count(name) > 1)
        raise ValueError(f"each column must have one role, got {twice!r} for two roles")
    for name in named:
        if columns.count(name) != 1:
            raise missing_column_error(name, columns, where)
    return resolved, [] if task else [_task_finding(columns)]


def _task_finding(columns: Sequence[str]) -> Finding:
    near = get_close_matches("task", columns, 1, 0.7)
    hint = f"; select one with --task {near[0]}" if near else ""
    return Finding("task", f"no column 'task', so all rows belong to one task{hint}")


MAX_COMPARED_NAMES = 1_000
"""The largest number of names compared for similarity."""


@dataclass(frozen=True, eq=False)
class LogTable:
    """A table of transitions, with its sources."""

    frame: "pd.DataFrame"
    sources: list[TableSource]
    missing: frozenset[Hashable]
    bins: Mapping[str, int]
    findings: list[Finding]

    @property
    def where(self) -> str:
        return self.sources[0].where

    def label(self, row: int) -> str:
        if len(self.sources) == 1:
            number = int(self.frame.index[row])
            return f"{'line' if self.sources[0].has_lines else 'row'} {number}"
        offset = int(self.frame.index[row])
        for source in self.sources:
            if offset < len(source.frame):
                return f"{source.where}, {source.label(offset)}"
            offset -= len(source.frame)
        raise IndexError(row)

    def rows(self, kept: Any) -> "LogTable":
        return replace(self, frame=self.frame.iloc[kept])

    def refuse(self, bad: Bool[np.ndarray, " n"], column: str, why: str) -> None:
        """Raise a ValueError for the first bad row, if any."""
        if bad.any():
            row = int(bad.argmax())
            value = self.frame[column].iloc[row]
            value = value.item() if isinstance(value, np.generic) else value
            raise ValueError(f"{self.where}: {self.label(row)}: the value {value!r} of {column!r} {why}")

    def is_missing(self, column: str) -> Bool[np.ndarray, " n"]:
        series = self.frame[column]
        codes, distinct = pd.factorize(series)
        tokens = self._missing_names()
        is_token = [self.clean(value) in tokens for value in np.asarray(distinct, object)]
        return series.isna().to_numpy() | np.array([*is_token, False])[codes]

    def _missing_names(self) -> set[Hashable]:
        """Return the names of missing values as `clean` returns names."""
        given = {self.clean(value) for value in self.missing if isinstance(value, str | Number)}
        return given | {*self.missing} | ({""} if self._is_of_file() else set())

    def _is_of_file(self) -> bool:
        return any(source.where != "the log" for source in self.sources)

    def numbers(self, column: str) -> Float[np.ndarray, " n"]:
        """Return a column of finite numbers.

        Decimal commas are allowed unless commas separate fields.
        """
        series = self.frame[column]
        if series.dtype.kind in "mM":
            self.refuse(np.ones(len(series), bool), column, "is a date, not a number")
        codes, distinct = pd.factorize(series)
        values = pd.to_numeric(pd.Series(np.asarray(distinct, object)), errors="coerce").to_numpy(
            float, na_value=np.nan
        )
        texts = [value if isinstance(value, str) else "" for value in distinct]
        commas = np.array(
            [np.isnan(number) and text.count(",") == 1 for number, text in zip(values, texts, strict=True)], bool
        )
        if commas.any() and all(source.separator != "," for source in self.sources):
            points = np.array([not comma and "." in text for comma, text in zip(commas, texts, strict=True)], bool)
            self.refuse(points[codes], column, "has a decimal point, but others have decimal commas")
            with_points = pd.to_numeric(
                pd.Series([text.replace(",", ".") for text in texts]), errors="coerce"
            ).to_numpy(float)
            values = np.where(commas, with_points, values)
            row = int(commas[codes].argmax())
            line = f"{column!r} has decimal commas: {series.iloc[row]} is {values[codes[row]]:g} ({self.label(row)})"
            self.findings.append(Finding("decimals", line))
        numbers = np.append(values, np.nan)[codes]
        self.refuse(~np.isfinite(numbers), column, "is not a finite number")
        return numbers

    def flags(self, column: str) -> Bool[np.ndarray, " n"]:
        """Return a column of truth values; 0 and 1 are allowed, too."""
        series = self.frame[column]
        texts = series.map(lambda value: str(value).strip().lower()).astype(object)
        is_true, is_false = (texts.isin(tokens).to_numpy() for tokens in (("true", "1", "1.0"), ("false", "0", "0.0")))
        self.refuse(~(is_true | is_false), column, "is neither true nor false")
        return is_true

    def order(self, column: str) -> Float[np.ndarray, " n"]:
        series = self.frame[column]
        codes, distinct = pd.factorize(series)
        texts = pd.Series(np.asarray(distinct, object))
        values, exact = as_numbers(texts), pd.to_numeric(texts, errors="coerce")
        if exact.dtype.kind in "iu":  # such as nanoseconds, which a float cannot tell apart
            values = np.unique(exact.to_numpy(), return_inverse=True)[1].astype(float)
        if values is None:
            self._refuse_unordered(column, series, "is neither a number nor a date such as 2025-12-31")
        numbers = np.append(np.asarray(values), np.nan)[codes]
        self.refuse(np.isnan(numbers), column, "is missing")
        return numbers

    def _refuse_unordered(self, column: str, values: "pd.Series", why: str) -> None:
        """Raise a ValueError for the first value without an order among numbers or times."""
        values = values.astype(object)
        values = values.where(values != "", None)
        is_number = pd.to_numeric(values, errors="coerce").notna().to_numpy()
        is_time = _as_times(values).notna().to_numpy()
        self.refuse(values.notna().to_numpy() & ~is_number & ~is_time, column, why)
        self.refuse(is_number & ~is_time, column, "is a number, but others are dates")

    def names(self, *columns: str) -> tuple[list[Hashable], list[Int[np.ndarray, " n"]]]:
        """Return sorted names, and the positions of each column's names among them.

        A missing name has -1. Columns share names and bins. Bins are computed from the first column.
        """
        if (count := next((self.bins[column] for column in columns if column in self.bins), None)) is not None:
            return self._bins(columns, count)
        series = [self.frame[column] for column in columns]
        codes, values = list[Any](), list[Any]()
        index: dict[Hashable, int] = {}
        for column, column_values in zip(columns, series, strict=True):
            try:
                code, distinct = pd.factorize(column_values)
            except TypeError as error:
                raise ValueError(f"{self.where}: the values of {column!r} must be hashable ({error})") from error
            clean = [self.clean(value) for value in np.asarray(distinct, object)]
            self._report_blanks(column, column_values, code, list(distinct), clean)
            positions = np.array([index.setdefault(value, len(index)) for value in clean] + [-1])
            codes.append(np.where(self.is_missing(column), -1, positions[code]))
        used = np.zeros(len(index) + 1, bool)
        for code in codes:
            used[code] = True
        values = list(index)
        order = [number for number in sort_names(values) if used[number]]
        position = np.full(len(index) + 1, -1)
        position[order] = np.arange(len(order))
        self._report_similar(columns[0], [values[number] for number in order])
        return [values[number] for number in order], [np.where(code < 0, -1, position[code]) for code in codes]

    def clean(self, value: Hashable) -> Hashable:
        """Strip blanks from a name; names in files become text."""
        text = as_text(value) if self._is_of_file() else value
        return text.strip() if isinstance(text, str) else text

    def _report_blanks(self, column: str, series: Any, code: Any, distinct: list[Any], clean: list[Any]) -> None:
        padded = np.array(
            [isinstance(old, str) and old != new for old, new in zip(distinct, clean, strict=True)] + [False]
        )
        if padded.any():
            is_padded = padded[code]
            row = int(is_padded.argmax())
            example = f"{self.label(row)} has {series.iloc[row]!r}"
            n = int(is_padded.sum())
            line = f"blanks at the ends of names of {column!r} are removed: {n} ({example})"
            self.findings.append(Finding("names", line))

    def _report_similar(self, column: str, names: Sequence[Hashable]) -> None:
        first_forms = dict[str, str]()
        for name in names[:MAX_COMPARED_NAMES]:
            if isinstance(name, str):
                plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
                if (other := first_forms.setdefault(plain, name)) != name:
                    line = f"{column!r} has the similar names {other!r} and {name!r}, which stay separate"
                    self.findings.append(Finding("alike", line))
                    return

    def _bins(self, columns: Sequence[str], count: int) -> tuple[list[Hashable], list[Int[np.ndarray, " n"]]]:
        present = [self.frame[column].astype(object).mask(self.is_missing(column), None) for column in columns]
        numbers = [as_numbers(series) for series in present]
        for column, series, column_numbers in zip(columns, present, numbers, strict=True):
            if column_numbers is None:
                self._refuse_unordered(column, series, "must be a number for --bins")
        values = [np.asarray(column_numbers) for column_numbers in numbers]
        edges = bin_edges(values[0][~np.isnan(values[0])], count)
        ends = [-np.inf, *edges, np.inf]
        digits = next(n for n in range(6, 18) if n == 17 or len({f"{end:.{n}g}" for end in ends}) == len(ends))
        names = [f"{low:.{digits}g} to {high:.{digits}g}" for low, high in pairwise(ends)]
        return list(names), [
            np.where(np.isnan(column_numbers), -1, np.searchsorted(edges, column_numbers, side="right"))
            for column_numbers in values
        ]


def sort_names(names: Sequence[Hashable]) -> list[int]:
    """Return positions of names in natural order (2 before 10), if comparable."""

    def natural(text: str) -> list[Any]:
        pieces = re.split(r"(\d+)", text)
        return [(piece, 0) if not number % 2 else (int(piece), piece) for number, piece in enumerate(pieces)]

    positions = list(range(len(names)))
    try:
        if all(isinstance(name, str) for name in names):
            keys = [natural(str(name)) for name in names]
            return sorted(positions, key=lambda index: (keys[index], str(names[index])))
        return sorted(positions, key=names.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        return positions
