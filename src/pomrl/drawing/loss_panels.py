"""Draw panels of planning losses, and grids of panels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from string import ascii_lowercase
from typing import Any, Literal, get_args

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pomrl.drawing import panels
from pomrl.drawing.series import Series, View, at_largest_gamma, collect, in_task
from pomrl.drawing.style import TEXT_WIDTH, Look, look, sequence
from pomrl.results.intervals import Kind, band
from pomrl.results.sweep_results import StoredSweeps
from pomrl.science.gamma_star import minimising

METHODS = ("oracle", "without_meta", "pomrl", "ada_pomrl")
"""The estimators of most figures."""

TASKS = (1, 2, 3, 5, 10, 15)
"""The tasks with a curve in experiments of T = 15 tasks."""

Settings = Mapping[str, int | float | str]


def of_estimators(
    sweep: str, settings: Settings, estimators: Sequence[str] = METHODS, view: View = at_largest_gamma
) -> list[Series]:
    """Return a series for each estimator."""
    return of_values(sweep, "estimator", {name: look(name) for name in estimators}, settings, view)


def of_values(
    sweep: str,
    key: str,
    looks: Mapping[Any, Look],
    settings: Settings | None = None,
    view: View = at_largest_gamma,
) -> list[Series]:
    """Return a series for each value of a setting.

    `looks` has the label and style of each value.
    """
    return [Series(look, sweep, {**(settings or {}), key: value}, view) for value, look in looks.items()]


def of_tasks(sweep: str, settings: Settings) -> list[Series]:
    """Return a series for the loss in each of `TASKS`."""
    return [Series(look, sweep, settings, in_task(t)) for t, look in sequence(TASKS, "t = {}".format).items()]


@dataclass(frozen=True)
class Panel:
    """A panel of planning losses, with bands over runs."""

    title: str
    series: Sequence[Series]
    x: Literal["task", "gamma"]
    """The horizontal axis. Against gamma, the minimum of each curve is marked."""
    band: Kind
    """The default kind of bands, described in the caption."""
    zoomed: bool = False
    """Whether the vertical axis starts at the lowest band instead of 0."""
    label: str = panels.LOSS
    """The label of the vertical axis."""

    def __post_init__(self) -> None:
        for name, choices in (("x", ("task", "gamma")), ("band", get_args(Kind))):
            if getattr(self, name) not in choices:
                value, allowed = getattr(self, name), " or ".join(choices)
                raise ValueError(f"panel {self.title!r}: {name} must be {allowed}, got {value!r}")

    @property
    def letter(self) -> str:
        """The letter of the panel; empty for a single panel."""
        return self.series[0].panel

    def with_letter(self, letter: str) -> "Panel":
        return replace(self, series=[replace(series, panel=letter) for series in self.series])

    def points(self, sweeps: StoredSweeps, kind: Kind | None = None) -> Iterator[pd.DataFrame]:
        """Yield the points of each series, with the columns `COLUMNS`."""
        kind = kind or self.band
        for series in self.series:
            bands = band(series.rows(sweeps), [self.x], kind=kind)
            curve = bands[["gamma", "mean"]].to_numpy(float).T if self.x == "gamma" and len(bands) else None
            marked = () if curve is None else [minimising(*curve).item()]
            yield series.points(bands, self.x, kind, marked)

    def draw(self, ax: Axes, data: pd.DataFrame) -> None:
        panels.curves(ax, data, self.series)
        if self.x == "gamma":
            panels.gamma_axis(ax)
        else:
            panels.task_axis(ax, data)
        panels.loss_axis(ax, self.label)
        if self.zoomed:
            ax.autoscale(axis="y")  # so that it does not start at 0
        panels.letter(ax, self.letter, f"{self.title} (zoomed)" if self.zoomed else self.title)


def series_of(figure_panels: Sequence[Panel]) -> list[Series]:
    """Return the series of several panels."""
    return [series for panel in figure_panels for series in panel.series]


def points_of_panels(sweeps: StoredSweeps, figure_panels: Sequence[Panel], kind: Kind | None = None) -> pd.DataFrame:
    """Return the points of panels; ValueError without points."""
    return collect([table for panel in figure_panels for table in panel.points(sweeps, kind)], series_of(figure_panels))


def draw_row(axes: Sequence[Axes], data: pd.DataFrame, row: Sequence[Panel]) -> None:
    """Draw a row of panels; label a shared axis once."""
    for ax, panel in zip(axes, row, strict=True):
        panel.draw(ax, data)
        if ax is not axes[0] and ax.get_shared_y_axes().joined(ax, axes[0]):
            ax.set_ylabel("")


@dataclass(frozen=True)
class PanelGrid:
    """A figure with rows of panels and a legend below."""

    rows: Sequence[Sequence[Panel]]
    width: float = TEXT_WIDTH
    """The width of the figure, in inches."""
    row_height: float = 2.4
    """The height of each row, in inches."""
    share_y: bool = True
    """Whether the panels of a row share their vertical axis."""

    @cached_property
    def lettered_rows(self) -> list[list[Panel]]:
        """The rows of panels with letters, except for a single panel."""
        letters = iter(ascii_lowercase if sum(map(len, self.rows)) > 1 else [""])
        return [[panel.with_letter(next(letters)) for panel in row] for row in self.rows]

    @cached_property
    def panels(self) -> list[Panel]:
        return [panel for row in self.lettered_rows for panel in row]

    @cached_property
    def series(self) -> list[Series]:
        return series_of(self.panels)

    def points(self, sweeps: StoredSweeps, kind: Kind | None = None) -> pd.DataFrame:
        """Return the points, by default with the caption's bands; ValueError without rows."""
        return points_of_panels(sweeps, self.panels, kind)

    def draw_row(self, axes: Sequence[Axes], data: pd.DataFrame, row: Sequence[Panel]) -> None:
        draw_row(axes, data, row)

    def further_entries(self, data: pd.DataFrame) -> list[Artist]:
        """Return legend entries in addition to the series."""
        return [panels.minimum_marker()] if any(panel.x == "gamma" for panel in self.panels) else []

    def draw(self, data: pd.DataFrame) -> Figure:
        """Draw the points of `points`."""
        figure, rows = panels.blank(self.width, self.row_height * len(self.rows)), self.lettered_rows
        grid = panels.grid_of_panels(figure, len(rows), len(rows[0]), share_y=self.share_y)
        for axes, row in zip(grid, rows, strict=True):
            self.draw_row(axes, data, row)
        panels.add_shared_legend(figure, [ax for axes in grid for ax in axes], more=self.further_entries(data))
        return figure
