"""The figures of the study of the game of patience."""

import pandas as pd

from pomrl.figures import (
    COLUMN_WIDTH,
    Drawing,
    Kind,
    Panel,
    PanelGrid,
    StoredSweeps,
    band,
    figure,
    of_estimators,
    panels,
)

OF_PAPER = of_estimators("pomrl2023/task_similarity", {"sigma": 0.01})


@figure()
def losses() -> PanelGrid:
    """The loss against one opponent after the other.

    When planning with gamma_eval.
    """
    return PanelGrid([[Panel("", of_estimators("patience", {}), "task", "ci")]])


@figure(series=OF_PAPER)
def model_error(sweeps: StoredSweeps, kind: Kind = "se") -> Drawing:
    """The largest error of the estimated model in each task.

    In the random chains of the paper, at sigma = 0.01: a sweep of another study.
    """
    bands = [band(series.rows(sweeps), ["task"], "model_error", kind) for series in OF_PAPER]
    points = [series.points(of_series, "task", kind) for series, of_series in zip(OF_PAPER, bands, strict=True)]
    data = pd.concat(points, ignore_index=True)
    drawn, (ax,) = panels.row_of_panels(1, COLUMN_WIDTH, 2.8)
    panels.curves(ax, data, OF_PAPER)
    panels.task_axis(ax, data)
    ax.set_ylabel("Largest error of the model")
    panels.add_shared_legend(drawn, [ax])
    return panels.finish(drawn, data, OF_PAPER, sweeps)
