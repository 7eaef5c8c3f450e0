"""Draw panels, curves with bands, legends and notes."""

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure, FigureBase
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from pomrl.drawing import palette
from pomrl.drawing.picture_files import picture
from pomrl.drawing.series import Drawing, Series
from pomrl.drawing.style import BAND_OPACITY, EDGE_OPACITY, MAX_BANDS, Look
from pomrl.results.intervals import CONFIDENCE_PERCENT
from pomrl.results.sweep_results import StoredSweeps

CHARACTERS_PER_INCH = 15
LINE_HEIGHT_INCHES = 0.14
"""The height added to a figure for each line of its note or legend, so that panels keep their height."""

LOSS = "Planning loss"
AVERAGE_LOSS = "Average planning loss"
"""The label of the loss, averaged over tasks."""

RUNNING_AVERAGE = "Average loss, tasks 1 to t"
"""The label of the loss, averaged over the tasks so far."""

DASH_LENGTH = 3.0
"""The length of the dashes of coinciding curves, in widths of the line."""

MIN_DASHED_POINTS = 5
"""The fewest points of a curve to be dashed over a coinciding curve."""

MAX_MARKERS = 15
"""The largest number of markers of a line; most experiments have 15 tasks."""

LABELS_CHARACTERS = 5
"""The width of the ticks and label left of a panel, in characters of its title."""

PIXELS_PER_INCH = 100
"""The resolution of pictures in a notebook."""

HANDLE_CHARACTERS = 5
"""The width of the handle of a legend's entry, in characters."""

RunNumbers = Mapping[tuple[str, str], set[int]]
"""The numbers of runs of the points, by panel and label of a series."""


class DisplayedFigure(Figure):
    """A figure with a picture in notebooks."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = self.get_size_inches() * PIXELS_PER_INCH
        content = picture(self, "png", dpi=2 * PIXELS_PER_INCH)
        return content, {"width": round(width), "height": round(height)}


def blank(width: float, height: float) -> Figure:
    """Return an empty figure outside of pyplot; sizes are in inches."""
    figure = DisplayedFigure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.07))
    FigureCanvasAgg(figure)
    return figure


def grid_of_panels(
    figure: FigureBase, rows: int, columns: int, *, share_y: bool = False, heights: Sequence[float] | None = None
) -> list[list[Axes]]:
    """Add a grid of axes; `heights` are relative, and `share_y` is by row."""
    share = "row" if share_y else "none"
    axes = figure.subplots(rows, columns, squeeze=False, sharey=share, height_ratios=heights)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return [list(row) for row in axes]


def row_of_panels(columns: int, width: float, height: float, *, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with a row of axes."""
    figure = blank(width, height)
    (axes,) = grid_of_panels(figure, 1, columns, share_y=share_y)
    return figure, axes


def curves(ax: Axes, data: pd.DataFrame, series: Sequence[Series]) -> None:
    """Draw the series of a panel, or "no runs" without data."""
    points = pd.concat([curve.of(data) for curve in series]).dropna(subset="mean")
    labels = set(points["series"])
    if looks := [curve.look for curve in series if curve.look.label in labels]:
        draw_curves(ax, points, looks)
    else:
        ax.text(0.5, 0.5, "no runs", transform=ax.transAxes, ha="center", va="center")


