"""Draw the average regret over a thousand tasks."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import (
    TEXT_WIDTH,
    Figure,
    Kind,
    Look,
    Panel,
    Series,
    StoredSweeps,
    at_largest_gamma,
    figure,
    look,
    panels,
    points_of_panels,
    running_average,
    series_of,
)
from pomrl.study import UniformBall, regret_order

SWEEP = "long_streams"

SIGMAS = (0.0, 0.01, 0.03)
M, T = 5, 1000

ORDER = Look("Order of the bound, scaled", "black", "", "--")
CONSTANT = Look("What of it remains", "black", "", ":")

DRAWN_TASKS = np.unique(np.geomspace(5, T, 30).round())
"""The numbers of tasks T in the figure, from 5 on, because learners hardly learn before."""

VIEW = running_average(at_largest_gamma)


def _panel(letter: str, sigma: float) -> Panel:
    names = ("pomrl", "ada_pomrl")
    series = [Series(look(name), SWEEP, {"sigma": sigma, "estimator": name}, VIEW) for name in names]
    return Panel(f"σ = {sigma:g}", series, "task", "se").with_letter(letter)


PANELS = [_panel(letter, sigma) for letter, sigma in zip("abc", SIGMAS, strict=True)]
SERIES = series_of(PANELS)


def _points(sweeps: StoredSweeps, kind: Kind | None = None) -> pd.DataFrame:
    measured = points_of_panels(sweeps, PANELS, kind)
    measured = measured[measured["x"].isin(DRAWN_TASKS)]
    orders = [_order(measured, panel, sigma) for panel, sigma in zip(PANELS, SIGMAS, strict=True)]
    return pd.concat([measured, *orders], ignore_index=True)


@figure(points=_points, series=SERIES)
def long_streams(data: pd.DataFrame) -> Figure:
    """A thousand tasks.

    The average regret over a thousand tasks, and the order of the bound on it, on logarithmic axes.

    Tasks are uniform in a ball, m = 5, and γ = γ_eval. Dashed lines show the term in the O of Theorem 2 (E7), scaled to
    the regret of POMRL(σ) at the last T. Dotted lines show its constant part; at the marked T the term is twice this
    part.

    Beyond the paper, whose experiments have at most 30 tasks.
    """
    figure, axes = panels.row_of_panels(len(PANELS), TEXT_WIDTH, 2.6, share_y=True)
    for ax, panel, sigma in zip(axes, PANELS, SIGMAS, strict=True):
        _draw_panel(ax, data, panel, sigma)
    axes[0].set_ylabel("Average regret")
    panels.add_shared_legend(figure, axes)
    return figure


def radius(sigma: float) -> float:
    """Return the largest possible distance of a task from the mean."""
    tasks = UniformBall(zeros=5, measure="std")
    return tasks.almost_sure_radius(tasks.draw_mean(2000, 0, 10, 2, sigma))


def flattens_at(sigma: float) -> float:
    """Return the T with equal falling and constant parts of the bound.

    It is infinite at sigma = 0.
    """
    order, constant = (float(regret_order(m=M, radius=radius(sigma), T=number)) for number in (1.0, np.inf))
    return ((order - constant) / constant) ** 2 if sigma else np.inf


def _order(measured: pd.DataFrame, panel: Panel, sigma: float) -> pd.DataFrame:
    points = panel.series[0].of(measured)
    order, constant = (np.asarray(regret_order(m=M, radius=radius(sigma), T=tasks)) for tasks in (DRAWN_TASKS, np.inf))
    scale = points["mean"].iloc[-1] / order[-1] if len(points) else np.nan
    table = pd.DataFrame({"T": DRAWN_TASKS, "order": scale * order, "constant": scale * constant})
    curves = {ORDER: "order", **({CONSTANT: "constant"} if sigma else {})}
    tables = [Series(look, panel=panel.letter).values(table, "T", y, "bound") for look, y in curves.items()]
    return pd.concat(tables, ignore_index=True)


def _draw_panel(ax: Axes, data: pd.DataFrame, panel: Panel, sigma: float) -> None:
    bounds = [Series(look, panel=panel.letter) for look in (ORDER, CONSTANT)]
    panels.curves(ax, data, [*panel.series, *bounds])
    ax.set_xscale("log")
    ax.set_yscale("log")
    if flattens_at(sigma) <= T:
        ax.axvline(flattens_at(sigma), color="0.4", linewidth=0.8)
    ax.set_xlabel("Number of tasks T")
    panels.letter(ax, panel.letter, panel.title)
