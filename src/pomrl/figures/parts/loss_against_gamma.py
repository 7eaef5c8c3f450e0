"""Loss against the discount factor used for planning, its minimum marked: a curve per task, or per number of tasks."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Series, Tables
from pomrl.figures.parts.style import sequence
from pomrl.figures.parts.views import average_of_first, in_task
from pomrl.statistics import Kind, band, best_gamma

TASKS = (1, 2, 3, 5, 10, 15)
"""Those whose curves are drawn where T = 15."""


def wanted(panel: str, sweep: str, settings: Mapping[str, float | str], tasks: Sequence[int] = TASKS) -> list[Series]:
    """A series per task t: the loss in it."""
    looks = sequence([f"t = {t}" for t in tasks])
    return [Series(panel, look, sweep, settings, in_task(t)) for t, look in zip(tasks, looks, strict=True)]


def wanted_averages(
    panel: str, sweep: str, settings: Mapping[str, float | str], tasks: Sequence[int] = TASKS
) -> list[Series]:
    """A series per task t: the average loss of the tasks up to it (A10)."""
    looks = sequence([f"1 to {t}" if t > 1 else "task 1" for t in tasks])
    return [Series(panel, look, sweep, settings, average_of_first(t)) for t, look in zip(tasks, looks, strict=True)]


def points(tables: Tables, series: Series, kind: Kind = "se") -> pd.DataFrame:
    """Mean and band over runs of the loss at each gamma, marked where the mean is smallest, as `drawing.COLUMNS`."""
    rows = series.rows(tables)
    best = best_gamma(rows.assign(curve=0), ["curve"])["gamma"]
    return series.points(band(rows, ["gamma"], kind=kind), "gamma", kind, marked=list(best))


def draw(ax: Axes, data: pd.DataFrame, series: Sequence[Series]) -> None:
    """Into one panel."""
    panels.curves(ax, data, series)
    panels.gamma_axis(ax)
    panels.loss_axis(ax)
