"""Read the columns of a table of transitions: names, numbers, flags and times."""

import re
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from pomrl_logs.date_forms import AmbiguousDateError, find_form, to_times
from pomrl_logs.findings import Finding
from pomrl_logs.log_files import TableSource, as_text
from pomrl_logs.number_forms import AmbiguousNumberError, Mark, decimal_mark, to_numbers
from pomrl_logs.numeric_columns import as_numbers, bin_edges

WHOLE_NUMBER = re.compile(r"[+-]?\d+(\.0+)?")

FLAGS = ("true", "1", "1.0", "yes", "y"), ("false", "0", "0.0", "no", "n")
"""Texts of true and of false, in lower case."""

BLANK_REWARD = "is missing; write 0 where nothing was paid, or leave the row out, as --missing '' does"

MAX_LISTED_FAULTS = 10
"""The largest number of faults in an error."""

MAX_LISTED_ROWS = 3
"""The largest number of further rows named in a fault."""

MAX_COMPARED_NAMES = 1_000
"""The largest number of names compared for similarity."""


class TableError(ValueError):
    """The faults of a table, with a line for each."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


@dataclass(frozen=True, eq=False)
class LogTable:
    """A table of transitions, with its sources."""

    frame: "pd.DataFrame"
    sources: list[TableSource]
    missing: frozenset[Hashable]
    bins: Mapping[str, int]
    findings: list[Finding]
    dates: str | None = None
    """The form of dates, such as %d/%m/%Y."""
    accept: frozenset[str] = frozenset()
    faults: list[str] = field(default_factory=list)
    """Faults found so far (see `check`)."""

    @property
    def where(self) -> str:
        return self.sources[0].where

    def label(self, row: int) -> str:
        return self._label(int(self.frame.index[row]))

    def _label(self, number: int) -> str:
        if len(self.sources) == 1:
            return f"{'line' if self.sources[0].has_lines else 'row'} {number}"
        offset = number
        for source in self.sources:
            if offset < len(source.frame):
                return f"{source.where}, {source.label(offset)}"
            offset -= len(source.frame)
        raise IndexError(number)

    def rows(self, selected: Any) -> "LogTable":
        return replace(self, frame=self.frame.iloc[selected])

    def refuse(self, bad: Bool[np.ndarray, " n"], column: str, why: str) -> None:
        """Note a fault of rows, with the first value; `check` raises."""
        if bad.any():
            rows = np.flatnonzero(bad)
            first, *later = rows[np.argsort(self.frame.index[rows], kind="stable")].tolist()
            value = self.frame[column].iloc[first]
            value = value.item() if isinstance(value, np.generic) else value
            listed = [self.label(row) for row in later[:MAX_LISTED_ROWS]]
            listed += [f"{len(later) - len(listed)} more"] if len(later) > len(listed) else []
            also = f" (also {', '.join(listed)})" if listed else ""
            self.faults.append(f"{self.label(first)}: the value {value!r} of {column!r} {why}{also}")

    def check(self) -> None:
        """Raise a ValueError with the faults, if any; each has a line."""
        if self.faults:
            n_more = len(self.faults) - MAX_LISTED_FAULTS
            lines = [f"{self.where}: {fault}" for fault in self.faults[:MAX_LISTED_FAULTS]]
            raise TableError([*lines, *([f"and {n_more} more faults"] if n_more > 0 else [])])

    def is_missing(self, column: str) -> Bool[np.ndarray, " n"]:
        """Return where a column is empty, or has a name of missing values."""
        return self.frame[column].isna().to_numpy() | self._is_in(column, self._missing_names())

    def is_declared_missing(self, column: str) -> Bool[np.ndarray, " n"]:
        """Return where a column of numbers is declared missing; numbers such as -1 are values."""
        texts: set[Hashable] = {
            text for text in map(str, self.missing) if as_numbers(pd.Series([text])) is None or not text
        }
        blank = self.frame[column].isna().to_numpy() & ("" in texts)
        return blank | self._is_in(column, texts)

    def _is_in(self, column: str, names: set[Hashable]) -> Bool[np.ndarray, " n"]:
        codes, distinct = pd.factorize(self.frame[column])
        return np.array([*(self.clean(value) in names for value in np.asarray(distinct, object)), False])[codes]

    def _missing_names(self) -> set[Hashable]:
        """Return the names of missing values as `clean` returns names."""
        cleaned_names = {self.clean(value) for value in self.missing if isinstance(value, str | Number)}
        return cleaned_names | {*self.missing} | ({""} if self._is_of_file() else set())

    def _is_of_file(self) -> bool:
        return any(source.where != "the log" for source in self.sources)

    def numbers(self, column: str) -> Float[np.ndarray, " n"]:
        """Return a column of finite numbers, with decimal marks as `decimal_mark` finds."""
        series = self.frame[column]
        if series.dtype.kind in "mM":
            self.refuse(np.ones(len(series), bool), column, "is a date, not a number; name the column of rewards")
            return np.zeros(len(series))
        codes, distinct = pd.factorize(series)
        values = pd.to_numeric(pd.Series(np.asarray(distinct, object)), errors="coerce")
        values = values.to_numpy(float, na_value=np.nan)
        texts = [value.strip() if isinstance(value, str) else "" for value in distinct]
        if np.isnan(values).any() or all(source.separator != "," for source in self.sources):
            as_written, mark = values, self._decimal_mark(column, texts)
            values = np.where(np.array(texts) == "", values, to_numbers(texts, mark))
            self._report_marks(column, codes, as_written, values)
        numbers = np.append(values, np.nan)[codes]
        blank = np.array([*(isinstance(value, str) and not value.strip() for value in distinct), True])[codes]
        self.refuse(blank, column, BLANK_REWARD)
        self.refuse(
            ~np.isfinite(numbers) & ~blank, column, "is not a finite number; write it like 2.5 or 1000, without units"
        )
        return numbers

    def _decimal_mark(self, column: str, texts: Sequence[str]) -> Mark:
        """Return the decimal mark; without evidence, it is a point if commas separate fields."""
        has_comma = any("," in text for text in texts)
        is_certain = not has_comma and any(source.separator == "," for source in self.sources)
        try:
            return decimal_mark(texts)
        except AmbiguousNumberError as error:
            example, other = error.args
            if not is_certain and "decimals" not in self.accept:
                self.faults.append(
                    f"the numbers of {column!r} may be read in two ways, such as {example} beside {other}; write "
                    "1000 without a mark of thousands, or add --accept decimals if these are decimals"
                )
            return "," if has_comma else "."

    def _report_marks(self, column: str, codes: Any, as_written: Any, values: Any) -> None:
        is_other = np.append(np.isfinite(values) & (values != as_written), False)[codes]
        if is_other.any():
            row = int(is_other.argmax())
            text = self.frame[column].iloc[row]
            line = f"{column!r} has decimal commas, or marks of thousands: {text} is {values[codes[row]]:.12g}"
            self.findings.append(Finding("decimals", f"{line} ({self.label(row)})"))

    def flags(self, column: str) -> Bool[np.ndarray, " n"]:
        """Return a column of truth values."""
        texts = self.frame[column].map(lambda value: str(value).strip().lower()).astype(object)
        is_true, is_false = (texts.isin(tokens).to_numpy() for tokens in FLAGS)
        self.refuse(~(is_true | is_false), column, "must be true or false, yes or no, or 1 or 0")
        return is_true

    def order(self, column: str) -> Float[np.ndarray, " n"]:
        series = self.frame[column]
        codes, distinct = pd.factorize(series)
        texts = pd.Series(np.asarray(distinct, object))
        form = self._date_form(column)
        values, exact = as_numbers(texts, form), pd.to_numeric(texts, errors="coerce")
        if exact.dtype.kind in "iu":  # such as nanoseconds, which a float cannot tell apart
            values = np.unique(exact.to_numpy(), return_inverse=True)[1].astype(float)
        if values is None:
            self._refuse_unordered(column, series, "is neither a number nor a date such as 2025-12-31", form)
            return np.arange(len(series), dtype=float)
        numbers = np.append(np.asarray(values), np.nan)[codes]
        self.refuse(np.isnan(numbers), column, "is missing; write the time, or remove the row")
        return numbers

    def has_dates(self, column: str) -> bool:
        """Return whether a column of times begins with a date."""
        series = self.frame[column]
        return series.dtype.kind == "M" or bool(pd.to_numeric(series[:1], errors="coerce").isna().all())

    def _date_form(self, column: str) -> str | None:
        if self.dates is not None:
            return self.dates
        texts = self.frame[column].dropna().astype(object)
        try:
            form = find_form(texts.drop_duplicates())
        except AmbiguousDateError as error:
            self.faults.append(
                f"{column!r} has dates such as {error}, of which days or months may stand first; "
                "add --dates %d/%m/%Y or --dates %m/%d/%Y"
            )
            return "%d/%m/%Y"
        if form:
            times = to_times(texts, form)
            row = int(times.notna().to_numpy().argmax())
            line = f"{column!r} has dates of the form {form}: {texts.iloc[row]} is {times.iloc[row]:%Y-%m-%d}"
            self.findings.append(Finding("form", line))
        return form

    def _refuse_unordered(self, column: str, values: "pd.Series", why: str, form: str | None = None) -> None:
        """Refuse values without an order among numbers or times."""
        values = values.astype(object)
        values = values.where(values != "", None)
        is_number = pd.to_numeric(values, errors="coerce").notna().to_numpy()
        is_time = to_times(values, form).notna().to_numpy()
        hint = "; say the form of dates with --dates, such as --dates %d.%m.%Y"
        self.refuse(values.notna().to_numpy() & ~is_number & ~is_time, column, f"{why}{hint}")
        if is_time.any():
            self.refuse(is_number & ~is_time, column, "is a number, but others are dates; write all in one form")

    def names(self, *columns: str) -> tuple[list[Hashable], list[Int[np.ndarray, " n"]]]:
        """Return sorted names, and the positions of each column's names among them.

        A missing name has -1. Columns share names and bins. Bins are computed from the first column.
        """
        if (count := next((self.bins[column] for column in columns if column in self.bins), None)) is not None:
            return self._bins(columns, count)
        series = [self.frame[column] for column in columns]
        codes, values, factors = list[Any](), list[Any](), list[tuple[Any, list[Hashable]]]()
        index: dict[Hashable, int] = {}
        for column, column_values in zip(columns, series, strict=True):
            try:
                code, distinct = pd.factorize(column_values)
            except TypeError as error:
                raise ValueError(
                    f"{self.where}: the values of {column!r} must be hashable, such as texts or numbers ({error})"
                ) from error
            clean = [self.clean(value) for value in np.asarray(distinct, object)]
            self._report_blanks(column, column_values, code, list(distinct), clean)
            factors.append((code, clean))
        plain = self._plain_names(columns[0], {name for _, clean in factors for name in clean})
        for column, (code, clean) in zip(columns, factors, strict=True):
            names = [plain.get(name, name) for name in clean]
            positions = np.array([index.setdefault(name, len(index)) for name in names] + [-1])
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

    def _plain_names(self, column: str, names: set[Hashable]) -> dict[Hashable, str]:
        """Map whole numbers with a point, such as 3.0, to names without, if all names of a file are whole numbers."""
        present = [str(name) for name in names - self._missing_names()]
        with_point = [name for name in present if "." in name]
        if not (self._is_of_file() and with_point and all(map(WHOLE_NUMBER.fullmatch, present))):
            return {}
        plain = {name: name.partition(".")[0] for name in with_point}
        if twice := next((name for name in sorted(with_point) if plain[name] in names), None):
            line = f"{column!r} has whole numbers with and without a point, such as {twice}, which is {plain[twice]}"
            self.findings.append(Finding("decimals", line))
        return {name: plain[name] for name in with_point}

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
        numbers = [as_numbers(series, self.dates) for series in present]
        for column, series, column_numbers in zip(columns, present, numbers, strict=True):
            if column_numbers is None:
                self._refuse_unordered(column, series, "must be a number for --bins")
                self.check()
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
