"""Draw Figure 1, the idea of the paper, from simulated tasks."""

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from pomrl.figures import TEXT_WIDTH, Figure, Look, Series, StoredSweeps, band, figure, look, palette, panels
from pomrl_studies.pomrl2023 import simplex
from pomrl_studies.pomrl2023.theory.related_tasks import DIRICHLET
from pomrl_studies.pomrl2023.theory.simulations import RELATED_TASKS

PANEL_TASK = 6
"""The task of run 0 in panel (b)."""

TASKS = Series(Look("Task models P₁ ... P₁₅", palette.STEEL_BLUE, "o", "", size=3.5), panel="a")
MEAN_MODEL = Series(Look("Their mean Pₒ", "black", "*", "", size=8.0), panel="a")
TASK = Series(Look(f"Task Pₜ, t = {PANEL_TASK}", palette.STEEL_BLUE, "o", "", size=5.0), panel="b")
BATCH = Series(Look(f"Its batch of m = {DIRICHLET.m}", look("without_meta").color, "D", "", size=4.5), panel="b")
PRIOR = Series(Look("Prior: the batches' mean", "black", "*", "", size=4.5), panel="b")
ESTIMATE = Series(Look("Estimate P̂ₜ", look("pomrl").color, "^", "", size=9.0), panel="b")
ERROR = Series(Look("Error of P̂ₜ", look("pomrl").color, "^"), panel="c")
BATCH_ERROR = Series(Look("Error of the batch", look("without_meta").color, "D"), panel="c")
HORIZON = Series(Look("Horizon 1 / (1 - γₜ)", palette.DARK_GREY, "s", ":"), panel="d")


def _points(sweeps: StoredSweeps) -> pd.DataFrame:
    tasks = sweeps[RELATED_TASKS.name]
    first_run = tasks.loc[tasks["run"] == 0]
    last_task = first_run.loc[first_run["task"] == PANEL_TASK]
    return pd.concat(
        [
            simplex.points(TASKS, _rows(first_run, "P")),
            simplex.points(MEAN_MODEL, np.array([DIRICHLET.P_o])),
            simplex.points(TASK, _rows(last_task, "P")),
            simplex.points(BATCH, _rows(last_task, "P_bar")),
            simplex.points(PRIOR, _rows(last_task, "prior")),
            simplex.points(ESTIMATE, _rows(last_task, "P_hat")),
            _per_task(ERROR, tasks, _error(tasks, "P_hat")),
            _per_task(BATCH_ERROR, tasks, _error(tasks, "P_bar")),
            _per_task(HORIZON, tasks, 1.0 / (1.0 - tasks["gamma"].to_numpy())),
        ],
        ignore_index=True,
    )


def _rows(tasks: pd.DataFrame, name: str) -> Float[np.ndarray, "N 3"]:
    return tasks[[f"{name}_{s}" for s in (1, 2, 3)]].to_numpy()


def _error(tasks: pd.DataFrame, name: str) -> Float[np.ndarray, " N"]:
    return np.abs(_rows(tasks, name) - _rows(tasks, "P")).max(-1)


def _per_task(series: Series, tasks: pd.DataFrame, values: Float[np.ndarray, " N"]) -> pd.DataFrame:
    return series.points(band(tasks.assign(value=values), ["task"], "value", "se"), "task", "se")


@figure(points=_points, simulations=[RELATED_TASKS])
def overview(data: pd.DataFrame) -> Figure:
    """Figure 1, redrawn with real draws: With more tasks, errors fall and horizons grow.

    Related tasks, the estimate of one task, and the gains over tasks.

    The paper: "[...] as knowledge accumulates, uncertainty diminishes, and the agent can plan with longer horizons."

    The figure shows one row of a transition model of three states, in 200 runs of 15 Dirichlet tasks. The schedule of
    the upper bound sets gamma.
    """
    figure = panels.blank(TEXT_WIDTH, 3.6)
    axes = figure.subplot_mosaic([["a", "b", "c"], ["a", "b", "d"]])
    a, b, c, d = axes.values()
    simplex.draw(a, data, [TASKS, MEAN_MODEL])
    simplex.draw(b, data, [TASK, BATCH, ESTIMATE, PRIOR])  # the prior is close to the estimate, and above it
    _connect(b, data)
    _draw_gains(c, data, [ERROR, BATCH_ERROR], "Model error")
    _draw_gains(d, data, [HORIZON], HORIZON.look.label)
    panels.letter(a, "a", "Related tasks, one by one")
    panels.letter(b, "b", "Batch and prior, mixed")
    panels.letter(c, "c", "Errors fall")
    panels.letter(d, "d", "Horizons grow")
    panels.add_shared_legend(figure, [a, b, c, d])
    panels.fix_layout(figure)
    for first, second in ((a, b), (b, c)):
        _arrow(figure, first, second)
    return figure


def _connect(ax: Axes, data: pd.DataFrame) -> None:
    ends = pd.concat([BATCH.of(data), PRIOR.of(data)])
    ax.plot(ends["x"], ends["mean"], color="0.4", linewidth=0.7, linestyle="--", label="_mixed", zorder=1)


def _draw_gains(ax: Axes, data: pd.DataFrame, series: list[Series], label: str) -> None:
    panels.curves(ax, data, series)
    panels.task_axis(ax, series[0].of(data))
    panels.loss_axis(ax, label)


def _arrow(figure: Figure, source: Axes, target: Axes) -> None:
    to_figure = figure.transFigure.inverted()
    start, end = (to_figure.transform_bbox(ax.get_tightbbox() or ax.bbox) for ax in (source, target))
    y = 0.5 * (source.get_position().y0 + source.get_position().y1)
    style = {"arrowstyle": "-|>", "color": "0.3", "linewidth": 1.2, "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0}
    figure.add_artist(FancyArrowPatch((start.x1 - 0.04, y), (end.x0 - 0.012, y), **style))
