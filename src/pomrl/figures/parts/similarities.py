"""Loss per task at three similarities of tasks, side by side, with draws of tasks on the simplex."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures.parts import loss_per_task, panels, simplex
from pomrl.figures.parts.drawing import Drawing, Series, Tables, collect
from pomrl.figures.parts.notes import annotate
from pomrl.figures.parts.style import TEXT_WIDTH, Look, context

SIGMAS = (0.01, 0.025, 0.047)
NAMES = ("Strong structure", "Medium structure", "Loosely structured")

DRAWS = 150
TASK_MODELS = Look("Task models, three states", "#4477AA", ".", "", size=1.5)

Columns = Mapping[str, Sequence[Series]]
"""The series of each panel, one panel for each similarity."""


def wanted(
    letters: str, sweep: str, settings: Mapping[str, float | str], estimators: Sequence[str]
) -> dict[str, list[Series]]:
    """A series per estimator in each panel."""
    return {
        panel: loss_per_task.wanted(panel, sweep, {**settings, "sigma": sigma}, estimators)
        for panel, sigma in zip(letters, SIGMAS, strict=True)
    }


def points(tables: Tables, columns: Columns) -> pd.DataFrame:
    """The losses, and task models of three states whose entries have the variance sigma, as `drawing.COLUMNS`.

    ValueError where the tables hold nothing of it.
    """
    every = [series for column in columns.values() for series in column]
    losses = collect((loss_per_task.points(tables, series) for series in every), every)
    draws = [
        simplex.points(Series(panel, TASK_MODELS), simplex.dirichlet(simplex.concentration(sigma), DRAWS))
        for panel, sigma in zip(columns, SIGMAS, strict=True)
    ]
    return pd.concat([losses, *draws], ignore_index=True)


def draw(axes: Sequence[Axes], data: pd.DataFrame, columns: Columns) -> None:
    """Into a row of panels that share their y axis."""
    for ax, (panel, series), sigma, name in zip(axes, columns.items(), SIGMAS, NAMES, strict=True):
        loss_per_task.draw(ax, data, series)
        panels.letter(ax, panel, f"{name}, σ = {sigma:g}")
        ax.label_outer()
    for panel, inset in zip(columns, panels.insets(axes, room=0.3), strict=True):
        simplex.draw(inset, data, [Series(panel, TASK_MODELS)], names=False)


def figure(tables: Tables, columns: Columns, runs: int) -> Drawing:
    """A figure of nothing else. ValueError where the tables hold nothing of it."""
    data = points(tables, columns)
    with context():
        drawn, axes = panels.row_of_panels(len(columns), TEXT_WIDTH, 2.8, share_y=True)
        draw(axes, data, columns)
        panels.shared_legend(drawn, axes, columns=5)
        annotate(drawn, data, [series for column in columns.values() for series in column], runs)
        panels.finish(drawn)
    return Drawing(drawn, data)