def draw_curves(ax: Axes, points: pd.DataFrame, looks: Sequence[Look]) -> None:
    """Draw means as lines, bands as shades, and marked points as circles.

    Standard deviations are whiskers, because shades that exceed the means would hide the curves. The points have the
    columns series, x, mean, lower, upper, band, n and marker. `looks` are in the order of the legend.
    """
    colors = {look.label: look.color for look in looks}
    groups = dict(iter(points.groupby("series", sort=False)))
    first = len(ax.lines)
    ax.set(xlabel=" ", ylabel=" ")  # of an axis without a label, seaborn makes all ticks to label it
    tidy = {"x": "x", "y": "mean", "hue": "series", "hue_order": list(colors), "palette": colors, "legend": False}
    sns.lineplot(points, **tidy, estimator=None, errorbar=None, markeredgewidth=0.4, ax=ax)
    with_line = [label for label in colors if groups[label]["mean"].notna().any()]
    lines = dict(zip(with_line, ax.lines[first:], strict=True))
    for look in (look for look in looks if look.label in lines):  # the others have no values
        _style(lines[look.label], look, is_mean=bool(groups[look.label]["n"].all()))
    shaded = [look for look in looks if groups[look.label]["lower"].notna().any()]
    if len(shaded) > MAX_BANDS:
        shaded = [shaded[0], shaded[len(shaded) // 2], shaded[-1]]
    for index, look in enumerate(shaded):
        group = groups[look.label]
        if (group["band"] == "sd").all():
            _draw_whiskers(ax, group.iloc[index :: len(shaded)], look.color)  # no two at one x
        else:  # edges distinguish overlapping bands
            face, edge = to_rgba(look.color, BAND_OPACITY), to_rgba(look.color, EDGE_OPACITY)
            ax.fill_between(group["x"], group["lower"], group["upper"], facecolor=face, edgecolor=edge, linewidth=0.5)
    if points["marker"].any():
        circles = {"s": 25, "edgecolor": "black", "linewidth": 1, "zorder": 5, "clip_on": False}
        sns.scatterplot(points[points["marker"]], **tidy, **circles, ax=ax)
    ax.set(xlabel="", ylabel="")


def _draw_whiskers(ax: Axes, points: pd.DataFrame, color: str) -> None:
    """Draw a thin line for each band; the limits of the axes do not depend on it."""
    ends = points[["x", "lower", "x", "upper"]].to_numpy().reshape(-1, 2, 2)
    style = {"colors": to_rgba(color, EDGE_OPACITY), "linewidths": 0.7, "zorder": 1.5}
    ax.add_collection(LineCollection(list(ends), **style), autolim=False)


def _style(line: Line2D, look: Look, *, is_mean: bool) -> None:
    # Markers at all points of a long line would hide the lines beneath it.
    step = -(-np.size(line.get_xdata(orig=False)) // MAX_MARKERS) if look.linestyle else 1
    line.set(label=look.label, marker=look.marker, markersize=look.size, linestyle=look.linestyle, markevery=step)
    # Axes fit all means over runs, but not all values of bounds, so only bounds are clipped.
    line.set_clip_on(not is_mean)


def letter(ax: Axes, panel: str, title: str) -> None:
    """Write letter and title above a panel, wrapped to its width."""
    text = (f"({panel}) {title}" if panel else title).replace(" = ", "\u00a0=\u00a0")
    lines = [textwrap.fill(line, room(ax), break_on_hyphens=False) for line in text.split("\n")]
    ax.set_title("\n".join(lines), loc="left")


def room(ax: Axes) -> int:
    """Return the width of a panel in characters."""
    spec, width = ax.get_subplotspec(), _root(ax).get_figwidth()
    return int(CHARACTERS_PER_INCH * width / (spec.get_gridspec().ncols if spec else 1) - LABELS_CHARACTERS)


def loss_axis(ax: Axes, label: str = LOSS) -> None:
    """Label the vertical axis, and start it at 0."""
    ax.set_ylabel(label)
    ax.autoscale(axis="y")
    # Losses are not negative, so the part of a band below 0 would only take room.
    ax.set_ylim(bottom=0.0)


def task_axis(ax: Axes, data: pd.DataFrame) -> None:
    """Label the horizontal axis as the task."""
    last = int(data["x"].to_numpy().max())
    ax.set_xticks(range(1, last + 1, -(-last // 5)))
    ax.set_xlim(1 - 0.05 * last, last + 0.05 * last)
    ax.set_xlabel("Task t")


def gamma_axis(ax: Axes) -> None:
    """Label the horizontal axis as the discount factor."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_xticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    ax.set_xlabel("Discount factor γ")


def minimum_marker() -> Line2D:
    """Return the legend entry for the minimum of a curve."""
    return Line2D([], [], marker="o", linestyle="", color="white", markeredgecolor="black", label="minimum")


def _root(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def add_shared_legend(figure: FigureBase, axes: Sequence[Axes], *, more: Sequence[Artist] = ()) -> None:
    """Add a legend of all panels and `more` handles below a figure."""
    by_label = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    handles, root = [*by_label.values(), *more], _root(axes[0])
    widths = np.array([len(str(handle.get_label())) + HANDLE_CHARACTERS for handle in handles])
    room = root.get_figwidth() * CHARACTERS_PER_INCH
    fitting = (n for n in range(len(widths), 1, -1) if sum(map(np.max, np.array_split(widths, n))) <= room)
    columns = next(fitting, 1)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    root.set_figheight(root.get_figheight() + LINE_HEIGHT_INCHES * max(0, -(-len(handles) // columns) - 1))


def finish(
    figure: Figure, data: pd.DataFrame, series: Sequence[Series] = (), sweeps: StoredSweeps | None = None
) -> Drawing:
    """Add the note, dash coinciding curves, and fix the layout.

    `series` are all intended series, and `sweeps` their results.
    """
    annotate(figure, data, series, sweeps or {})
    _dash(figure)
    fix_layout(figure)
    return Drawing(figure, data)


def fix_layout(figure: Figure) -> None:
    """Lay out a figure once, such as before arrows between its panels are drawn."""
    _fix_titles(ax for ax in figure.axes if not _may_move(ax))
    # Otherwise every new layout would move the panels by a rounding error and change the bytes of the next file.
    if layout := figure.get_layout_engine():
        layout.execute(figure)
    figure.set_layout_engine("none")
    _fix_titles(figure.axes)


def _fix_titles(axes: Iterable[Axes]) -> None:
    """Keep titles at their places, because placing them again for each layout and file takes long."""
    for ax in axes:
        setattr(ax, "_autotitlepos", False)  # noqa: B010 (type checkers refuse a private attribute)


def _may_move(ax: Axes) -> bool:
    """Return whether something above a panel may move its title, such as an offset 1e-5."""
    ax.get_yticklabels()  # computes the offset
    has_top_axis = ax.xaxis.get_tick_params()["labeltop"] or ax.xaxis.get_label_position() == "top"
    return bool(ax.yaxis.get_major_formatter().get_offset() or ax.child_axes or has_top_axis)


def _dash(figure: Figure) -> None:
    """Dash coinciding curves, and the legend's entry of a curve with dashes in all its panels."""
    dashed: list[Line2D] = []
    for ax in figure.axes:
        for lines in coinciding(ax.lines):
            _interleave(lines)
            dashed += lines[1:]
    solid = {line.get_label() for ax in figure.axes for line in ax.lines if line not in dashed}
    labels = {line.get_label() for line in dashed} - solid
    for legend in _legends(figure):
        for handle in legend.legend_handles:
            if isinstance(handle, Line2D) and handle.get_label() in labels:
                handle.set_linestyle((0.0, (DASH_LENGTH, DASH_LENGTH)))


def _legends(figure: Figure) -> Iterator[Legend]:
    """Yield the legends of a figure and of its panels, without making ticks."""
    yield from chain.from_iterable(container.legends for container in (figure, *figure.subfigs))
    yield from filter(None, (ax.get_legend() for ax in figure.axes))


def coinciding(lines: Iterable[Line2D]) -> list[list[Line2D]]:
    """Group lines with equal x, and equal y in their second half.

    Single lines, and lines of few points (`MIN_DASHED_POINTS`), are left out.
    """
    groups: dict[bytes, list[Line2D]] = {}
    for line in lines:
        x, y = np.asarray(line.get_data(), float)
        if len(x) >= MIN_DASHED_POINTS and line.get_linestyle() != "None":
            end = np.concatenate([x, y[len(y) // 2 :]]).round(9).tobytes()
            groups.setdefault(end, []).append(line)
    return [group for group in groups.values() if len(group) > 1]


def _interleave(lines: Sequence[Line2D]) -> None:
    for index, line in enumerate(lines):
        line.set_markevery((index, len(lines)))
        if index:
            line.set_linestyle((-DASH_LENGTH * index, (DASH_LENGTH, DASH_LENGTH * (len(lines) - 1))))


def annotate(figure: Figure, data: pd.DataFrame, series: Sequence[Series], sweeps: StoredSweeps) -> None:
    """Write a note on runs and missing series above a figure.

    The figure grows by the note's height.
    """
    if not {"panel", "series", "band"} <= set(data):
        return
    runs = data.loc[data["band"] == "ci", "n"]
    # bootstrap intervals of other numbers than means may stand in some panels
    notes = [f"{CONFIDENCE_PERCENT} % intervals over {_span(runs)} runs"] if len(runs) else []
    numbers = {(str(panel), str(label)): {*n} for (panel, label), n in data.groupby(["panel", "series"])["n"]}
    warnings = [*_differing_runs(numbers, series, sweeps, with_intervals=len(runs) > 0), *_missing(numbers, series)]
    width = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    if text := "\n".join(textwrap.fill(line, width) for line in [*notes, *warnings]):
        figure.set_figheight(figure.get_figheight() + LINE_HEIGHT_INCHES * len(text.splitlines()))
        style = {"fontweight": "bold", "color": palette.DARK_RED} if warnings else {"color": "0.25"}
        figure.suptitle(text, fontsize="medium", **style)


def _span(runs: Collection[int]) -> str:
    return " to ".join(f"{number:,}" for number in sorted({min(runs), max(runs)}))


def _differing_runs(
    numbers: RunNumbers, series: Sequence[Series], sweeps: StoredSweeps, *, with_intervals: bool
) -> Iterator[str]:
    """Yield a line for each required number of runs not met exactly.

    Figures with intervals may have more runs.
    """
    run_numbers: dict[int, set[int]] = {}
    for curve in series:
        if requested_runs := getattr(sweeps[curve.sweep], "requested_runs", 0):
            run_numbers.setdefault(requested_runs, set()).update(numbers.get(curve.key, ()))
    for requested_runs, runs in run_numbers.items():
        if runs and min(runs) < requested_runs:
            yield f"provisional: {_span(runs)} of {requested_runs:,} runs"
        elif runs and max(runs) > requested_runs and not with_intervals:
            yield f"{_span(runs)} runs instead of {requested_runs:,}"


def _missing(numbers: RunNumbers, series: Sequence[Series]) -> Iterator[str]:
    names = []
    for panel, group in groupby(series, key=lambda curve: curve.panel):
        empty = {curve.look.label: curve.key not in numbers for curve in group}
        if absent := [label for label, is_empty in empty.items() if is_empty]:
            text = "everything" if len(absent) == len(empty) > 1 else ", ".join(absent)
            names.append(f"({panel}) {text}" if panel else text)
    if names:
        yield f"missing: {'; '.join(names)}"
