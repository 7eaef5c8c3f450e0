"""Panels of figures: axes side by side, curves with bands in them, legends below, and a note above the figure."""

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure, FigureBase
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from pomrl.drawing.files import picture
from pomrl.drawing.series import Drawing, Series
from pomrl.drawing.style import BAND_OPACITY, EDGE_OPACITY, MAX_BANDS, Look
from pomrl.results.intervals import BAND_NAMES
from pomrl.results.sweep_results import StoredSweeps

CHARACTERS_PER_INCH = 15
LINE_HEIGHT_INCHES = 0.14
"""The height that a figure gains with each line of its note or its legend, so that panels keep theirs."""

LOSS = "Planning loss"
AVERAGE_LOSS = "Average planning loss"
"""What an axis says that shows the mean of the losses of several tasks."""
RUNNING_AVERAGE = "Average loss, tasks 1 to t"
"""What an axis says that shows, for each task t, the mean of the losses up to it."""

DASH_LENGTH = 3.0
"""The length of the dashes of curves that coincide, in widths of the line."""

MIN_DASHED_POINTS = 5
"""The number of points that a curve has at least if it is to be drawn as dashes over one that it coincides with."""

MAX_MARKERS = 15
"""The number of points of a line above which only some of them have a marker; most experiments have 15 tasks."""

LABELS_CHARACTERS = 5
"""The number of characters of a title that would fit above the ticks and the label at the left of a panel."""

PIXELS_PER_INCH = 100
"""The size of pictures in a notebook."""

HANDLE_CHARACTERS = 5
"""The width of the line or marker of a legend's entry and of the space around it, in characters."""


RunNumbers = Mapping[tuple[str, str], set[int]]
"""The numbers of runs behind the points of each panel's series."""


class DisplayedFigure(Figure):
    """A figure of which a notebook shows the picture, without a magic."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture, and its size on the page, which is half of its pixels."""
        width, height = self.get_size_inches() * PIXELS_PER_INCH
        content = picture(self, "png", dpi=2 * PIXELS_PER_INCH)
        return content, {"width": round(width), "height": round(height)}


