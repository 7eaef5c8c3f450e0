"""Comparison of the lines and bands of a panel with expected values."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection, LineCollection
from matplotlib.lines import Line2D

from pomrl.drawing.series import Drawing


def choose(frame: pd.DataFrame, **settings) -> pd.DataFrame:
    for name, value in settings.items():
        frame = frame.loc[frame[name] == value]
    return frame


def line(ax: Axes, label: str) -> Line2D:
    (actual,) = (artist for artist in ax.lines if artist.get_label() == label)
    return actual


def outlines(ax: Axes) -> list[np.ndarray]:
    """Return the vertices of the bands."""
    actual = [band for band in ax.collections if isinstance(band, FillBetweenPolyCollection)]
    return [np.asarray(band.get_paths()[0].vertices) for band in actual]


def whiskers(ax: Axes) -> list[np.ndarray]:
    """Return the ends of the whiskers of each curve."""
    collections = [artist for artist in ax.collections if isinstance(artist, LineCollection)]
    return [np.concatenate([np.asarray(segment) for segment in artist.get_segments()]) for artist in collections]


def assert_drawn(ax: Axes, label: str, x: str, expected: pd.DataFrame) -> None:
    """Check the means of a line and its band or whiskers, up to rounding.

    With more than four curves, only the first, the middle and the last one have bands. Whiskers are at some x only.
    """
    curve = line(ax, label)
    np.testing.assert_array_equal(np.asarray(curve.get_xdata()), expected[x])
    np.testing.assert_allclose(np.asarray(curve.get_ydata(), float), expected["mean"], rtol=1e-12)
    labels = [artist.get_label() for artist in ax.lines]
    if len(labels) > 4 and label not in (labels[0], labels[len(labels) // 2], labels[-1]):
        return
    ends = np.concatenate([expected[[x, "lower"]], expected[[x, "upper"]]])
    pairs = [(ends, outline) for outline in outlines(ax)] + [(some, ends) for some in whiskers(ax)]
    assert any(all(np.isclose(those, end, rtol=1e-9).all(1).any() for end in these) for these, those in pairs)


def note(drawing: Drawing) -> str:
    """Return the note above a figure, without the line about its bands."""
    lines = drawing.figure.get_suptitle().splitlines()
    return "\n".join(line for line in lines if not line.startswith("Bands: "))


def average_of_first(table: pd.DataFrame, tasks: int) -> pd.DataFrame:
    """Return averages over the first tasks, for each run and gamma."""
    mean = table.pivot_table(index="run", columns=["gamma", "task"], values="planning_loss").T
    first = mean.loc[mean.index.get_level_values("task") <= tasks]
    return first.groupby("gamma").mean().reset_index().melt("gamma", var_name="run", value_name="y")


def running_average(table: pd.DataFrame) -> pd.DataFrame:
    """Return running averages over tasks, for each run."""
    losses = table.pivot(index="task", columns="run", values="planning_loss").expanding().mean()
    return losses.reset_index().melt("task", var_name="run", value_name="y")
