"""Panels of figures: axes side by side with letters above them, curves with bands in them, and legends below."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.container import Container
from matplotlib.figure import Figure, FigureBase
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from pomrl.drawing.drawing import Drawing, Series
from pomrl.drawing.notes import annotate
from pomrl.drawing.style import BAND_OPACITY, EDGE_OPACITY, Look
from pomrl.results.stored_sweeps import StoredSweeps

LOSS = "Planning loss"
AVERAGE_LOSS = "Average planning loss"
"""What an axis says that shows the mean of the losses of several tasks."""
RUNNING_AVERAGE = "Average loss, tasks 1 to t"
"""What an axis says that shows, for each task t, the mean of the losses up to it."""

MOST_MARKERS = 15
"""The number of points of a line above which only some of them have a marker; most experiments have 15 tasks."""

LABELS_HEIGHT = 0.36
"""The height of the ticks and the label beneath a panel, in inches."""


def blank(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches; it belongs to no window and to no global state of matplotlib."""
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.07))
    FigureCanvasAgg(figure)
    return figure


def grid_of_panels(figure: FigureBase, rows: int, columns: int, *, share_y: bool = False) -> list[list[Axes]]:
    """Add rows of axes to a figure or a part of it; with `share_y` each row shares its vertical axis."""
    axes = figure.subplots(rows, columns, squeeze=False, sharey="row" if share_y else "none")
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return [list(row) for row in axes]


def row_of_panels(columns: int, width: float, height: float, *, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of this size in inches with one row of axes, and these axes."""
    figure = blank(width, height)
    (axes,) = grid_of_panels(figure, 1, columns, share_y=share_y)
    return figure, axes


def curve(ax: Axes, points: pd.DataFrame, look: Look) -> None:
    """Draw the means of a series as a line, its band as a shade, and its marked points as circles."""
    style = {"color": look.color, "linestyle": look.linestyle, "label": look.label}
    shape = {"marker": look.marker, "markersize": look.size, "markeredgewidth": 0.4, "markeredgecolor": "white"}
    # Markers at all points of a long line would hide the lines beneath it.
    every = -(-len(points) // MOST_MARKERS) if look.linestyle else 1
    # Axes have room for all means over runs, but not for all values of bounds, so only these are cut at their edges.
    clip_on = not points["n"].all()
    (line,) = ax.plot(points["x"], points["mean"], clip_on=clip_on, **style, **(shape if look.marker else {}))
    line.set_markevery(every)
    if points["lower"].notna().any():
        _band(ax, points, look)
    marked = points[points["marker"]]
    if len(marked):
        circles = {"color": look.color, "markeredgecolor": "black", "markersize": 5, "zorder": 5, "clip_on": clip_on}
        ax.plot(marked["x"], marked["mean"], "o", **circles)


def _band(ax: Axes, points: pd.DataFrame, look: Look) -> None:
    """Shade a band and draw its edges, which tell bands apart where their shades overlap."""
    face, edge = to_rgba(look.color, BAND_OPACITY), to_rgba(look.color, EDGE_OPACITY)
    ax.fill_between(points["x"], points["lower"], points["upper"], facecolor=face, edgecolor=edge, linewidth=0.5)


def curves(ax: Axes, data: pd.DataFrame, wanted: Sequence[Series]) -> None:
    """Draw the wanted series of a panel that the data holds; a panel without any of them says "no runs"."""
    drawable = [(points, series.look) for series in wanted if len(points := series.of(data))]
    for points, look in drawable:
        curve(ax, points, look)
    if not drawable:
        ax.text(0.5, 0.5, "no runs", transform=ax.transAxes, ha="center", va="center")


def right_axis(ax: Axes) -> Axes:
    """Return axes over a panel that share its horizontal axis and have their vertical axis at the right."""
    right = ax.twinx()
    right.grid(visible=False)
    right.spines[["top", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return right


def letter(ax: Axes, panel: str, title: str) -> None:
    """Write the letter and the title of a panel above it; in a figure of one panel the letter is empty."""
    ax.set_title(f"({panel}) {title}" if panel else title, loc="left")


def loss_axis(ax: Axes, label: str = LOSS) -> None:
    """Label the vertical axis, by default as the planning loss, and let it start at 0.

    Its end fits the panels drawn so far that share it.
    """
    ax.set_ylabel(label)
    ax.autoscale(axis="y")
    # Losses are not negative, so the part of a band below 0 would only take room.
    ax.set_ylim(bottom=0.0)


def task_axis(ax: Axes, data: pd.DataFrame) -> None:
    """Label the horizontal axis as the task, with ticks at whole tasks from the first to the last in the data."""
    last = int(data["x"].to_numpy().max())
    ax.set_xticks(range(1, last + 1, max(1, -(-last // 8))))
    ax.set_xlim(1 - 0.05 * last, last + 0.05 * last)
    ax.set_xlabel("Task t")


def gamma_axis(ax: Axes) -> None:
    """Label the horizontal axis as the discount factor, from 0 to 1."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_xticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    ax.set_xlabel("Discount factor γ")


def legend(ax: Axes, *, columns: int = 1, more: Sequence[Artist | Container] = ()) -> None:
    """Put a legend of the curves of a panel, and of the handles in `more`, beneath it; without curves there is none."""
    curves, _ = ax.get_legend_handles_labels()
    if curves:
        below = ax.transAxes + ScaledTranslation(0.0, -LABELS_HEIGHT, ax.figure.dpi_scale_trans)
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": below}
        ax.legend(handles=[*curves, *more], ncols=columns, **place)


def minimum_marker() -> Line2D:
    """Return the entry of a legend for the circle that marks the minimum of a curve."""
    return Line2D([], [], marker="o", linestyle="", color="white", markeredgecolor="black", label="minimum")


def shared_legend(figure: FigureBase, axes: Sequence[Axes], *, columns: int, more: Sequence[Artist] = ()) -> None:
    """Put one legend beneath a figure or a part of it: each series of its panels once, and the handles in `more`."""
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles=[*handles.values(), *more], loc="outside lower center", ncols=columns)


def finish(
    figure: Figure, data: pd.DataFrame, wanted: Sequence[Series] = (), sweeps: StoredSweeps | None = None
) -> Drawing:
    """Finish a figure while its style is in force: note what it lacks, and fix its ticks and its layout.

    Args:
        figure: The figure, which saving changes no more.
        data: The table of what is drawn.
        wanted: The series of runs that a complete figure shows.
        sweeps: What is stored of the sweeps of these series.

    Returns:
        The figure and the table.
    """
    annotate(figure, data, wanted, sweeps or {})
    figure.draw_without_rendering()
    # Otherwise every further layout would move the panels by a rounding error and change the bytes of the next file.
    figure.set_layout_engine("none")
    return Drawing(figure, data)
