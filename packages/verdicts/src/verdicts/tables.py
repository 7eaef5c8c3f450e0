"""Divide a table of results into independent groups of numbers.

Problems (games, data sets) are the units, if there are any. Runs of a problem are averaged, and methods are paired by
problem. Otherwise runs are the units, within each problem if there are several, and paired only if the user says so.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from verdicts.groups import Group, Linear
from verdicts.language import Cell, ClaimError, Side

METHODS = ("method", "learner", "model", "agent", "algorithm", "classifier", "classifier_name", "estimator", "system")
"""Names of columns of methods, in any case."""

PROBLEMS = ("problem", "game", "dataset", "dataset_name", "data_set", "task", "env", "environment", "instance")
"""Names of columns of problems."""

RUNS = ("run", "seed", "repeat", "trial", "replicate")
"""Names of columns of runs. Folds are none, because they share data."""

VALUES = ("score", "value", "accuracy", "loss", "error", "return", "reward", "result", "performance")
"""Names of columns of numbers, where a table has several."""

READERS: dict[str, Callable[..., Any]] = {
    ".csv": pd.read_csv,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".json": pd.read_json,
    ".jsonl": lambda path: pd.read_json(path, lines=True),
    ".parquet": pd.read_parquet,
}
"""How tables are read, by suffix; .gz may follow."""

MAX_LISTED_NAMES = 8
"""The largest number of names in a message."""

MIN_DIFFERENT_PAIRS = 10
"""The smallest number of pairs with different successes for a t test."""

MIN_OUTCOMES = 5
"""The smallest number of successes, and of failures, in each group for a t test."""

EQUAL_NUMBERS = 1e-9
"""The relative difference below which a number of a claim is that of a table."""

Pairs = Sequence[tuple[str, str]]
"""Columns with values."""


class TableError(ValueError):
    """A table cannot be read, or its columns have no clear roles."""


def read_table(table: pd.DataFrame | str | Path) -> pd.DataFrame:
    """Return a frame, or read it from a file."""
    frame = table if isinstance(table, pd.DataFrame) else _read_file(Path(table))
    if frame.empty:
        raise TableError("the table must have rows, got none")
    return frame.rename(columns=str)


def _read_file(path: Path) -> pd.DataFrame:
    suffix = next((suffix for suffix in reversed(path.suffixes) if suffix != ".gz"), "").lower()
    if suffix not in READERS:
        raise TableError(f"{path} must be a table ({', '.join(READERS)}), got {suffix or 'no suffix'}")
    try:
        return READERS[suffix](path)
    except (ValueError, ImportError) as error:
        raise TableError(f"{path} cannot be read: {' '.join(str(error).split())}") from None


@dataclass(frozen=True)
class Samples:
    """The numbers of cells, by stratum."""

    strata: list[dict[Cell, np.ndarray]]
    is_paired: bool
    unit: str

    def linear(self, side: Side, *, is_ratio: bool = False) -> Linear:
        """Estimate a sum of coefficient times mean, plus a constant.

        In a sum without differences, skewness does not cancel, so it is a level. Tests of a ratio are differences.
        """
        terms = {cell: factor for cell, factor in side.items() if cell is not None and factor != 0.0}
        if not terms:
            raise ClaimError("both sides must differ, and one must have a cell of the table")
        groups = [group for number in range(len(self.strata)) for group in self._groups(terms, number)]
        signs = {factor > 0.0 for factor in terms.values()}
        is_level = len(signs) == 1 and not is_ratio
        unit = f"pairs of {self.unit}s" if self.is_paired and len(terms) > 1 else f"{self.unit}s"
        return Linear.of(
            groups,
            side.get(None, 0.0),
            unit,
            is_level=is_level,
            is_sparse=self._is_sparse([*terms]),
            is_difference=len({abs(factor) for factor in terms.values()}) == 1,
        )

    def _is_sparse(self, cells: Sequence[Cell]) -> bool:
        """Return whether numbers have two values, with few differences in pairs, or few of one kind in a cell."""
        numbers = [np.concatenate([arrays[cell] for arrays in self.strata]) for cell in cells]
        largest = max(array.max() for array in numbers)
        if len(np.unique(np.concatenate(numbers))) > 2:
            return False
        if self.is_paired and len(numbers) > 1:
            return int((np.ptp(numbers, axis=0) > 0.0).sum()) < MIN_DIFFERENT_PAIRS
        successes = [int((array == largest).sum()) for array in numbers]
        return min(min(k, len(array) - k) for k, array in zip(successes, numbers, strict=True)) < MIN_OUTCOMES

    def _groups(self, terms: dict[Cell, float], number: int) -> list[Group]:
        """Return the groups of a stratum, in descending order of their coefficients."""
        arrays, share = self.strata[number], 1.0 / len(self.strata)
        if self.is_paired:
            total = np.sum([factor * arrays[cell] for cell, factor in terms.items()], axis=0)
            return [Group(share, total, number)]
        ordered = sorted(terms.items(), key=lambda term: -term[1])
        return [Group(factor * share, arrays[cell], number) for cell, factor in ordered]


@dataclass(frozen=True)
class Table:
    """A long table with one number a row, and the roles of its columns."""

    frame: pd.DataFrame
    value: str
    """The column of numbers of cells without one; empty if unknown."""
    method: str
    unit: str
    problem: str
    run: str
    is_paired: bool
    averaged: set[int] = field(default_factory=set)
    """The numbers of runs of a problem averaged so far."""

    @property
    def has_problem_units(self) -> bool:
        return self.unit == self.problem

    def roles(self) -> dict[str, Any]:
        """Return the roles of columns, for messages."""
        runs = sorted(self.averaged) if self.has_problem_units else []
        return {
            "value": self.value,
            "method": self.method,
            "unit": self.unit,
            "problem": self.problem if self.problem and self.frame[self.problem].nunique() > 1 else "",
            "paired": self.is_paired,
            "runs": runs and [runs[0], runs[-1]],
        }

    def select(self, pairs: Pairs) -> pd.DataFrame:
        """Return the rows with given values of columns."""
        frame = self.frame
        for column, value in pairs:
            self.need(column)
            rows = frame[_is_equal(frame[column], value)]
            if rows.empty:
                names_present = near_names(value, frame[column].drop_duplicates().astype(str))
                hint = "; put spaces around a minus" if column == self.method and "-" in value else ""
                raise ClaimError(f"no row has {column}={value}; there are {names_present}{hint}")
            frame = rows
        return frame

    def need(self, column: str) -> None:
        """Raise a ClaimError unless a column exists."""
        if column not in self.frame:
            raise ClaimError(f"no column {column!r}; the table has {near_names(column, self.frame.columns)}")

    def cell_pairs(self, cell: Cell) -> tuple[str, list[tuple[str, str]]]:
        """Return the column of numbers of a cell, and its fixed values."""
        if not cell.name:
            return cell.measure or self.value, [*cell.where]
        is_method = self.method and _is_equal(self.frame[self.method], cell.name).any()
        if not is_method and cell.name in self.frame and _is_numeric(self.frame[cell.name]):
            return cell.name, [*cell.where]
        if not self.method:
            columns = near_names(cell.name, self.frame.columns)
            raise ClaimError(f"{cell.name}: no column of methods; say method=COLUMN (the table has {columns})")
        return self.value, [*cell.where, (self.method, cell.name)]

    def samples(self, cells: Iterable[Cell], where: Pairs = ()) -> Samples:
        """Return the numbers of cells, aligned by unit if they are paired."""
        columns = {cell: self._values(cell, where) for cell in cells}
        if not columns:
            raise ClaimError("a side must have a cell of the table, such as A or score[method=A], got numbers")
        first_cell, first = next(iter(columns.items()))
        for cell, values in columns.items():
            _check_equal(first_cell, cell, first, values, self.problem)
        if self.is_paired:
            columns = {cell: self._align(first_cell, cell, first, values) for cell, values in columns.items()}
        strata = [{cell: values[name].to_numpy(float) for cell, values in columns.items()} for name in first]
        return Samples(strata, self.is_paired, self.unit)

    def _values(self, cell: Cell, where: Pairs) -> dict[str, pd.Series]:
        """Return the numbers of a cell by stratum, indexed by unit."""
        measure, pairs = self.cell_pairs(cell)
        frame = self.select([*where, *pairs])
        self._check_numbers(cell, measure, frame)
        self._check_rows(cell, measure, frame)
        numbers = frame[measure].astype(float)
        if self.has_problem_units:
            groups = numbers.groupby(frame[self.unit])
            self.averaged.update(int(size) for size in groups.size().unique())
            return {"": groups.mean()}
        numbers.index = pd.Index(frame[self.unit])
        if not self.problem or self.problem in dict([*where, *pairs]):
            return {"": numbers}
        return {str(name): group for name, group in numbers.groupby(frame[self.problem].to_numpy())}

    def _check_numbers(self, cell: Cell, measure: str, frame: pd.DataFrame) -> None:
        if not measure:
            raise ClaimError(f"{cell}: several columns may have the numbers; say value=COLUMN or COLUMN[...]")
        if measure not in frame:
            raise ClaimError(f"{cell}: no column {measure!r} of numbers; a cell is score[method=A, n=3]")
        if not _is_numeric(frame[measure]):
            texts = frame[measure][pd.to_numeric(frame[measure], errors="coerce").isna()]
            example = repr(texts.iloc[0]) if len(texts) else "numbers stored as text"
            raise TableError(f"column {measure!r} must have numbers, got {example}")
        if count := int((~np.isfinite(frame[measure].astype(float))).sum()):
            raise TableError(
                f"{cell}: {count} of {len(frame)} numbers are missing or infinite; drop or fill these rows"
            )

    def _check_rows(self, cell: Cell, measure: str, frame: pd.DataFrame) -> None:
        """Raise a ClaimError for several rows of one unit, unless they are numbered runs of a problem."""
        keys = [name for name in dict.fromkeys((self.problem, self.unit)) if name]
        for column in keys:
            if frame[column].isna().any():
                raise TableError(f"column {column!r} must name each {column}, got missing values (NA, None, null?)")
        keys += [self.run] if self.has_problem_units and self.run else []
        is_repeated = frame.duplicated(keys, keep=False)
        if not is_repeated.any():
            return
        free = [str(name) for name in frame if name not in (*keys, measure)]
        varied = [name for name in free if frame.groupby(keys)[name].nunique().max() > 1]
        if self.has_problem_units and not self.run and not varied:
            return
        row = frame[is_repeated].iloc[0]
        unit = ", ".join(f"{key}={row[key]}" for key in keys)
        number = "" if self.run else ", or number the runs in a column 'run'"
        remedy = f"fix {' or '.join(varied)} by 'where {varied[0]}=...'{number}" if varied else "is a run there twice?"
        raise ClaimError(f"{cell}: several rows have {unit}; {remedy}")

    def _align(self, first: Cell, cell: Cell, index: dict[str, pd.Series], values: dict[str, pd.Series]) -> dict:
        """Order the numbers of a cell by the units of the first cell."""
        for name, series in values.items():
            if unpaired := set(series.index) ^ set(index[name].index):
                units = near_names("", sorted(map(str, unpaired)))
                raise ClaimError(f"{first} and {cell} are paired by {self.unit}; only one of them has {units}")
        return {name: series.reindex(index[name].index) for name, series in values.items()}

    def levels(self, column: str, where: Pairs) -> list[str]:
        """Return the values of a column in ascending order, as text."""
        self.need(column)
        values = self.select(where)[column].dropna().unique()
        return pd.Series(sorted(values)).astype(str).to_list()

    def numeric_levels(self, column: str, where: Pairs) -> list[str]:
        """Return the levels of a column of numbers, or raise a ClaimError."""
        levels = self.levels(column, where)
        if not _is_numeric(self.frame[column]):
            raise ClaimError(f"column {column!r} must have numbers to have an order, got {levels[0]!r}")
        if len(levels) < 2:
            raise ClaimError(f"column {column!r} must have two values or more, got {levels[0]}")
        return levels

    def by_runs(self) -> "Table":
        """Return the table with runs as units, for claims about one problem."""
        if not self.has_problem_units:
            return self
        if not self.run:
            raise ClaimError(f"a claim about one {self.unit} needs a column of runs, such as seed")
        return Table(self.frame, self.value, self.method, self.run, self.problem, self.run, is_paired=False)

    def by_problems(self, column: str) -> "Table":
        """Return the table with a column's values as units, for shares of them."""
        self.need(column)
        if column == self.unit:
            return self
        if column != self.problem:
            raise ClaimError(f"a share is of {self.problem or self.unit}, the column of units, got {column!r}")
        return Table(self.frame, self.value, self.method, column, column, self.run, is_paired=True)


