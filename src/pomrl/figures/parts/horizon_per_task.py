"""The best discount factor of each task, and the loss that it gives, on two axes."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Series, Tables
from pomrl.figures.parts.style import HORIZON, MINIMUM
from pomrl.statistics import band, best_gamma, best_gamma_deviation


def wanted(panel: str, sweep: str, settings: Mapping[str, float | str]) -> tuple[Series, Series]:
    """The loss at gamma*, and gamma*."""
    return Series(panel, MINIMUM, sweep, settings), Series(panel, HORIZON, sweep, settings)


def points(tables: Tables, series: tuple[Series, Series]) -> list[pd.DataFrame]:
    """Both as `drawing.COLUMNS`: the loss with its deviation over runs, gamma* with its bootstrap deviation."""
    minimum, horizon = series
    rows = minimum.rows(tables)
    if rows.empty:
        return []
    best = best_gamma(rows, ["task"])
    losses = band(rows.merge(best, on=["task", "gamma"]), ["task"], kind="sd")
    gammas = best.merge(best_gamma_deviation(rows, ["task"]), on="task").rename(columns={"gamma": "mean"})
    gammas["lower"] = gammas["mean"] - gammas["deviation"]
    gammas["upper"] = gammas["mean"] + gammas["deviation"]
    gammas["n"] = losses["n"]
    return [minimum.points(losses, "task", "sd"), horizon.points(gammas, "task", "bootstrap sd")]


def draw(ax: Axes, data: pd.DataFrame, series: tuple[Series, Series]) -> Axes:
    """Into one panel, the loss on ax and gamma* on the axes that are returned, at its right."""
    minimum, horizon = series
    panels.curves(ax, data, [minimum])
    panels.task_axis(ax, data)
    panels.loss_axis(ax)
    ax.set_ylabel(f"{panels.LOSS} at γ*", color=minimum.look.color)

    right = panels.right_axis(ax)
    _bars(right, horizon.of(data), horizon)
    # Room for a marker near 1, not for the end of its bar: no discount factor is beyond 1.
    right.set_ylim(0.0, 1.05)
    right.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    right.set_ylabel("Best discount factor γ*", color=horizon.look.color)
    return right


def _bars(ax: Axes, points: pd.DataFrame, series: Series) -> None:
    look = series.look
    ax.errorbar(
        points["x"],
        points["mean"],
        yerr=points["upper"] - points["mean"],
        capsize=1.5,
        elinewidth=0.7,
        color=look.color,
        marker=look.marker,
        markersize=look.size,
        linestyle=look.linestyle,
        label=look.label,
    )
