"""A figure of one's own: the largest error of the estimated model in each task."""

import pandas as pd

from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Drawing
from pomrl.figures.parts.losses import of_estimators
from pomrl.figures.parts.style import COLUMN_WIDTH, context
from pomrl.results.statistics import band
from pomrl.results.stored_sweeps import StoredSweeps

SWEEPS = ("task_similarity",)

WANTED = of_estimators("task_similarity", {"sigma": 0.01})


def draw(sweeps: StoredSweeps) -> Drawing:
    """Return the figure; the tables of its sweeps have the columns that docs/extending.md lists."""
    bands = [band(series.rows(sweeps), ["task"], "model_error", "se") for series in WANTED]
    points = [series.points(of_series, "task", "se") for series, of_series in zip(WANTED, bands, strict=True)]
    data = pd.concat(points, ignore_index=True)
    with context():
        figure, (ax,) = panels.row_of_panels(1, COLUMN_WIDTH, 2.8)
        panels.curves(ax, data, WANTED)
        panels.task_axis(ax, data)
        ax.set_ylabel("Largest error of the model")
        panels.legend(ax, columns=2)
        return panels.finish(figure, data, WANTED, sweeps)
