"""Claims under readings: a tile for each, in the colour of its verdict (with Holm), with the decisive estimate in it.

That is of whichever part of the claim decides, so that numbers in a row may be of different kinds.

Columns are ordered by how many claims the reading reproduces; ticks name its choices.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from pomrl.claims.family import ranking
from pomrl.claims.verdict import Verdict
from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Drawing
from pomrl.figures.parts.style import context

COLORS = {Verdict.NOT_REPRODUCED: "#EE8866", Verdict.INCONCLUSIVE: "#EEEEEE", Verdict.REPRODUCED: "#77AADD"}
"""Told apart by those who do not see red or green, and in print by their lightness."""

TILE_WIDTH, TILE_HEIGHT = 0.42, 0.22
"""In inches: room for a number."""


def draw(matrix: pd.DataFrame) -> Drawing:
    """The figure, from `claims.family.matrix`; the table behind it is the matrix."""
    readings = ranking(matrix)["reading"].tolist()
    verdicts = matrix.pivot(index="claim", columns="reading", values="verdict").loc[matrix["claim"].unique(), readings]
    estimates = matrix.pivot(index="claim", columns="reading", values="estimate").loc[verdicts.index, readings]
    rows, columns = verdicts.shape
    with context():
        figure, (ax,) = panels.row_of_panels(1, TILE_WIDTH * columns + 1.0, TILE_HEIGHT * rows + 3.0)
        _tiles(ax, verdicts, estimates)
        handles = [Patch(facecolor=color, edgecolor="0.6", label=str(verdict)) for verdict, color in COLORS.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
        few = matrix["runs"] < matrix["runs_promised"]
        if few.any():
            figure.suptitle("provisional: fewer runs than promised", fontweight="bold", color="#a02020")
        panels.finish(figure)
    return Drawing(figure, matrix)


def _tiles(ax: Axes, verdicts: pd.DataFrame, estimates: pd.DataFrame) -> None:
    order = {str(verdict): index for index, verdict in enumerate(COLORS)}
    codes = verdicts.map(lambda verdict: order[verdict]).to_numpy(int)
    ax.pcolormesh(codes, cmap=ListedColormap(list(COLORS.values())), vmin=0, vmax=2, edgecolor="white", linewidth=0.7)
    for i, row in enumerate(estimates.to_numpy(float)):
        for j, value in enumerate(row):
            ax.text(j + 0.5, i + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=7)
    ax.set_xticks([j + 0.5 for j in range(len(verdicts.columns))], list(verdicts.columns), rotation=90)
    ax.set_yticks([i + 0.5 for i in range(len(verdicts))], list(verdicts.index))
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.tick_params(length=0)
