"""The measured average regret of POMRL(sigma) beside the bounds on it.

Panels (a) to (c) show the regret against the number of tasks T, for three values of sigma, at gamma = 0.9 and with m =
100,000 samples in each task. Panels (d) to (f) show it against gamma for pairs of m and T, at the smallest sigma above
0. Tasks are uniform in a ball, because the theory assumes that they are bounded, and sigma is a standard deviation.
Bands show one standard error. Where only one bound can be seen, the corrected and the sharpened one coincide.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pomrl.experiment import Problem
from pomrl.figures.parts import losses, panels
from pomrl.figures.parts.drawing import Drawing, Series
from pomrl.figures.parts.style import BOUNDS, ESTIMATORS, TEXT_WIDTH, context
from pomrl.figures.parts.views import at_gamma, average_of_first, running_average
from pomrl.results.statistics import Kind
from pomrl.results.stored_sweeps import StoredSweeps
from pomrl.task_distributions import UniformBall
from pomrl.theory.bound_tables import regret_bounds

SWEEPS = ("theory",)

GAMMA = 0.9
GAMMAS = [*(np.arange(20) / 20).tolist(), 0.99]
AGAINST_T = {"a": (0.0, 100_000, 30), "b": (0.01, 100_000, 30), "c": (0.03, 100_000, 30)}
AGAINST_GAMMA = {"d": (0.01, 5, 5), "e": (0.01, 20, 5), "f": (0.01, 5, 30)}
"""The sigma, m and T of each panel."""


def problem(sigma: float, m: int, T: int) -> Problem:
    """Return the problem that a panel shows, which is one of the sweep `theory`."""
    return Problem(
        S=10, A=2, m=m, T=T, sigma=sigma, gamma_eval=0.99, seed=0, task_distribution=UniformBall(zeros=5, measure="std")
    )


def _panel(letter: str, sigma: float, m: int, T: int) -> losses.Panel:
    view = running_average(at_gamma(GAMMA)) if letter in AGAINST_T else average_of_first(T)
    series = Series(ESTIMATORS["pomrl"], "theory", {"sigma": sigma, "batches": f"m{m}_T{T}"}, view)
    title = f"σ = {sigma:g}, m = {m:,}"
    if letter in AGAINST_T:
        return losses.Panel(title, [series], "task", "se").lettered(letter)
    return losses.Panel(f"{title}, T = {T}", [series], "gamma", "se").lettered(letter)


PANELS = [_panel(letter, *of) for letter, of in (AGAINST_T | AGAINST_GAMMA).items()]
SERIES = losses.series_of(PANELS)


def draw(sweeps: StoredSweeps, kind: Kind | None = None) -> Drawing:
    """Return the figure, by default with the bands of the caption; ValueError if its sweeps hold none of its series."""
    bounds = [points for letter in (*AGAINST_T, *AGAINST_GAMMA) for points in _bound_points(letter)]
    data = pd.concat([losses.points(sweeps, PANELS, kind), *bounds], ignore_index=True)
    with context():
        figure = panels.blank(TEXT_WIDTH, 4.8)
        rows = panels.grid_of_panels(figure, 2, 3, share_y=True)
        axes = [ax for row in rows for ax in row]
        for ax, panel in zip(axes, PANELS, strict=True):
            _draw_panel(ax, data, panel)
        for row, letters in zip(rows, (AGAINST_T, AGAINST_GAMMA), strict=True):
            _fit(row[0], data.loc[data["panel"].isin(letters.keys()), "mean"])
        panels.shared_legend(figure, axes, columns=5)
        return panels.finish(figure, data, SERIES, sweeps)


def _fit(ax: Axes, values: pd.Series) -> None:
    """Let the logarithmic vertical axis of a row of panels have room for these values, and little more."""
    positive = values[values > 0.0]
    ax.set_ylim(0.3 * positive.min(), 2.0 * positive.max())


def _bounds(letter: str) -> list[Series]:
    shown = {"gamma": GAMMA} if letter in AGAINST_T else {"T": AGAINST_GAMMA[letter][2]}
    return [Series(look, settings={"variant": name, **shown}, panel=letter) for name, look in BOUNDS.items()]


def _bound_points(letter: str) -> list[pd.DataFrame]:
    table = regret_bounds(problem(*(AGAINST_T | AGAINST_GAMMA)[letter]), GAMMAS)
    x = "T" if letter in AGAINST_T else "gamma"
    return [series.values(table, x, "bound", "bound") for series in _bounds(letter)]


def _draw_panel(ax: Axes, data: pd.DataFrame, panel: losses.Panel) -> None:
    bounds = _bounds(panel.letter)
    panels.curves(ax, data, [*panel.series, *bounds])
    ax.axhline(100.0, color="0.4", linewidth=0.8, linestyle="--", label="no loss exceeds this")
    if panel.x == "task":
        panels.task_axis(ax, bounds[0].of(data))
        ax.set_xlabel("Number of tasks T")
    else:
        panels.gamma_axis(ax)
    ax.set_yscale("log")
    panels.letter(ax, panel.letter, panel.title)
    ax.set_ylabel("Average regret" if panel.letter in "ad" else "")
