"""Panels of figures: axes side by side, with letters, legends beneath them, and curves with bands in them."""

from collections.abc import Sequence

import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.container import Container
from matplotlib.figure import Figure, FigureBase
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from pomrl.figures.parts.drawing import Series
from pomrl.figures.parts.style import BAND_OPACITY, EDGE_OPACITY, Look

LOSS = "Planning loss"
TASK = "Task t"
GAMMA = "Discount factor γ"

LABELS_HEIGHT = 0.36
"""Of ticks and label beneath a panel, in inches."""


def blank(width: float, height: float) -> Figure:
    """A figure, width x height inches. It belongs to no window and to no global state."""
    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.07))
    FigureCanvasAgg(figure)
    return figure


def grid_of_panels(figure: FigureBase, rows: int, columns: int, *, share_y: bool = False) -> list[list[Axes]]:
    """Rows of axes in a figure or a part of it, which share their y axis if asked."""
    axes = figure.subplots(rows, columns, squeeze=False, sharey="row" if share_y else "none")
    for ax in axes.flat:
        sns.despine(ax=ax)
    return [list(row) for row in axes]


def row_of_panels(columns: int, width: float, height: float, *, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure with one row of axes."""
    figure = blank(width, height)
    (axes,) = grid_of_panels(figure, 1, columns, share_y=share_y)
    return figure, axes


def curve(ax: Axes, points: pd.DataFrame, look: Look) -> None:
    """Means as a line, their band as a shade, and the marked points."""
    style = {"color": look.color, "linestyle": look.linestyle, "label": look.label}
    shape = {"marker": look.marker, "markersize": look.size, "markeredgewidth": 0.4, "markeredgecolor": "white"}
    ax.plot(points["x"], points["mean"], **style, **(shape if look.marker else {}))
    if points["lower"].notna().any():
        _band(ax, points, look)
    marked = points[points["marker"]]
    if len(marked):
        ax.plot(marked["x"], marked["mean"], "o", color=look.color, markeredgecolor="black", markersize=5, zorder=5)


def _band(ax: Axes, points: pd.DataFrame, look: Look) -> None:
    """A shade with edges: where several bands overlap, their mixed shades say little, the edges whose is whose."""
    face, edge = to_rgba(look.color, BAND_OPACITY), to_rgba(look.color, EDGE_OPACITY)
    ax.fill_between(points["x"], points["lower"], points["upper"], facecolor=face, edgecolor=edge, linewidth=0.5)


def curves(ax: Axes, data: pd.DataFrame, wanted: Sequence[Series]) -> None:
    """Those of the wanted series that the data has; ax is the panel of all of them."""
    found = [(points, series.look) for series in wanted if len(points := series.of(data))]
    for points, look in found:
        curve(ax, points, look)
    if not found:
        ax.text(0.5, 0.5, "no runs", transform=ax.transAxes, ha="center", va="center")


def insets(axes: Sequence[Axes], *, room: float) -> list[Axes]:
    """Axes in the upper right corners of panels that share their y axis, which is stretched to leave them this room."""
    bottom, top = axes[0].get_ylim()
    axes[0].set_ylim(bottom, bottom + (top - bottom) / (1.0 - room))
    return [ax.inset_axes((0.6, 1.0 - room, 0.4, room)) for ax in axes]


def right_axis(ax: Axes) -> Axes:
    """Axes over a panel that share its x axis and have their y axis at the right."""
    right = ax.twinx()
    right.grid(visible=False)
    sns.despine(ax=right, left=True, right=False)
    ax.tick_params(axis="y", length=0)
    return right


def zoom(ax: Axes) -> None:
    """The y axis from the lowest to the highest band of a panel, which need not reach to 0."""
    ax.autoscale(axis="y")
    ax.set_ylabel(f"{LOSS} (zoomed)")


def letter(ax: Axes, panel: str, title: str = "") -> None:
    """The letter of a panel, and what it shows, above it."""
    ax.set_title(f"({panel}) {title}".strip() if panel else title, loc="left")


def loss_axis(ax: Axes) -> None:
    """From 0 to what the panels that share this axis need, those drawn so far."""
    ax.set_ylabel(LOSS)
    ax.autoscale(axis="y")
    # Losses are not negative: a band of one standard deviation that is would only take room.
    ax.set_ylim(bottom=0.0)


def task_axis(ax: Axes, data: pd.DataFrame) -> None:
    """Whole tasks, from the first."""
    last = int(data["x"].to_numpy().max())
    ax.set_xticks(range(1, last + 1, max(1, -(-last // 8))))
    ax.set_xlim(1 - 0.05 * last, last + 0.05 * last)
    ax.set_xlabel(TASK)


def gamma_axis(ax: Axes) -> None:
    ax.set_xlim(-0.02, 1.02)
    ax.set_xticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    ax.set_xlabel(GAMMA)


def legend(ax: Axes, *, columns: int = 1, more: Sequence[Artist | Container] = ()) -> None:
    """A legend beneath a panel, where no data is; more are handles besides those of its curves. None without curves."""
    curves, _ = ax.get_legend_handles_labels()
    if curves:
        below = ax.transAxes + ScaledTranslation(0.0, -LABELS_HEIGHT, ax.figure.dpi_scale_trans)
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": below}
        ax.legend(handles=[*curves, *more], ncols=columns, **place)


def minimum_marker() -> Line2D:
    """For a legend: what marks the minimum of a curve."""
    return Line2D([], [], marker="o", linestyle="", color="white", markeredgecolor="black", label="minimum")


def shared_legend(figure: FigureBase, axes: Sequence[Axes], *, columns: int, more: Sequence[Artist] = ()) -> None:
    """One legend beneath a figure or a part of it, of the series of its panels, each once; more are further handles."""
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles=[*handles.values(), *more], loc="outside lower center", ncols=columns)


def finish(figure: Figure) -> None:
    """Make what is made when a figure is drawn, ticks and layout, while its style lasts."""
    figure.draw_without_rendering()
    # Each further drawing would move everything by a rounding error, and change the bytes of the next file.
    figure.set_layout_engine("none")
