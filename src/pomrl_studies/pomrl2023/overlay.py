"""Panels of our curves with the points of the notebook's figures drawn over them."""

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
from pomrl_studies.pomrl2023 import agreement
from pomrl_studies.pomrl2023.agreement import AuthorsSeries, of_best_gammas, of_losses
from pomrl_studies.pomrl2023.horizons import HorizonPanel

SIMILARITY = "computed_similarity"

SIGMAS = {1.5: 0.01, 0.75: 0.025, 0.375: 0.047}
"""The similarity sigma in the paper by the notebook's factor c of the Dirichlet parameters c S (P_o + 0.015)."""

DIGITISED = 0.375
"""The factor c of cells 44, 45, 55 and 61, whose figures were read off."""

IN_CELL_61 = {"oracle": "oracle", "without_meta": "without", "pomrl": "POMRL", "ada_pomrl": "ada-POMRL"}
"""The names of the estimators' curves in the figure of cell 61."""


def title(c: float) -> str:
    """Return the title of a panel: the factor c, and the similarity that the paper calls it."""
    return f"c = {c:g} (σ = {SIGMAS[c]:g})"


def per_task(c: float, estimators: Sequence[str], title: str) -> Panel:
    """Return the panel of the losses of estimators in each task when planning with gamma_eval."""
    settings = {"task_distribution.concentration_over_S": c}
    series = [
        AuthorsSeries(
            look(name),
            SIMILARITY,
            {**settings, "estimator": name},
            at_largest_gamma,
            cells=(61,) if c == DIGITISED else (),
            curve=IN_CELL_61.get(name, ""),
        )
        for name in estimators
    ]
    return Panel(title, series, "task", "se")


def against_gamma(c: float, title: str, estimator: str = "ada_pomrl") -> Panel:
    """Return the panel of the loss against gamma in some tasks; of ada-POMRL that of task 1 was read off."""
    settings = {"task_distribution.concentration_over_S": c, "estimator": estimator}
    series = [
        AuthorsSeries(
            one.look,
            one.sweep,
            one.settings,
            in_task(t),
            cells=(44, 55) if c == DIGITISED and t == 1 else (),
            curve=f"{IN_CELL_61[estimator]} t={t}",
        )
        for t, one in zip(TASKS, of_tasks(SIMILARITY, settings), strict=True)
    ]
    return Panel(title, series, "gamma", "se")


def points(sweeps: StoredSweeps, shown: Sequence[Panel], kind: Kind | None = None) -> pd.DataFrame:
    """Return the points of several panels and of the notebook, with the columns `pomrl.figures.COLUMNS`.

    Raises:
        ValueError: If the sweeps hold none of the series.
    """
    theirs = [
        agreement.points(sweeps, one, panel.x, of_best_gammas if isinstance(panel, HorizonPanel) else of_losses)
        for panel in shown
        for one in panel.series
        if isinstance(one, AuthorsSeries)
    ]
    return pd.concat(
        [points_of_panels(sweeps, shown, kind), *(table for table in theirs if len(table))], ignore_index=True
    )


def draw_points(ax: Axes, data: pd.DataFrame, series: Series) -> None:
    """Draw the points of the notebook over our curve of a series: what was read off, and what is printed instead."""
    of_series = data[(data["panel"] == series.panel) & (data["series"] == agreement.label(series))]
    read = of_series[of_series["band"] == agreement.READING]
    printed = of_series[of_series["band"] == agreement.PRINTED]
    if len(read):
        bars = {"yerr": read["mean"] - read["lower"], "elinewidth": 0.6, "capsize": 1.2}
        ax.errorbar(read["x"], read["mean"], **bars, **_hollow(series.look))
    if len(printed):
        ax.plot(printed["x"], printed["mean"], **_PRINTED)


def _hollow(look: Look) -> dict[str, Any]:
    """Return the marks of readings: the markers of our curve in its colour, not filled."""
    face = {"markerfacecolor": "white", "markeredgecolor": look.color, "markeredgewidth": 0.9}
    return {**face, "marker": look.marker or "o", "color": look.color, "markersize": 3.5, "linestyle": "", "zorder": 6}


_PRINTED: dict[str, Any] = {"linestyle": "", "marker": "x", "color": "black", "markersize": 4.5, "zorder": 7}


def draw_row(axes: Sequence[Axes], data: pd.DataFrame, row: Sequence[Panel]) -> None:
    """Draw panels side by side, with the points of the notebook over their curves."""
    for ax, panel in zip(axes, row, strict=True):
        for series in panel.series:
            draw_points(ax, data, series)
    draw_panels(axes, data, row)


def legend_entries(data: pd.DataFrame) -> list[Line2D]:
    """Return what a legend says of the points of the notebook in a drawing's table, and of how far they are from us."""
    marks = {
        agreement.READING: Line2D([], [], label="Hollow: the notebook's, read off", **_hollow(Look("", "0.3"))),
        agreement.PRINTED: Line2D([], [], label="The notebook's, as printed", **_PRINTED),
        agreement.Z: Line2D([], [], linestyle="", label=agreement.in_words(data)),
    }
    return [mark for band, mark in marks.items() if (data["band"] == band).any()]


@dataclass(frozen=True)
class AuthorsGrid(PanelGrid):
    """A figure of rows of panels over one legend, with the points of the notebook drawn over its curves."""

    share_y: bool = False

    def points(self, sweeps: StoredSweeps, kind: Kind | None = None) -> pd.DataFrame:
        return points(sweeps, self.panels, kind)

    def draw_row(self, axes: Sequence[Axes], data: pd.DataFrame, row: Sequence[Panel]) -> None:
        draw_row(axes, data, row)

    def further_entries(self, data: pd.DataFrame) -> list[Artist]:
        return [*super().further_entries(data), *legend_entries(data)]
