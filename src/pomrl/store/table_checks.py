"""What the table of a block has to be by the settings of its experiment, whoever wrote it.

Digests say that a file is as it was written, and not that what was written is a table of this experiment. A block is
therefore checked before it is stored, when a crate is imported, by `pomrl runs --verify`, and as far as it is read
whenever it is read. The number of rows is checked before anything is decoded, because a small file can hold very many.
"""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pomrl.science.loss_tables import MEASURED, SCHEMA

MOST_GAMMAS = 10_000
"""The most discount factors in a task of a schedule that is not of this package."""

_TYPES = {name: pa.from_numpy_dtype(np.dtype(of)) for name, of in {**SCHEMA, MEASURED: "float64"}.items()}

_MAY_BE_NAN = ("sigma_hat",)
"""Columns that are NaN where a method has no such number."""


class Shape(NamedTuple):
    """What the settings of an experiment say of its tables."""

    T: int
    """The number of tasks."""
    gammas: tuple[float, ...] | None
    """The discount factors of a grid; None where a schedule chooses them."""
    most: int
    """The most discount factors in a task."""
    is_measured: bool = False
    """Whether there is a column of a metric."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return (*SCHEMA, MEASURED) if self.is_measured else tuple(SCHEMA)

    @staticmethod
    def of(settings: Mapping[str, Any]) -> "Shape":
        """Return the shape of the tables of an experiment with these settings.

        Raises:
            KeyError, TypeError, ValueError: They are no settings of an experiment.
        """
        T, schedule, measured = settings["T"], settings["gamma_schedule"], "metric" in settings
        targets = [value["_target_"] for value in settings.values() if isinstance(value, dict)]
        if type(T) is not int or T < 1 or not all(isinstance(target, str) for target in targets):
            raise ValueError("they are no settings of an experiment")
        if schedule["_target_"] == "pomrl.science.gamma_schedules.Grid":
            gammas = tuple(map(float, schedule["gammas"]))
            of_all = "agent" not in settings  # an agent may choose one of them
            return Shape(T, gammas if of_all else None, len(gammas), measured)
        return Shape(T, None, 1 if schedule["_target_"].startswith("pomrl.") else MOST_GAMMAS, measured)

    def gammas_in(self, rows: int, runs: range) -> int | None:
        """Return the number of discount factors in each task of a table with so many rows; None if it cannot be."""
        number, rest = divmod(rows, len(runs) * self.T)
        possible = (len(self.gammas),) if self.gammas else range(1, self.most + 1)
        return number if rest == 0 and number in possible else None


def fault_of_file(file: pq.ParquetFile, runs: range, shape: Shape) -> str | None:
    """Return what is wrong with the columns and the number of rows of a block's file, or None; nothing is decoded."""
    found = {field.name: field.type for field in file.schema_arrow}
    if found != {name: _TYPES[name] for name in shape.columns}:
        return "its columns are not those of a table of results"
    if shape.gammas_in(file.metadata.num_rows, runs) is None:
        return f"it has {file.metadata.num_rows:,} rows, which do not belong to {len(runs)} runs of these settings"
    return None


def fault_of_columns(columns: Mapping[str, np.ndarray], runs: range, shape: Shape) -> str | None:
    """Return what is wrong with some or all columns of the table of a block, or None.

    Rows have to be sorted by run, task and discount factor, and all numbers have to be finite.
    """
    rows = len(next(iter(columns.values())))
    G = shape.gammas_in(rows, runs)
    if G is None:
        return f"it has {rows:,} rows, which do not belong to {len(runs)} runs of these settings"
    expected = {
        "run": np.repeat(np.arange(runs.start, runs.stop), shape.T * G),
        "task": np.tile(np.repeat(np.arange(1, shape.T + 1), G), len(runs)),
        **({"gamma": np.tile(shape.gammas, len(runs) * shape.T)} if shape.gammas else {}),
    }
    for name, column in columns.items():
        if name in expected and not np.array_equal(column, expected[name]):
            return f"its column {name} is not the one of these runs and settings"
        if name not in _MAY_BE_NAN and not np.isfinite(column).all():
            return f"its column {name} has numbers that are not finite"
    return None
