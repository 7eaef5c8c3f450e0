"""A figure of one's own: the largest error of the estimated model in each task."""

import pandas as pd

from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Drawing, Tables
from pomrl.figures.parts.loss_per_task import wanted
from pomrl.figures.parts.notes import annotate
from pomrl.figures.parts.style import COLUMN_WIDTH, context
from pomrl.statistics import band

SWEEPS = ("task_similarity",)
RUNS = 100

WANTED = wanted("", "task_similarity", {"sigma": 0.01}, ["oracle", "without_meta", "pomrl", "ada_pomrl"])


def draw(tables: Tables) -> Drawing:
    """The figure from the tables of its sweeps, which have the columns that docs/extending.md lists."""
    bands = [band(series.rows(tables), ["task"], "model_error", "se") for series in WANTED]
    points = [series.points(of_series, "task", "se") for series, of_series in zip(WANTED, bands, strict=True)]
    data = pd.concat(points, ignore_index=True)
    with context():
        figure, (ax,) = panels.row_of_panels(1, COLUMN_WIDTH, 2.8)
        panels.curves(ax, data, WANTED)
        panels.task_axis(ax, data)
        ax.set_ylabel("Largest error of the model")
        panels.legend(ax, columns=2)
        annotate(figure, data, WANTED, RUNS)
        panels.finish(figure)
    return Drawing(figure, data)