def find_roles(
    frame: pd.DataFrame,
    *,
    value: str = "",
    method: str = "",
    unit: str = "",
    problem: str = "",
    paired: bool | None = None,
) -> Table:
    """Find the roles of columns by their names, where they are not given."""
    for role, name in {"value": value, "method": method, "problem": problem}.items():
        if name and name not in frame:
            raise TableError(f"{role} must be a column, got {name!r}; there are {near_names(name, frame.columns)}")
    method = method or _find(frame, METHODS)
    run = _find(frame, RUNS)
    problem = problem or _find([name for name in frame if name != method], PROBLEMS)
    unit = _unit(frame, unit, problem, run)
    problem = unit if unit.lower() in PROBLEMS else problem
    value = value or _value(frame, {method, run, problem, unit})
    is_paired = unit == problem if paired is None else paired
    return Table(frame, value, method, unit, problem, run, is_paired)


def _find(columns: Iterable[Any], names: Sequence[str]) -> str:
    """Return the first column with one of the names."""
    by_lower = {str(name).lower(): str(name) for name in columns}
    return next((by_lower[name] for name in names if name in by_lower), "")


def _unit(frame: pd.DataFrame, unit: str, problem: str, run: str) -> str:
    """Return the column of units; `run` and `problem` also name roles."""
    has_several = problem and frame[problem].nunique() > 1
    name = (
        unit if unit in frame else {"run": run, "problem": problem, "": problem if has_several else run}.get(unit, "")
    )
    if not name:
        got = f"got {unit!r}" if unit else "none found"
        columns = near_names(unit, frame.columns)
        raise TableError(f"unit must be the column of independent units, {got}; the table has {columns}")
    return name


