"""Loss per task, with bands over runs."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Series, Tables
from pomrl.figures.parts.style import ESTIMATORS
from pomrl.figures.parts.views import at_largest_gamma
from pomrl.statistics import Kind, band


def wanted(panel: str, sweep: str, settings: Mapping[str, float | str], estimators: Sequence[str]) -> list[Series]:
    """A series per estimator, at gamma_eval."""
    return [
        Series(panel, ESTIMATORS[name], sweep, {**settings, "estimator": name}, at_largest_gamma) for name in estimators
    ]


def points(tables: Tables, series: Series, kind: Kind = "sd") -> pd.DataFrame:
    """Mean and band over runs of the loss in each task, as `drawing.COLUMNS`."""
    return series.points(band(series.rows(tables), ["task"], kind=kind), "task", kind)


def draw(ax: Axes, data: pd.DataFrame, series: Sequence[Series]) -> None:
    """Into one panel."""
    panels.curves(ax, data, series)
    panels.task_axis(ax, data)
    panels.loss_axis(ax)
