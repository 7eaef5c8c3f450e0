"""Draw the figures of the study of the game of patience."""

import pandas as pd

from pomrl.figures import (
    COLUMN_WIDTH,
    Figure,
    Kind,
    Panel,
    PanelGrid,
    StoredSweeps,
    band,
    figure,
    of_estimators,
    panels,
)

GRID = PanelGrid([[Panel("", of_estimators("patience", {}), "task", "ci")]])


@figure(panels=GRID)
def losses(data: pd.DataFrame) -> Figure:
    """The loss against one opponent after the other.

    When planning with gamma_eval.
    """
    return GRID.draw(data)


PAPER_SERIES = of_estimators("pomrl2023/task_similarity", {"sigma": 0.01})


def _model_errors(sweeps: StoredSweeps, kind: Kind = "se") -> pd.DataFrame:
    bands = [band(series.rows(sweeps), ["task"], "model_error", kind) for series in PAPER_SERIES]
    points = [series.points(table, "task", kind) for series, table in zip(PAPER_SERIES, bands, strict=True)]
    return pd.concat(points, ignore_index=True)


@figure(points=_model_errors, series=PAPER_SERIES)
def model_error(data: pd.DataFrame) -> Figure:
    """The largest error of the estimated model in each task.

    In the random chains of the paper, at sigma = 0.01: a sweep of another study.
    """
    picture, (ax,) = panels.row_of_panels(1, COLUMN_WIDTH, 2.8)
    panels.curves(ax, data, PAPER_SERIES)
    panels.task_axis(ax, data)
    ax.set_ylabel("Largest error of the model")
    panels.add_shared_legend(picture, [ax])
    return picture
