"""Define the series of figures, and select their stored rows."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pomrl.configuration.composed import ConfigError
from pomrl.drawing.style import Look
from pomrl.results.sweep_results import StoredSweeps
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import Scope, in_hindsight
from pomrl.science.stored_columns import MEASURED, SCHEMA

COLUMNS = ["panel", "series", "x", "mean", "lower", "upper", "band", "n", "marker"]
"""The columns of a drawing's table, with a row for each point.

band is the kind of lower and upper: `sd`, `se` or `ci` (see `results.intervals.Kind`), `bootstrap sd` or
`bootstrap ci`. n is the number of independent runs, and marker is true at a marked minimum. For a value without
runs, such as a bound, mean is the value, band describes it, lower and upper are NaN, and n is 0.
"""

View = Callable[[pd.DataFrame], pd.DataFrame]
"""A function that selects the rows to draw, with the columns run, planning_loss, and task, gamma or both."""


def everything(rows: pd.DataFrame) -> pd.DataFrame:
    """Return all rows."""
    return rows


def at_largest_gamma(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the largest gamma, by default gamma_eval."""
    tasks, gammas = rows["run"].to_numpy(np.int64) << 16 | rows["task"].to_numpy(np.int64), rows["gamma"]
    steps = np.diff(tasks)
    if not len(rows) or (steps < 0).any():
        return rows.loc[gammas == gammas.groupby(tasks).transform("max")]
    starts = np.flatnonzero(np.append(1, steps))  # rows of a task together, as stored, need no table of groups
    largest = np.maximum.reduceat(gammas.to_numpy(), starts)
    return rows.loc[gammas == largest.repeat(np.diff(np.append(starts, len(rows))))]


def at_gamma(gamma: float) -> View:
    """Return a view of the rows at one gamma."""
    return lambda rows: rows.loc[np.isclose(rows["gamma"], gamma)]


def best_fixed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the best gamma for all tasks."""
    return _in_hindsight(rows, "all_tasks")


def dynamic_best(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the best gamma for each task."""
    return _in_hindsight(rows, "each_task")


def _in_hindsight(rows: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    return in_hindsight(rows, Hindsight(gammas=np.unique(rows["gamma"]).tolist(), scope=scope)) if len(rows) else rows


def running_average(view: View) -> View:
    """Return a view of losses averaged over tasks 1 to t."""

    def average(rows: pd.DataFrame) -> pd.DataFrame:
        ordered = view(rows).sort_values(["run", "task"])
        total = ordered.groupby("run")["planning_loss"].cumsum()
        return ordered.assign(planning_loss=total / ordered["task"])

    return average


def in_task(t: int) -> View:
    """Return a view of the rows of task t."""
    return lambda rows: rows.loc[rows["task"] == t]


@dataclass(frozen=True)
class Drawing:
    """A figure and the table of its points."""

    figure: Figure
    data: pd.DataFrame
    """The points, with the columns `COLUMNS` except in `plots`."""


@dataclass(frozen=True)
class Series:
    """A series of a figure."""

    look: Look
    sweep: str = ""
    """The name of its sweep or simulation, if it has one."""
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    """The values of columns, such as varied settings, that select rows."""
    view: View = everything
    """The view of these rows."""
    panel: str = ""
    """The letter of its panel; empty in a figure of one panel."""

    def shows(self, sweep: str, varied: Mapping[str, Any]) -> bool:
        """Return whether the series shows an experiment of a sweep."""
        settings = {name: value for name, value in self.settings.items() if name in varied}
        return sweep == self.sweep and all(_equal(varied[name], value) for name, value in settings.items())

    def check_values(self, varied: Sequence[Mapping[str, Any]]) -> None:
        """Raise ConfigError if no experiment has a selected value."""
        for key, selected in self.settings.items():
            values = [settings[key] for settings in varied if key in settings]
            if key not in SCHEMA and not any(_equal(value, selected) for value in values):
                levels = f"available: {', '.join(dict.fromkeys(map(repr, values)))}"
                remedy = levels if values else f"it varies {', '.join(varied[0]) or 'nothing'}"
                raise ConfigError(f"{self.sweep} has no {key}={selected!r}; {remedy}")

    def rows(self, sweeps: StoredSweeps) -> pd.DataFrame:
        """Return the stored rows of the series; a metric replaces the loss."""
        results = sweeps[self.sweep]
        tables = [
            self._select(table, set(self.settings) - set(result.settings))
            for table, result in zip(results.tables, results.results, strict=True)
            if self.shows(self.sweep, result.settings)
        ]
        rows = tables[0] if len(tables) == 1 else pd.concat(tables or [results.without_rows], ignore_index=True)
        is_measured = MEASURED in rows and bool(rows[MEASURED].notna().all())
        return self.view(rows.assign(planning_loss=rows[MEASURED]) if is_measured else rows)

    def _select(self, table: pd.DataFrame, names: Collection[str]) -> pd.DataFrame:
        for name in names:
            column, value = table[name], self.settings[name]
            table = table.loc[column == value if isinstance(value, str) else np.isclose(column, value)]
        return table

    def points(self, bands: pd.DataFrame, x: str, band: str, marked: Sequence[float] = ()) -> pd.DataFrame:
        """Return means and bands over runs as rows of a drawing.

        `bands` has the columns mean, lower, upper, n and `x`; `band` is their kind. Rows at `marked` x have a marker.
        """
        numbers = {name: bands[name].to_numpy() for name in ("mean", "lower", "upper", "n")}
        points = numbers | {"x": bands[x].to_numpy(float), "marker": bands[x].isin(marked).to_numpy()}
        return pd.DataFrame(points | {"panel": self.panel, "series": self.look.label, "band": band}, columns=COLUMNS)

    def values(self, table: pd.DataFrame, x: str, y: str, what: str) -> pd.DataFrame:
        """Return values without runs, such as bounds, as rows of a drawing.

        `what` describes them in the column band.
        """
        rows = self._select(table, self.settings)
        points = pd.DataFrame({"x": rows[x], "mean": rows[y], "lower": np.nan, "upper": np.nan, "n": 0})
        return self.points(points, "x", what)

    @property
    def key(self) -> tuple[str, str]:
        """The panel and label of its points."""
        return self.panel, self.look.label

    def of(self, data: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of this series in a drawing."""
        return data.loc[(data["panel"] == self.panel) & (data["series"] == self.look.label)]


def _equal(varied: Any, selected: int | float | str) -> bool:
    is_number = isinstance(varied, int | float) and not isinstance(selected, str)
    return bool(np.isclose(varied, selected)) if is_number else varied == selected


def collect(tables: Iterable[pd.DataFrame], series: Sequence[Series]) -> pd.DataFrame:
    """Concatenate the points of series; ValueError if all are empty."""
    nonempty = [table for table in tables if len(table)]
    if not nonempty:
        sweeps = ", ".join(dict.fromkeys(curve.sweep for curve in series))
        raise ValueError(f"no rows of {sweeps} have the settings of the figure's series; compare them with the axes")
    return pd.concat(nonempty, ignore_index=True)
