"""The curves of the notebook's figures, which were read off by eye, and how far our curves are from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from pomrl.figures import COLUMNS, Series, StoredSweeps, band, best_gamma

NOTEBOOK_RUNS = 100
"""The number of runs of each figure in the notebook."""

READING, PRINTED, Z = "reading error", "as printed by the notebook", "z"
"""What the column `band` of a drawing's table says of a point that was read off, of a printed one, and of a z."""


CONTRADICTED = {("min loss", 1): 0.949638347757141, ("gamma*", 1): 0.5}
"""What the notebook prints for the points, by series and task, whose reading is contradicted by its own output.

The markers of task 1 in the figure of cell 45 were read as 0.964 and 0.511, which is 4.9 and 4.3 errors of reading off.
"""


@dataclass(frozen=True)
class AuthorsSeries(Series):
    """A series of a figure, and the curve of the notebook's figures that shows the same."""

    cells: Sequence[int] = ()
    """The cells of the notebook whose figures show it; none if no figure that was read off does."""
    curve: str = ""
    """The name of the curve in `digitised.csv`."""

    def notebook_points(self) -> pd.DataFrame:
        """Return the points that were read off, with the columns x, value and reading_error.

        Two cells that show the same curve give two readings of each point.
        """
        table = read_digitised()
        rows = table[table["cell"].isin(self.cells) & (table["series"] == self.curve)]
        return rows.assign(x=rows["gamma"].fillna(rows["task"]))[["x", "value", "reading_error"]]


@cache
def read_digitised() -> pd.DataFrame:
    """Return the points of the notebook's figures that could be read off (see `examples/notebook/README.md`)."""
    return pd.read_csv(Path(__file__).with_name("digitised.csv")).dropna(subset="value")


PointComparison = Callable[[pd.DataFrame, pd.DataFrame, str], pd.DataFrame]
"""A function of the rows of a series, the points that were read off, and the name of the horizontal axis.

It returns these points with the columns ours, and z.
"""


def of_losses(rows: pd.DataFrame, drawn: pd.DataFrame, x: str) -> pd.DataFrame:
    """Compare mean losses.

    z is the difference divided by the square root of the sum of three variances: the squared error of reading, the
    squared standard error of our mean, and that of the notebook's mean over `NOTEBOOK_RUNS` runs, which is estimated
    from the spread of our runs because the notebook does not show its own.

    Args:
        rows: The losses of our runs, with the columns run, planning_loss and that of `x`.
        drawn: The points that were read off, with the columns x, value and reading_error.
        x: The column that the horizontal axis shows: task or gamma.

    Returns:
        The points, with the columns ours and z in addition.
    """
    ours = band(rows, [x], kind="sd").set_index(x)
    # 0.30000000000000004 is 0.3 on the axis of the figure
    at = ours.iloc[np.abs(ours.index.to_numpy(float)[None] - drawn["x"].to_numpy()[:, None]).argmin(1)]
    variance = ((at["upper"] - at["mean"]) ** 2 * (1 / at["n"] + 1 / NOTEBOOK_RUNS)).to_numpy()
    mean = at["mean"].to_numpy()
    return drawn.assign(ours=mean, z=(drawn["value"] - mean) / np.sqrt(variance + drawn["reading_error"] ** 2))


def of_best_gammas(rows: pd.DataFrame, drawn: pd.DataFrame, x: str) -> pd.DataFrame:
    """Compare gamma* of each task.

    gamma* is the place of a minimum on a grid, so that two of them may differ by several steps of the grid where the
    curve is flat. z is therefore in units of the loss: how much more our runs lose at the notebook's gamma* (the
    discount factor of the grid that is nearest to the reading) than at ours, divided by the standard error of this
    difference in pairs over our runs, and of such a difference over the notebook's. It is 0 where both are the same.

    Args:
        rows: The losses of our runs, with the columns run, task, gamma and planning_loss.
        drawn: The points that were read off, with the columns x (the task), value and reading_error.
        x: The column that the horizontal axis shows: task.

    Returns:
        The points, with the columns ours and z in addition.
    """
    best = best_gamma(rows, [x]).set_index(x)["gamma"]
    outcomes = []
    for task, value in zip(drawn["x"], drawn["value"], strict=True):
        losses = rows[rows[x] == task].pivot(index="run", columns="gamma", values="planning_loss")
        theirs = losses.columns[np.abs(losses.columns.to_numpy(float) - value).argmin()]
        more = losses[theirs] - losses[best[task]]
        error = more.std() * np.sqrt(1 / len(more) + 1 / NOTEBOOK_RUNS)
        outcomes.append((best[task], more.mean() / error if theirs != best[task] else 0.0))
    ours, z = zip(*outcomes, strict=True) if outcomes else ((), ())
    return drawn.assign(ours=ours, z=z)


def points(sweeps: StoredSweeps, series: AuthorsSeries, x: str, compare: PointComparison) -> pd.DataFrame:
    """Return what the notebook shows of a series, as rows of a drawing's table; empty where it or we show nothing.

    Points that were read off have the error of reading around them. Where the notebook prints another number than the
    one that was read, a row has this number. The rows whose `band` is z say how far each reading is from our curve.
    """
    drawn, rows = series.notebook_points(), series.rows(sweeps)
    if drawn.empty or rows.empty:
        return pd.DataFrame(columns=COLUMNS)
    compared = compare(rows, drawn, x)
    value, error = compared["value"], compared["reading_error"]
    read = compared.assign(mean=value, lower=value - error, upper=value + error, band=READING)
    of_z = compared.assign(mean=compared["z"], lower=np.nan, upper=np.nan, band=Z)
    printed = [(task, number) for (name, task), number in CONTRADICTED.items() if name == series.curve]
    of_print = pd.DataFrame(printed, columns=["x", "mean"], dtype=float)
    of_print = of_print.assign(lower=np.nan, upper=np.nan, band=PRINTED)
    rows = pd.concat([part for part in (read, of_z, of_print) if len(part)])
    return rows.assign(panel=series.panel, series=label(series), n=0, marker=False).loc[:, COLUMNS]


def label(series: Series) -> str:
    """Return the name that the points of the notebook have in a drawing's table, beside our curve of a series."""
    return f"{series.look.label}, the notebook's"


def in_words(data: pd.DataFrame) -> str:
    """Say how far the readings in a drawing's table are from our curves. It has some readings."""
    z = data.loc[data["band"] == Z, "mean"].abs()
    return f"Largest |z| of {len(z)} readings: {z.max():.1f}"
