"""The series that a figure shows, views of stored rows, the table of the points, and the drawing made of them."""

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
from pomrl.science.loss_tables import MEASURED, SCHEMA

COLUMNS = ["panel", "series", "x", "mean", "lower", "upper", "band", "n", "marker"]
"""Columns of the table behind a drawing, which has a row for each point.

band names what lower and upper are (`sd`, `se` or `ci`, see `results.intervals.Kind`, or `bootstrap sd` or `bootstrap
ci`), n is the number of independent runs, and marker is true where the minimum of a series is marked. A value that does
not come from runs, such as a bound, stands in mean; its lower and upper are NaN, its n is 0, and band names what the
value is.
"""


View = Callable[[pd.DataFrame], pd.DataFrame]
"""A function from the rows of one experiment to those that are drawn.

The result has the columns run, planning_loss, and task or gamma or both.
"""


def everything(rows: pd.DataFrame) -> pd.DataFrame:
    """Return all rows."""
    return rows


def at_largest_gamma(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each run and task: that of the largest gamma, which on the default grid is gamma_eval."""
    return rows.loc[rows["gamma"] == rows.groupby(["run", "task"])["gamma"].transform("max")]


def at_gamma(gamma: float) -> View:
    """Return the view of one row for each run and task: that of this gamma of the grid."""
    return lambda rows: rows.loc[np.isclose(rows["gamma"], gamma)]


def best_fixed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each run and task: that of the single gamma with the smallest mean loss over all tasks."""
    return _in_hindsight(rows, "all_tasks")


def dynamic_best(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each run and task: that of the gamma with the smallest mean loss in the task."""
    return _in_hindsight(rows, "each_task")


def _in_hindsight(rows: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    return in_hindsight(rows, Hindsight(gammas=np.unique(rows["gamma"]).tolist(), scope=scope)) if len(rows) else rows


def running_average(view: View) -> View:
    """Return the view that averages the losses of another view over tasks 1 to t, for each run and task t."""

    def averaged(rows: pd.DataFrame) -> pd.DataFrame:
        shown = view(rows).sort_values(["run", "task"])
        total = shown.groupby("run")["planning_loss"].cumsum()
        return shown.assign(planning_loss=total / shown["task"])

    return averaged


def in_task(t: int) -> View:
    """Return the view of the rows of task t."""
    return lambda rows: rows.loc[rows["task"] == t]


@dataclass(frozen=True)
class Drawing:
    """A figure and the table of exactly what it draws, which has the columns `COLUMNS`."""

    figure: Figure
    data: pd.DataFrame


@dataclass(frozen=True)
class Series:
    """One series of a figure: where it is drawn, how it looks, and which stored rows it shows."""

    look: Look
    sweep: str = ""
    """The name of the sweep or simulation that it shows; empty if it shows neither."""
    settings: Mapping[str, int | float | str] = field(default_factory=dict)
    """The values of columns, such as the sweep's varied settings, at which rows are shown."""
    view: View = everything
    """The view applied to these rows."""
    panel: str = ""
    """The letter of its panel; empty in a figure of one panel."""

    def shows(self, sweep: str, varied: Mapping[str, Any]) -> bool:
        """Return whether the series shows the experiment with these varied settings, of the sweep of this name."""
        chosen = {name: value for name, value in self.settings.items() if name in varied}
        return sweep == self.sweep and all(_equal(varied[name], value) for name, value in chosen.items())

    def refuse_unknown(self, varied: Sequence[Mapping[str, Any]]) -> None:
        """Raise a ConfigError if the series asks for a value that no experiment of its sweep has."""
        for key, wanted in self.settings.items():
            values = [settings[key] for settings in varied if key in settings]
            if key not in SCHEMA and not any(_equal(value, wanted) for value in values):
                known = f"in it {key} is {', '.join(dict.fromkeys(map(repr, values)))}"
                there = known if values else f"it varies {', '.join(varied[0])}"
                raise ConfigError(f"{self.sweep} has no {key}={wanted!r}; {there}")

    def rows(self, sweeps: StoredSweeps) -> pd.DataFrame:
        """Return the stored rows that the series shows, with the metric in the place of the loss if they have one."""
        results = sweeps[self.sweep]
        shown = [
            self._choose(table, set(self.settings) - set(result.settings))
            for table, result in zip(results.tables, results.results, strict=True)
            if self.shows(self.sweep, result.settings)
        ]
        rows = shown[0] if len(shown) == 1 else pd.concat(shown or [results.without_rows], ignore_index=True)
        return self.view(with_metric(rows))

    def _choose(self, table: pd.DataFrame, names: Collection[str]) -> pd.DataFrame:
        """Return the rows of a table with the values in `settings` of the columns of these names."""
        if not names:
            return table
        chosen = np.ones(len(table), bool)
        for name in names:
            column, value = table[name], self.settings[name]
            chosen &= (column == value if isinstance(value, str) else np.isclose(column, value)).astype(bool)
        return table.loc[chosen]

    def points(self, bands: pd.DataFrame, x: str, band: str, marked: Sequence[float] = ()) -> pd.DataFrame:
        """Return means and bands over runs as rows of a drawing's table.

        Args:
            bands: The columns mean, lower, upper and n, and the column named by `x`.
            x: The column on the horizontal axis.
            band: What lower and upper are.
            marked: The values of x at which the series is marked.
        """
        points = bands.rename(columns={x: "x"}).astype({"x": float})
        marker = points["x"].isin(marked)
        return points.assign(panel=self.panel, series=self.look.label, band=band, marker=marker).loc[:, COLUMNS]

    def values(self, table: pd.DataFrame, x: str, y: str, what: str) -> pd.DataFrame:
        """Return the columns `x` and `y` of a table, which does not come from runs, as rows of a drawing's table.

        Rows are those at the values in `settings`; `what` names what the values are, for the column band.
        """
        rows = self._choose(table, self.settings)
        points = pd.DataFrame({"x": rows[x].astype(float), "mean": rows[y], "lower": np.nan, "upper": np.nan})
        return points.assign(panel=self.panel, series=self.look.label, band=what, n=0, marker=False).loc[:, COLUMNS]

    @property
    def key(self) -> tuple[str, str]:
        """What tells the points of the series apart in a drawing's table: its panel and its label."""
        return self.panel, self.look.label

    def of(self, data: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a drawing's table that belong to this series."""
        return data.loc[(data["panel"] == self.panel) & (data["series"] == self.look.label)]


def _equal(varied: Any, wanted: int | float | str) -> bool:
    is_number = isinstance(varied, int | float) and not isinstance(wanted, str)
    return bool(np.isclose(varied, wanted)) if is_number else varied == wanted


def collect(parts: Iterable[pd.DataFrame], wanted: Sequence[Series]) -> pd.DataFrame:
    """Join the points of several series into the table of a drawing.

    Raises:
        ValueError: If all parts are empty. The message names the sweeps of the wanted series.
    """
    nonempty = [part for part in parts if len(part)]
    if not nonempty:
        sweeps = ", ".join(dict.fromkeys(series.sweep for series in wanted))
        raise ValueError(f"the tables of {sweeps} hold nothing that this figure shows")
    return pd.concat(nonempty, ignore_index=True)


def with_metric(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with the metric, where all of its rows have one, in the place of the planning loss."""
    measured = MEASURED in table and bool(table[MEASURED].notna().all())
    return table.assign(planning_loss=table[MEASURED]) if measured else table
