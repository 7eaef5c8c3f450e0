"""Draw the excess and its mean size against the number of earlier tasks."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import (
    TEXT_WIDTH,
    Figure,
    Look,
    Series,
    StoredSweeps,
    at_largest_gamma,
    band,
    collect,
    figure,
    palette,
    panels,
)
from pomrl_studies.prior_cost.excess import PAIRED_SWEEPS, PAIRS, Place, blocks, inverses

COVERED = {
    "S = 5": Look("S = 5", palette.INDIGO, "o"),
    "S = 10": Look("S = 10", palette.FOREST, "s"),
    "S = 20": Look("S = 20", palette.TEAL, "D"),
    "m = 2": Look("m = 2", palette.ROSE, "v"),
    "m = 20": Look("m = 20", palette.WINE, "^"),
    "σ = 0.047": Look("σ = 0.047", palette.SAND, "P"),
    "tied rows, not told": Look("tied rows, not told", palette.PURPLE, "X"),
    "tied rows, told": Look("tied rows, told", palette.CYAN, "*"),
}
"""The looks of settings that the theorem covers."""

CONTROLS = {
    "Gaussian, told E P_t": Look("Gaussian, told E Pₜ", palette.OLIVE, "h"),
    "rewards of states": Look("rewards of states", palette.DEEP_BLUE, "<"),
    "tied actions": Look("tied actions", palette.VERMILION, ">"),
    "one instance": Look("one instance", "black", "o"),
    "one instance, equal tasks": Look("one instance, equal tasks", palette.GREY, "s"),
}

PANELS = {
    "a": ("Mean excess", COVERED, -1.0),
    "b": ("Mean size of the excess", COVERED, -0.5),
    "c": ("Mean excess, controls", CONTROLS, -1.0),
}
"""The title, the looks of settings, and the slope of the guide line of each panel."""

SERIES = [
    Series(look, PAIRS[setting][0][0], panel=panel)
    for panel, (_, looks, _) in PANELS.items()
    for setting, look in looks.items()
]


def _points(sweeps: StoredSweeps) -> pd.DataFrame:
    return collect(_points_of_panels(sweeps), SERIES)


@figure(*PAIRED_SWEEPS, points=_points, series=SERIES)
def excess_by_task(data: pd.DataFrame) -> Figure:
    """With 5, 10 and 20 states, the cost of learning the prior falls as 1/(t - 1).

    The loss of POMRL with a prior from earlier tasks, less that of the learner told P_o, in pairs of runs.

    Points are means over blocks of tasks of doubling length, at the harmonic mean of t - 1. (a) is the mean excess in
    settings of the theorem, (b) the mean of its size in single tasks, and (c) the mean excess in controls. Dashed lines
    have the slope -1, and the dotted line -1/2. Negative means are left out. Of many curves, only the first, the
    middle and the last have a band.
    """
    canvas, axes = panels.row_of_panels(len(PANELS), TEXT_WIDTH, 2.8)
    for ax, panel in zip(axes, PANELS, strict=True):
        _draw_panel(ax, data[data["panel"] == panel], panel)
    axes[0].set_ylabel("Loss")
    panels.add_shared_legend(canvas, axes)
    return canvas


def _points_of_panels(sweeps: StoredSweeps) -> Iterator[pd.DataFrame]:
    for panel, (_, looks, slope) in PANELS.items():
        points = pd.concat([_excess_points(sweeps, setting, look, panel) for setting, look in looks.items()])
        yield points
        if (points["mean"] > 0).any():
            yield _guide(points, panel, slope)


def _excess_points(sweeps: StoredSweeps, setting: str, look: Look, panel: str) -> pd.DataFrame:
    learner_losses, told_losses = (_losses(sweeps, source) for source in PAIRS[setting])
    pairs = learner_losses.merge(told_losses, on=["run", "task"], suffixes=("", "_told")).query("task > 1")
    excess = pairs["planning_loss"] - pairs["planning_loss_told"]
    earlier = pairs["task"].to_numpy(int) - 1
    centre = _centres(earlier.max(initial=1))[earlier - 1]
    rows = pairs[["run"]].assign(x=centre, planning_loss=excess.abs() if panel == "b" else excess)
    by_run = pd.DataFrame(rows.groupby(["run", "x"])["planning_loss"].mean()).reset_index()
    return Series(look, panel=panel).points(band(by_run, ["x"], kind="ci"), "x", "ci")


def _losses(sweeps: StoredSweeps, source: Place) -> pd.DataFrame:
    sweep, keys = source
    names = {name.rpartition(".")[2]: name for name in sweeps[sweep].keys}
    series = Series(Look("", "black"), sweep, {names[key]: value for key, value in keys.items()}, at_largest_gamma)
    return series.rows(sweeps)[["run", "task", "planning_loss"]]


def _centres(tasks: int) -> np.ndarray:
    """Return the harmonic mean of t - 1 in the block of each t - 1 = 1 ... tasks."""
    lengths = [block.stop - block.start for block in blocks(tasks)]
    return np.repeat(1.0 / inverses(tasks), lengths)


def _guide(points: pd.DataFrame, panel: str, slope: float) -> pd.DataFrame:
    """Return a line through the first positive mean of the panel."""
    ends = points.loc[points["mean"] > 0].sort_values("x").iloc[[0, -1]]
    line = pd.DataFrame({"x": ends["x"], "y": ends["mean"].iloc[0] * (ends["x"] / ends["x"].iloc[0]) ** slope})
    return Series(_guide_look(slope), panel=panel).values(line, "x", "y", "guide")


def _guide_look(slope: float) -> Look:
    return Look(f"slope {Fraction(slope)}", "black", "", "--" if slope == -1.0 else ":")


def _draw_panel(ax: Axes, data: pd.DataFrame, panel: str) -> None:
    title, looks, slope = PANELS[panel]
    positive = data.assign(mean=data["mean"].where(data["mean"] > 0))
    panels.curves(ax, positive, [Series(look, panel=panel) for look in (*looks.values(), _guide_look(slope))])
    ax.set_xscale("log")
    ax.set_yscale("log", nonpositive="clip")
    ax.set_ylim(bottom=0.5 * positive["mean"].min())
    ax.set_xlabel("Earlier tasks, t - 1")
    panels.letter(ax, panel, title)
