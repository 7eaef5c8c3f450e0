"""The columns of a table as names, numbers, truth values and times, with the row in each message."""

import re
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from pomrl_logs.binning import edges_of, numbers_of
from pomrl_logs.findings import Finding
from pomrl_logs.log_files import Source, as_text

MOST_NAMES = 1_000
"""Of more names, only so many are compared."""


@dataclass(frozen=True, eq=False)
class Table:
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

    def rows(self, kept: Any) -> "Table":
        """Return the table with some of the rows, in this order."""
        return replace(self, frame=self.frame.iloc[kept])

    def refuse(self, bad: Bool[np.ndarray, " n"], column: str, why: str) -> None:
        """Raise a ValueError that names the first bad row, if there is one."""
        if bad.any():
            row = int(bad.argmax())
            value = self.frame[column].iloc[row]
            value = value.item() if isinstance(value, np.generic) else value
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
            points = np.array([not comma and "." in text for comma, text in zip(commas, texts, strict=True)], bool)
            self.refuse(points[codes], column, "has a decimal point where others have decimal commas")
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
        values = numbers_of(pd.Series(np.asarray(found, object)))
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
        self._say_alike(columns[0], [values[place] for place in order])
        return [values[place] for place in order], [np.where(code < 0, -1, position[code]) for code in codes]

    def clean(self, value: Hashable) -> Hashable:
        """Return a name as a log has it: that of a file is text, without blanks around it."""
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

    def _say_alike(self, column: str, names: Sequence[Hashable]) -> None:
        """Say that names differ only in letters' case, in blanks inside, or in how accents are written."""
        seen = dict[str, str]()
        for name in names[:MOST_NAMES]:
            if isinstance(name, str):
                plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
                if (other := seen.setdefault(plain, name)) != name:
                    line = f"{column!r} has {other!r} and {name!r}, which look alike, and are two names"
                    self.findings.append(Finding("alike", "note", line))
                    return

    def _bins(self, columns: Sequence[str], count: int) -> tuple[list[Hashable], list[Int[np.ndarray, " n"]]]:
        numbers = [numbers_of(self.frame[column].astype(object)) for column in columns]
        for column, each in zip(columns, numbers, strict=True):
            if each is None:
                self.refuse(np.ones(len(self.frame), bool), column, "must be a number, because --bins names it")
        values = [np.asarray(each) for each in numbers]
        edges = edges_of(values[0][~np.isnan(values[0])], count)
        ends = [-np.inf, *edges, np.inf]
        names = [f"{low:g} to {high:g}" for low, high in pairwise(ends)]
        return list(names), [
            np.where(np.isnan(each), -1, np.searchsorted(edges, each, side="right")) for each in values
        ]


def sort_names(names: Sequence[Hashable]) -> list[int]:
    """Return the positions of names in order: numbers in texts by their value; names of several kinds as they come."""

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
