"""Overlay our curves with points of the notebook's figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pomrl.figures import (
    TASKS,
    Kind,
    Look,
    Panel,
    PanelGrid,
    Series,
    StoredSweeps,
    at_largest_gamma,
    in_task,
    look,
    of_tasks,
    points_of_panels,
)
from pomrl.figures import draw_row as draw_panels
from pomrl_studies.pomrl2023 import digitised
from pomrl_studies.pomrl2023.digitised import AuthorsSeries, compare_best_gammas, compare_losses
from pomrl_studies.pomrl2023.horizon_panels import HorizonPanel

SIMILARITY = "task_similarity"

SWEEPS = {"uniform_prior": "uniform_prior"}
"""The sweeps of estimators outside of `SIMILARITY`."""

FACTORS = {0.01: 1.5, 0.025: 0.75, 0.047: 0.375}
"""The factor c of the notebook's Dirichlet parameters c S (P_o + 0.015), by the paper's similarity sigma."""

DIGITISED_SIGMA = 0.047
"""The similarity of cells 44, 45, 55 and 61, whose figures were digitised."""

CELL_61_CURVES = {"oracle": "oracle", "without_meta": "without", "pomrl": "POMRL", "ada_pomrl": "ada-POMRL"}
"""The names of the estimators' curves in the figure of cell 61."""


def title(sigma: float) -> str:
    """Return a panel's title with the similarity and the factor c."""
    return f"σ = {sigma:g} (c = {FACTORS[sigma]:g})"


def per_task(sigma: float, estimators: Sequence[str], title: str) -> Panel:
    """Return a panel of the loss in each task, at gamma_eval."""
    series = [
        AuthorsSeries(
            look(name),
            SWEEPS.get(name, SIMILARITY),
            {"sigma": sigma, "estimator": name},
            at_largest_gamma,
            cells=(61,) if sigma == DIGITISED_SIGMA else (),
            curve=CELL_61_CURVES.get(name, ""),
        )
        for name in estimators
    ]
    return Panel(title, series, "task", "se")


def against_gamma(sigma: float, title: str, estimator: str = "ada_pomrl") -> Panel:
    """Return a panel of the loss against gamma; task 1 may have digitised points."""
    settings = {"sigma": sigma, "estimator": estimator}
    series = [
        AuthorsSeries(
            series.look,
            series.sweep,
            series.settings,
            in_task(t),
            cells=(44, 55) if sigma == DIGITISED_SIGMA and t == 1 else (),
            curve=f"{CELL_61_CURVES[estimator]} t={t}",
        )
        for t, series in zip(TASKS, of_tasks(SIMILARITY, settings), strict=True)
    ]
    return Panel(title, series, "gamma", "se")


def points(sweeps: StoredSweeps, grid_panels: Sequence[Panel], kind: Kind | None = None) -> pd.DataFrame:
    """Return our and the notebook's points as a table with `pomrl.figures.COLUMNS`."""
    notebook_tables = [
        digitised.points(
            sweeps, series, panel.x, compare_best_gammas if isinstance(panel, HorizonPanel) else compare_losses
        )
        for panel in grid_panels
        for series in panel.series
        if isinstance(series, AuthorsSeries)
    ]
    # gamma* is a minimum, and no mean over runs
    tests = [digitised.panel_test(sweeps, panel) for panel in grid_panels if not isinstance(panel, HorizonPanel)]
    return pd.concat(
        [points_of_panels(sweeps, grid_panels, kind), *(table for table in (*notebook_tables, *tests) if len(table))],
        ignore_index=True,
    )


def draw_points(ax: Axes, data: pd.DataFrame, series: Series) -> None:
    """Draw digitised points and printed values over our curve."""
    series_rows = data[(data["panel"] == series.panel) & (data["series"] == digitised.label(series))]
    readings = series_rows[series_rows["band"] == digitised.READING]
    printed = series_rows[series_rows["band"] == digitised.PRINTED]
    if len(readings):
        bars = {"yerr": readings["mean"] - readings["lower"], "elinewidth": 0.6, "capsize": 1.2}
        ax.errorbar(readings["x"], readings["mean"], **bars, **_hollow(series.look))
    if len(printed):
        ax.plot(printed["x"], printed["mean"], **_PRINTED)


def _hollow(look: Look) -> dict[str, Any]:
    face = {"markerfacecolor": "white", "markeredgecolor": look.color, "markeredgewidth": 0.9}
    return {**face, "marker": look.marker or "o", "color": look.color, "markersize": 3.5, "linestyle": "", "zorder": 6}


_PRINTED: dict[str, Any] = {"linestyle": "", "marker": "x", "color": "black", "markersize": 4.5, "zorder": 7}


def draw_row(axes: Sequence[Axes], data: pd.DataFrame, row: Sequence[Panel]) -> None:
    """Draw panels side by side, overlaid with the notebook's points."""
    for ax, panel in zip(axes, row, strict=True):
        for series in panel.series:
            draw_points(ax, data, series)
    draw_panels(axes, data, row)


def legend_entries(data: pd.DataFrame) -> list[Line2D]:
    """Return legend entries for the notebook's points and the joint tests."""
    marks = {
        digitised.READING: Line2D([], [], label="Hollow: the notebook's, read off", **_hollow(Look("", "0.3"))),
        digitised.PRINTED: Line2D([], [], label="The notebook's, as printed", **_PRINTED),
    }
    tests = [Line2D([], [], linestyle="", label=text) for text in digitised.describe_tests(data)]
    return [*(mark for band, mark in marks.items() if (data["band"] == band).any()), *tests]


@dataclass(frozen=True)
class AuthorsGrid(PanelGrid):
    """A grid of panels, overlaid with the notebook's points."""

    share_y: bool = False
    variant: str = "computed"

    def points(self, sweeps: StoredSweeps, kind: Kind | None = None) -> pd.DataFrame:
        return points(sweeps, self.panels, kind)

    def draw_row(self, axes: Sequence[Axes], data: pd.DataFrame, row: Sequence[Panel]) -> None:
        draw_row(axes, data, row)

    def further_entries(self, data: pd.DataFrame) -> list[Artist]:
        return [*super().further_entries(data), *legend_entries(data)]
