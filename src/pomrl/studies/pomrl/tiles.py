"""Tiles in the colours of verdicts, with a number in each."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from pomrl.study import LOOKS


def draw(ax: Axes, verdicts: pd.DataFrame, numbers: pd.DataFrame, fontsize: float) -> None:
    """Draw a tile for each cell: the colour of its verdict, and its number; rows and columns are labelled."""
    order = {str(verdict): index for index, verdict in enumerate(LOOKS)}
    colors = ListedColormap([look.color for look in LOOKS.values()])
    codes = verdicts.map(lambda verdict: order[str(verdict)]).to_numpy(int)
    ax.pcolormesh(codes, cmap=colors, vmin=0, vmax=2, edgecolor="white", linewidth=0.7)
    for i, row in enumerate(numbers.to_numpy(float)):
        for j, value in enumerate(row):
            ax.text(j + 0.5, i + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=fontsize)
    ax.set_xticks([j + 0.5 for j in range(len(verdicts.columns))], list(verdicts.columns), rotation=90)
    ax.set_yticks([i + 0.5 for i in range(len(verdicts))], list(verdicts.index))
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.tick_params(length=0)
