"""Loss per task at gamma_eval, with bands over runs."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import panels
from pomrl.figures.drawing import Series
from pomrl.figures.style import ESTIMATORS
from pomrl.statistics import Kind, band


def wanted(panel: str, sigma: float, estimators: Sequence[str]) -> list[Series]:
    """A series per estimator, at one sigma."""
    return [Series(panel, {"sigma": sigma, "estimator": name}, ESTIMATORS[name]) for name in estimators]


def points(tables: pd.DataFrame, series: Series, kind: Kind = "sd") -> pd.DataFrame:
    """Mean and band over runs of the loss (at gamma_eval, the largest gamma) in each task, as `drawing.COLUMNS`."""
    rows = series.rows(tables.loc[tables["gamma"] == tables["gamma"].max()])
    return series.points(band(rows, ["task"], kind=kind), "task", kind)


def draw(ax: Axes, data: pd.DataFrame, series: Sequence[Series]) -> None:
    """Into one panel."""
    panels.curves(ax, data, series)
    panels.task_axis(ax, data)
    panels.loss_axis(ax)