def _value(frame: pd.DataFrame, roles: set[str]) -> str:
    """Return the column of numbers, if there is one without doubt."""
    numeric = [str(name) for name in frame if name not in roles and _is_numeric(frame[name])]
    return numeric[0] if len(numeric) == 1 else _find(numeric or frame, VALUES)


def _check_equal(a: Cell, b: Cell, first: dict, other: dict, problem: str) -> None:
    """Raise a ClaimError if two cells have other problems."""
    if unshared := sorted(set(first) ^ set(other)):
        raise ClaimError(f"{a} and {b} must have the same values of {problem}; only one has {near_names('', unshared)}")


def _is_numeric(column: pd.Series) -> bool:
    return column.dtype.kind in "iufb"


def _is_equal(column: pd.Series, value: str) -> pd.Series:
    """Compare numbers with numbers, and text with text."""
    if column.dtype.kind not in "iuf":
        return column.astype(str) == value
    try:
        number = float(value)
    except ValueError:
        raise ClaimError(f"column {column.name!r} has numbers, got {value!r}") from None
    return (column - number).abs() <= EQUAL_NUMBERS * max(abs(number), EQUAL_NUMBERS)


def near_names(name: str, names: Iterable[str]) -> str:
    """List names, those alike first."""
    listed = [*map(str, names)]
    similar = get_close_matches(name, listed, n=3, cutoff=0.5) if name else []
    ordered = [*dict.fromkeys([*similar, *listed])]
    ending = f" and {len(ordered) - MAX_LISTED_NAMES} more" if len(ordered) > MAX_LISTED_NAMES else ""
    return ", ".join(ordered[:MAX_LISTED_NAMES]) + ending
