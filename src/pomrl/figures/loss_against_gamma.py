"""Loss against the discount factor used for planning, one curve per task, its minimum marked."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import panels
from pomrl.figures.drawing import Series
from pomrl.figures.style import sequence
from pomrl.statistics import Kind, band, best_gamma


def wanted(panel: str, sigma: float, estimator: str, tasks: Sequence[int]) -> list[Series]:
    """A series per task, of one estimator at one sigma."""
    looks = sequence([f"t = {task}" for task in tasks])
    return [
        Series(panel, {"sigma": sigma, "estimator": estimator, "task": task}, look)
        for task, look in zip(tasks, looks, strict=True)
    ]


def points(tables: pd.DataFrame, series: Series, kind: Kind = "se") -> pd.DataFrame:
    """Mean and band over runs of the loss at each gamma, marked where the mean is smallest, as `drawing.COLUMNS`."""
    rows = series.rows(tables)
    best = best_gamma(rows, list(series.settings))["gamma"]
    return series.points(band(rows, ["gamma"], kind=kind), "gamma", kind, marked=list(best))


def draw(ax: Axes, data: pd.DataFrame, series: Sequence[Series]) -> None:
    """Into one panel."""
    panels.curves(ax, data, series)
    panels.gamma_axis(ax)
    panels.loss_axis(ax)
