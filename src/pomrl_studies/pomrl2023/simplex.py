"""Draw distributions over three states in a triangle, the simplex."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.axes import Axes

from pomrl.figures import Series

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
"""The corners (x, y) of the triangle; in each, one state has probability 1."""


def dirichlet(concentration: float, draws: int, seed: int = 0) -> Float[np.ndarray, "draws 3"]:
    """Draw from the symmetric Dirichlet distribution over three states."""
    return np.random.default_rng(seed).dirichlet(np.full(3, concentration), draws)


def concentration(variance: float) -> float:
    """Return the concentration of `dirichlet` for a variance of its entries."""
    return (2.0 / 9.0 / variance - 1.0) / 3.0


def variance(concentration: float) -> float:
    """Return the variance of an entry of a draw of `dirichlet`."""
    return 2.0 / 9.0 / (3.0 * concentration + 1.0)


def points(series: Series, rows: Float[np.ndarray, "draws 3"]) -> pd.DataFrame:
    """Return distributions as a table with `pomrl.figures.COLUMNS`."""
    return series.values(pd.DataFrame(rows @ CORNERS, columns=["x", "y"]), "x", "y", "draw")


def draw(ax: Axes, data: pd.DataFrame, series: Sequence[Series], *, names: bool = True) -> None:
    """Draw series into a panel, by default with state names."""
    ax.fill(*CORNERS.T, facecolor="white", edgecolor="0.5", linewidth=0.7)  # an inset covers whiskers
    for marks in series:
        rows = marks.of(data)
        style = {"marker": marks.look.marker, "color": marks.look.color, "markersize": marks.look.size}
        ax.plot(rows["x"], rows["mean"], linestyle=marks.look.linestyle, label=marks.look.label, **style)
    if names:
        for (x, y), name, (dx, dy) in zip(CORNERS, ("s₁", "s₂", "s₃"), ((-1, -1), (1, -1), (0, 1)), strict=True):
            ax.annotate(name, (x, y), (5 * dx, 4 * dy), textcoords="offset points", ha="center", va="center")
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_xticks([])
    ax.set_yticks([])
