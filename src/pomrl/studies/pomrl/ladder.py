"""The ladder from the paper's text to the authors' notebook: one change more on each rung.

Above: the mean losses in each task at γ_eval; thin grey lines repeat those of the rung before. Below: numbers that
claims of the paper are about, on each rung. A tile has the colour of "holds" where the 95 % interval lies above
what the paper says (0, or 0.7 for γ*), that of "does not hold" where it lies below, and is grey where it contains it
or where the paper says nothing.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from pomrl.studies.pomrl import tiles
from pomrl.studies.pomrl.ledger import SHOWN, Ladder
from pomrl.study import Drawing, Verdict, context, look, panels

COLUMNS = 6
"""The number of panels in a row."""

TOP = 3.4
"""The end of the vertical axes of losses, which all panels share."""


def draw(ladder: Ladder) -> Drawing:
    """Draw the losses and the numbers of each rung."""
    rungs = list(ladder.curves["rung"].unique())
    rows = -(-len(rungs) // COLUMNS)
    with context():
        figure = panels.blank(8.6, 1.35 * rows + 2.9)
        parts = figure.add_gridspec(2, 1, height_ratios=[1.35 * rows, 2.9])
        above, below = figure.add_subfigure(parts[0]), figure.add_subfigure(parts[1])
        _losses(above, ladder.curves, rungs)
        checks = ladder.checks.assign(verdict=[_verdict(check) for check in ladder.checks.to_dict("records")])
        tiles.draw(below.subplots(), _cells(checks, "verdict"), _cells(checks, "estimate"), fontsize=6.0)
        return panels.finish(figure, _table(ladder))


def _losses(figure: SubFigure, curves: pd.DataFrame, rungs: list[str]) -> None:
    rows = -(-len(rungs) // COLUMNS)
    axes = [ax for row in panels.grid_of_panels(figure, rows, COLUMNS, share_y=True) for ax in row]
    for index, (ax, rung) in enumerate(zip(axes, rungs, strict=False)):
        if index:
            _lines(ax, curves[curves["rung"] == rungs[index - 1]], before=True)
        _lines(ax, curves[curves["rung"] == rung], before=False)
        ax.set_title(rung if index == 0 else f"+ {rung}", loc="left", fontsize=7)
        ax.set_ylim(0.0, TOP)
        ax.set_xticks([1, 5, 10, 15])
    for ax in axes[len(rungs) :]:
        ax.set_axis_off()
    panels.shared_legend(figure, axes[:1], columns=len(SHOWN))


def _lines(ax: Axes, curves: pd.DataFrame, *, before: bool) -> None:
    for estimator in SHOWN:
        points, of = curves[curves["estimator"] == estimator], look(estimator)
        if before:
            ax.plot(points["task"], points["mean"], color="0.8", linewidth=0.8)
        else:
            ax.plot(points["task"], points["mean"], color=of.color, label=of.label)


def _cells(checks: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column with a row for each number and a column for each rung, in their order."""
    cells = checks.pivot(index="number", columns="rung", values=column)
    return cells.reindex(index=checks["number"].unique(), columns=checks["rung"].unique())


def _verdict(check: Mapping[Any, Any]) -> Verdict:
    """Return whether the interval is above what the paper says, below it, or neither."""
    if check["lower"] > check["above"]:
        return Verdict.HOLDS
    return Verdict.DOES_NOT_HOLD if check["upper"] < check["above"] else Verdict.UNDECIDED


def _table(ladder: Ladder) -> pd.DataFrame:
    """Return all that is drawn, with the columns of a drawing's table; the number of a tile stands in series."""
    curves, checks = ladder.curves, ladder.checks
    lines = pd.DataFrame(
        {"panel": curves["rung"], "series": curves["estimator"], "x": curves["task"].astype(float)}
        | {"mean": curves["mean"], "lower": curves["mean"] - curves["se"], "upper": curves["mean"] + curves["se"]}
        | {"band": "se", "n": curves["n"], "marker": False}
    )
    tiles = pd.DataFrame(
        {"panel": checks["rung"], "series": checks["number"], "x": float("nan"), "mean": checks["estimate"]}
        | {"lower": checks["lower"], "upper": checks["upper"], "band": "95 %", "n": curves["n"].max(), "marker": False}
    )
    return pd.concat([lines, tiles], ignore_index=True)
