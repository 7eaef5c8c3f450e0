"""The average regret of POMRL(sigma), measured, beside the bounds on it: (a) to (c) against the number of tasks at
gamma = 0.9 with m = 100,000 samples, a panel for each sigma; (d) to (f) against gamma for pairs of m and T, at the
smallest sigma above 0. Tasks are uniform in a ball, as the theory assumes them to be bounded; sigma is a standard
deviation. Bands of one standard error.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pomrl.bound_tables import regret_bounds
from pomrl.experiment import Problem
from pomrl.figures.parts import loss_against_gamma, loss_per_task, panels
from pomrl.figures.parts.drawing import Drawing, Series, Tables, collect
from pomrl.figures.parts.notes import annotate
from pomrl.figures.parts.style import BOUNDS, ESTIMATORS, TEXT_WIDTH, context
from pomrl.figures.parts.views import at_gamma, average_of_first, running_average
from pomrl.task_distributions import UniformBall

SWEEPS = ("theory",)
RUNS = 100

GAMMA = 0.9
GAMMAS = [*(np.arange(20) / 20).tolist(), 0.99]
AGAINST_T = {"a": (0.0, 100_000, 30), "b": (0.01, 100_000, 30), "c": (0.03, 100_000, 30)}
AGAINST_GAMMA = {"d": (0.01, 5, 5), "e": (0.01, 20, 5), "f": (0.01, 5, 30)}
"""sigma, m and T of each panel."""


def problem(sigma: float, m: int, T: int) -> Problem:
    """The problem of the sweep that a panel shows."""
    return Problem(
        S=10, A=2, m=m, T=T, sigma=sigma, gamma_eval=0.99, seed=0, task_distribution=UniformBall(zeros=5, measure="std")
    )


def _measured(panel: str) -> Series:
    sigma, m, T = {**AGAINST_T, **AGAINST_GAMMA}[panel]
    settings = {"sigma": sigma, "batches": f"m{m}_T{T}"}
    view = running_average(at_gamma(GAMMA)) if panel in AGAINST_T else average_of_first(T)
    return Series(panel, ESTIMATORS["pomrl"], "theory", settings, view)


MEASURED = {panel: _measured(panel) for panel in (*AGAINST_T, *AGAINST_GAMMA)}


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    kinds = [(MEASURED[panel], loss_per_task) for panel in AGAINST_T]
    kinds += [(MEASURED[panel], loss_against_gamma) for panel in AGAINST_GAMMA]
    wanted = list(MEASURED.values())
    measured = collect((kind.points(tables, series, "se") for series, kind in kinds), wanted)
    bounds = [_bounds(panel, *of) for panel, of in {**AGAINST_T, **AGAINST_GAMMA}.items()]
    data = pd.concat([measured, *bounds], ignore_index=True)
    with context():
        figure = panels.blank(TEXT_WIDTH, 4.8)
        axes = [ax for row in panels.grid_of_panels(figure, 2, 3, share_y=True) for ax in row]
        for ax, (panel, of) in zip(axes, {**AGAINST_T, **AGAINST_GAMMA}.items(), strict=True):
            _draw_panel(ax, data, panel, *of)
        panels.shared_legend(figure, axes, columns=5)
        annotate(figure, data, wanted, RUNS)
        panels.finish(figure)
    return Drawing(figure, data)


def _bounds(panel: str, sigma: float, m: int, T: int) -> pd.DataFrame:
    found = regret_bounds(problem(sigma, m, T), GAMMAS)
    kept = found.loc[np.isclose(found["gamma"], GAMMA) if panel in AGAINST_T else found["T"] == T]
    x = "T" if panel in AGAINST_T else "gamma"
    parts = []
    for variant, look in BOUNDS.items():
        rows = kept.loc[kept["variant"] == variant]
        parts.append(Series(panel, look).values(rows, x, "bound", "bound"))
    return pd.concat(parts, ignore_index=True)


def _draw_panel(ax: Axes, data: pd.DataFrame, panel: str, sigma: float, m: int, T: int) -> None:
    bounds = [Series(panel, look) for look in BOUNDS.values()]
    panels.curves(ax, data, [MEASURED[panel], *bounds])
    ax.axhline(100.0, color="0.4", linewidth=0.8, linestyle="--", label="no loss exceeds this")
    if panel in AGAINST_T:
        panels.task_axis(ax, bounds[0].of(data))
        ax.set_xlabel("Number of tasks T")
    else:
        panels.gamma_axis(ax)
    ax.set_yscale("log")
    ax.set_ylim(3e-3, 3e6)
    panels.letter(ax, panel, f"σ = {sigma:g}, m = {m:,}" + (f", T = {T}" if panel in AGAINST_GAMMA else ""))
    ax.set_ylabel("Average regret" if panel in "ad" else "")