def blank(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches; it belongs to no window and to no global state of matplotlib."""
    figure = DisplayedFigure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.07))
    FigureCanvasAgg(figure)
    return figure


def grid_of_panels(
    figure: FigureBase, rows: int, columns: int, *, share_y: bool = False, heights: Sequence[float] | None = None
) -> list[list[Axes]]:
    """Add rows of axes with relative `heights` to a figure; with `share_y` each row shares its vertical axis."""
    share = "row" if share_y else "none"
    axes = figure.subplots(rows, columns, squeeze=False, sharey=share, height_ratios=heights)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return [list(row) for row in axes]


def row_of_panels(columns: int, width: float, height: float, *, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of this size in inches with one row of axes, and these axes."""
    figure = blank(width, height)
    (axes,) = grid_of_panels(figure, 1, columns, share_y=share_y)
    return figure, axes


def curves(ax: Axes, data: pd.DataFrame, wanted: Sequence[Series]) -> None:
    """Draw the wanted series of a panel that the data holds; a panel without any of them says "no runs"."""
    points = pd.concat([series.of(data) for series in wanted]).dropna(subset="mean")
    held = set(points["series"])
    if looks := [series.look for series in wanted if series.look.label in held]:
        draw_curves(ax, points, looks)
    else:
        ax.text(0.5, 0.5, "no runs", transform=ax.transAxes, ha="center", va="center")


def draw_curves(ax: Axes, points: pd.DataFrame, looks: Sequence[Look]) -> None:
    """Draw the means of several series as lines, their bands as shades, and marked points as circles.

    Args:
        ax: The axes.
        points: A table with the columns series, x, mean, lower, upper, n and marker (`COLUMNS`).
        looks: How the series are drawn, in the order of the legend.
    """
    colors = {look.label: look.color for look in looks}
    of_series = dict(iter(points.groupby("series", sort=False)))
    first = len(ax.lines)
    tidy = {"x": "x", "y": "mean", "hue": "series", "hue_order": list(colors), "palette": colors, "legend": False}
    sns.lineplot(points, **tidy, estimator=None, errorbar=None, markeredgewidth=0.4, ax=ax)
    lines = dict(zip(colors, ax.lines[first:], strict=True))
    for look in looks:
        _style(lines[look.label], look, is_mean=bool(of_series[look.label]["n"].all()))
    for look in _choose_shaded([look for look in looks if of_series[look.label]["lower"].notna().any()]):
        _shade(ax, of_series[look.label], look)
    if points["marker"].any():
        circles = {"s": 25, "edgecolor": "black", "linewidth": 1, "zorder": 5, "clip_on": False}
        sns.scatterplot(points[points["marker"]], **tidy, **circles, ax=ax)
    ax.set(xlabel="", ylabel="")


def _style(line: Line2D, look: Look, *, is_mean: bool) -> None:
    """Give a line what is its own: label, marker and dashes."""
    # Markers at all points of a long line would hide the lines beneath it.
    every = -(-np.size(line.get_xdata(orig=False)) // MAX_MARKERS) if look.linestyle else 1
    line.set(label=look.label, marker=look.marker, markersize=look.size, linestyle=look.linestyle, markevery=every)
    # Axes have room for all means over runs, but not for all values of bounds, so only these are cut at their edges.
    line.set_clip_on(not is_mean)


def _choose_shaded(looks: Sequence[Look]) -> Sequence[Look]:
    """Return the series whose bands are drawn: of so many that nobody can tell them apart, three."""
    return looks if len(looks) <= MAX_BANDS else [looks[0], looks[len(looks) // 2], looks[-1]]


def _shade(ax: Axes, points: pd.DataFrame, look: Look) -> None:
    """Shade a band and draw its edges, which tell bands apart where their shades overlap."""
    face, edge = to_rgba(look.color, BAND_OPACITY), to_rgba(look.color, EDGE_OPACITY)
    ax.fill_between(points["x"], points["lower"], points["upper"], facecolor=face, edgecolor=edge, linewidth=0.5)


def letter(ax: Axes, panel: str, title: str) -> None:
    """Write letter and title above a panel, wrapped to its width; the letter of a single panel is empty."""
    place, width = ax.get_subplotspec(), _whole(ax).get_figwidth()
    room = CHARACTERS_PER_INCH * width / (place.get_gridspec().ncols if place else 1) - LABELS_CHARACTERS
    text = (f"({panel}) {title}" if panel else title).replace(" = ", "\u00a0=\u00a0")
    ax.set_title(
        "\n".join(textwrap.fill(line, int(room), break_on_hyphens=False) for line in text.split("\n")), loc="left"
    )


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
    ax.set_xticks(range(1, last + 1, -(-last // 5)))
    ax.set_xlim(1 - 0.05 * last, last + 0.05 * last)
    ax.set_xlabel("Task t")


def gamma_axis(ax: Axes) -> None:
    """Label the horizontal axis as the discount factor, from 0 to 1."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_xticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    ax.set_xlabel("Discount factor γ")


def minimum_marker() -> Line2D:
    """Return the entry of a legend for the circle that marks the minimum of a curve."""
    return Line2D([], [], marker="o", linestyle="", color="white", markeredgecolor="black", label="minimum")


def _whole(ax: Axes) -> Figure:
    """Return the figure that axes are part of, also those of a part of it."""
    whole = ax.get_figure(root=True)
    assert whole is not None
    return whole


def add_shared_legend(figure: FigureBase, axes: Sequence[Axes], *, more: Sequence[Artist] = ()) -> None:
    """Put one legend of all panels, and the handles in `more`, beneath a figure, which grows by its rows."""
    by_label = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    handles, whole = [*by_label.values(), *more], _whole(axes[0])
    widths = np.array([len(str(handle.get_label())) + HANDLE_CHARACTERS for handle in handles])
    room = whole.get_figwidth() * CHARACTERS_PER_INCH
    fitting = (n for n in range(len(widths), 1, -1) if sum(of.max() for of in np.array_split(widths, n)) <= room)
    columns = next(fitting, 1)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    whole.set_figheight(whole.get_figheight() + LINE_HEIGHT_INCHES * max(0, -(-len(handles) // columns) - 1))


def finish(
    figure: Figure, data: pd.DataFrame, wanted: Sequence[Series] = (), sweeps: StoredSweeps | None = None
) -> Drawing:
    """Finish a figure while its style is in force: note what it lacks, show what coincides, fix the layout.

    Args:
        figure: The figure.
        data: The table of what is drawn.
        wanted: The series that a complete figure shows.
        sweeps: What is stored of their sweeps.
    """
    annotate(figure, data, wanted, sweeps or {})
    for ax in figure.axes:
        for lines in coinciding(ax.lines):
            _interleave(lines)
    # Otherwise every further layout would move the panels by a rounding error and change the bytes of the next file.
    if layout := figure.get_layout_engine():
        layout.execute(figure)
    figure.set_layout_engine("none")
    return Drawing(figure, data)


def coinciding(lines: Iterable[Line2D]) -> list[list[Line2D]]:
    """Return the groups of lines of a panel that are equal in their second half."""
    alike: dict[bytes, list[Line2D]] = {}
    for line in lines:
        x, y = np.asarray(line.get_data(), float)
        if len(x) >= MIN_DASHED_POINTS and line.get_linestyle() != "None":
            end = np.concatenate([x, y[len(y) // 2 :]]).round(9).tobytes()
            alike.setdefault(end, []).append(line)
    return [group for group in alike.values() if len(group) > 1]


def _interleave(lines: Sequence[Line2D]) -> None:
    """Draw lines that coincide as dashes over the first of them, each where the others have gaps."""
    for place, line in enumerate(lines):
        line.set_markevery((place, len(lines)))
        if place:
            line.set_linestyle((-DASH_LENGTH * place, (DASH_LENGTH, DASH_LENGTH * (len(lines) - 1))))


def annotate(figure: Figure, data: pd.DataFrame, wanted: Sequence[Series], sweeps: StoredSweeps) -> None:
    """Write a note above a figure: the runs behind intervals, other runs than promised, and missing series.

    Args:
        figure: The figure, which grows by the height of the note.
        data: The table of what is drawn, with the columns `COLUMNS` if it shows series.
        wanted: The series that a complete figure shows.
        sweeps: What is stored of their sweeps.
    """
    if not {"panel", "series", "band"} <= set(data):
        return
    runs = data.loc[data["band"] == "ci", "n"]
    notes = [f"{BAND_NAMES['ci']} over {_from_to(runs)} runs"] if len(runs) else []
    numbers = {(str(panel), str(series)): {*n} for (panel, series), n in data.groupby(["panel", "series"])["n"]}
    warnings = [*_differing_runs(numbers, wanted, sweeps, with_intervals=len(runs) > 0), *_missing(numbers, wanted)]
    width = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    text = "\n".join(textwrap.fill(line, width) for line in [*notes, *warnings])
    if text:
        figure.set_figheight(figure.get_figheight() + LINE_HEIGHT_INCHES * len(text.splitlines()))
        style = {"fontweight": "bold", "color": "#a02020"} if warnings else {"color": "0.25"}
        figure.suptitle(text, fontsize="medium", **style)


def _from_to(runs: Collection[int]) -> str:
    return " to ".join(map(str, sorted({min(runs), max(runs)})))


def _differing_runs(
    numbers: RunNumbers, wanted: Sequence[Series], sweeps: StoredSweeps, *, with_intervals: bool
) -> Iterator[str]:
    """Yield a line for each promised number of runs that the series drawn differ from.

    Series of simulations are left out, because no number of runs is promised for them. Intervals may be over more runs.
    """
    drawn: dict[int, set[int]] = {}
    for series in wanted:
        if promised := getattr(sweeps[series.sweep], "promised", 0):
            drawn.setdefault(promised, set()).update(numbers.get(series.key, ()))
    for promised, runs in drawn.items():
        if runs and min(runs) < promised:
            yield f"provisional: {_from_to(runs)} of {promised} runs"
        elif runs and max(runs) > promised and not with_intervals:
            yield f"{_from_to(runs)} runs instead of {promised}"


def _missing(numbers: RunNumbers, wanted: Sequence[Series]) -> Iterator[str]:
    """Yield a line that names the series without points in each panel, if there are any."""
    parts = []
    for panel, series in groupby(wanted, key=lambda one: one.panel):
        empty = {one.look.label: one.key not in numbers for one in series}
        absent = [label for label, is_empty in empty.items() if is_empty]
        if absent:
            names = "everything" if len(absent) == len(empty) > 1 else ", ".join(absent)
            parts.append(f"({panel}) {names}" if panel else names)
    if parts:
        yield f"missing: {'; '.join(parts)}"
