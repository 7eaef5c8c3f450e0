"""Plots of one's own sweeps: any stored number over runs, by tasks, discount factors or settings, and in pairs."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pomrl.drawing.panels import add_shared_legend, blank, draw_curves, finish, grid_of_panels
from pomrl.drawing.series import Drawing
from pomrl.drawing.style import COLUMN_WIDTH, MARKERS, TEXT_WIDTH, Look, context, hues, look, shades
from pomrl.results.intervals import BAND_NAMES, Kind, band
from pomrl.results.result import TaskChoice
from pomrl.results.selection import runs_in_words
from pomrl.results.summaries import counterparts
from pomrl.results.sweep_results import SweepResults
from pomrl.science.loss_tables import COLUMNS

LABELS = {column.name: column.label for column in COLUMNS}
"""What axes say for the columns of stored tables; a setting is named by its key."""

GROUPS_WITH_LOOKS = ("estimator", "gamma_schedule", "planner", "agent", "task_distribution")
"""Groups whose options have looks."""

LINE_STYLES = ("-", "--", ":", "-.")

PANEL_HEIGHT_INCHES = 2.1
"""The height of a panel."""

MAX_LEVEL_NAMES = 5
"""The most names of categories that fit beside each other beneath a panel."""

ABSENT = "none"
"""What stands for a setting that the options of an experiment do not have."""


@dataclass(frozen=True)
class PlotLayout:
    """The settings by which curves are told apart; one that is left out is chosen from those that vary."""

    hue: str | None = None
    col: str | None = None
    row: str | None = None

    def settings(self) -> list[str]:
        """Return the settings that have a role, each once."""
        return list(dict.fromkeys(key for key in (self.hue, self.col, self.row) if key))


@dataclass(frozen=True)
class PlotOptions:
    """What a plot shows of runs."""

    kind: Kind = "ci"
    """What the bands are."""
    tasks: TaskChoice = "all"
    """The tasks that are averaged, unless they are told apart."""
    against: Mapping[str, Any] | None = None
    """Settings of a method, such as `{"estimator": "pomrl"}`, whose number is subtracted in each run."""


def draw(
    results: SweepResults,
    x: str = "task",
    y: str = "planning_loss",
    layout: PlotLayout | None = None,
    options: PlotOptions | None = None,
) -> Drawing:
    """Draw a number over the runs of selected experiments.

    Args:
        results: The experiments.
        x: `task`, `gamma`, or a setting, such as `sigma` or `estimator`.
        y: A column of stored tables, one of `selection.VALUES`, or a metric.
        layout: The settings that tell curves apart.
        options: What is shown of the runs; by default means with intervals.

    Returns:
        The figure, and the table of settings, x, mean, lower, upper and n.

    Raises:
        ValueError: Experiments differ in a setting without a role, or have no counterparts in `against`.
        StoreError: A file is damaged, or an experiment has no such setting or task.
    """
    options = options or PlotOptions()
    varying = sorted(results.keys, key=lambda key: not isinstance(results.settings[0].get(key), str))
    if x == y:
        raise ValueError(f"{y} against itself says nothing; --x names another axis")
    layout = _complete(layout or PlotLayout(), [key for key in varying if key != x])
    by = [key for key in ("task", "gamma") if key == x]
    frame = _numbers(results, x, y, options.tasks)
    if options.against:
        frame = _pair(frame, y, ["run", *by], counterparts(results, options.against))
    keys = list(dict.fromkeys([*layout.settings(), x]))
    for key in (key for key in keys if key not in by):
        values = results.values_of(key) if key == x else [setting.get(key, ABSENT) for setting in results.settings]
        frame[key] = pd.Series([*map(_plain, values)], dtype=object)[frame["experiment"]].to_numpy()
    data = band(frame, keys, y, options.kind)
    is_text = data[x].map(lambda value: isinstance(value, str)).any()
    looks, of_x = (_looks(results, key) if key else {} for key in (layout.hue, x if x in GROUPS_WITH_LOOKS else None))
    order = {value: of_x[value].label if of_x else str(value) for value in _sort(data[x])} if is_text else {}
    of_panels = _Panels(x, y, layout.hue, options.against, looks, order)
    with context():
        return _draw_panels(data, of_panels, layout, f"{BAND_NAMES[options.kind]} over {runs_in_words(data['n'])}")


def _numbers(results: SweepResults, x: str, y: str, tasks: TaskChoice) -> pd.DataFrame:
    """Return a number for each run of each experiment, and for each task or discount factor if x is one.

    Where discount factors are not told apart, it is the number at the largest, or at the one that was chosen.
    """
    parts: list[dict[str, Any]] = []
    for place, result in enumerate(results.results):
        if x == "task":
            numbers = result.at_largest_gamma(y)
            names = np.arange(1, numbers.shape[1] + 1)
        elif x == "gamma":
            numbers, names = result.over_gammas(y, tasks), result.gammas
        else:
            numbers, names = result.per_run(y, tasks)[:, None], np.zeros(1)
        runs = np.repeat(np.arange(len(numbers)), len(names))
        columns = {"run": runs, y: numbers.ravel(), "experiment": np.full(numbers.size, place)}
        parts.append({**columns, x: np.tile(names, len(numbers))} if x in ("task", "gamma") else columns)
    return pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _complete(layout: PlotLayout, varying: Sequence[str]) -> PlotLayout:
    """Return the layout with the settings that vary and have none, each in the first role that is free."""
    left = [key for key in varying if key not in layout.settings()]
    free = [role.name for role in fields(PlotLayout) if not getattr(layout, role.name)]
    if len(left) > len(free):
        raise ValueError(
            f"the experiments differ in {', '.join(varying)}, too many to tell apart; choose a value, such as "
            f"{left[len(free)]}=..."
        )
    return replace(layout, **dict(zip(free, left, strict=False)))


def _plain(value: Any) -> Any:
    """Return a value as something that can be sorted: a list as text."""
    return value if isinstance(value, int | float | str) else str(value)


def _pair(frame: pd.DataFrame, y: str, pair: Sequence[str], places: Mapping[int, int]) -> pd.DataFrame:
    """Return the numbers of runs less those of their counterparts."""
    frame = frame.assign(counterpart=frame["experiment"].map(places))
    others = frame[["experiment", *pair, y]].rename(columns={"experiment": "counterpart", y: "other"})
    both = frame.loc[frame["experiment"] != frame["counterpart"]].merge(others, on=["counterpart", *pair])
    if both.empty:
        raise ValueError("all of these experiments are of the method that they are to be compared with")
    return both.assign(**{y: both[y] - both["other"]})


def _looks(results: SweepResults, key: str) -> Mapping[Any, Look]:
    """Return how each value of a setting is drawn: options as everywhere, numbers from light to dark."""
    described = [_plain(setting.get(key, ABSENT)) for setting in results.settings]
    if key in GROUPS_WITH_LOOKS:
        said = [stored.look(key, value) for stored, value in zip(results.stored, described, strict=True)]
        return {value: look(str(value), key, one) for value, one in zip(described, said, strict=True)}
    values = _sort(described)
    numbers = all(isinstance(value, int | float) for value in values)
    colors = shades(len(values)) if numbers else hues(len(values))
    return {
        value: Look(f"{key} = {value}", color, MARKERS[i % len(MARKERS)])
        for i, (value, color) in enumerate(zip(values, colors, strict=True))
    }


def labels(results: SweepResults, key: str) -> Mapping[Any, str]:
    """Return the labels of the values of a setting that legends name; none for numbers and other settings."""
    return {value: look.label for value, look in _looks(results, key).items()} if key in GROUPS_WITH_LOOKS else {}


def _sort(values: Any) -> list[Any]:
    return sorted(dict.fromkeys(values), key=lambda value: (isinstance(value, str), value))


@dataclass(frozen=True)
class _Panels:
    """What all panels of a plot have in common."""

    x: str
    y: str
    hue: str | None
    against: Mapping[str, Any] | None
    looks: Mapping[Any, Look]
    """How the values of the setting for colours are drawn."""
    order: Mapping[Any, str]
    """The categories of x and their names; empty where x has numbers."""

    def draw(self, ax: Axes, rows: pd.DataFrame) -> None:
        """Draw the rows of a panel: a curve, or points, for each value of the setting for colours."""
        if self.hue is None:
            looks, labels = [Look("", "#332288", MARKERS[0])], ""
        else:
            values = _sort(rows[self.hue])  # with lines that grey print keeps apart
            looks = [
                replace(self.looks[value], linestyle=LINE_STYLES[at % len(LINE_STYLES)])
                for at, value in enumerate(values)
            ]
            labels = rows[self.hue].map(lambda value: self.looks[value].label)
        points = rows.rename(columns={self.x: "x"}).assign(series=labels, marker=False)
        if self.order:
            self._draw_bars(ax, points, looks)
        else:
            draw_curves(ax, points.sort_values("x"), looks)

    def _draw_bars(self, ax: Axes, points: pd.DataFrame, looks: Sequence[Look]) -> None:
        """Draw points with error bars, those of one category beside each other."""
        for at, one in enumerate(looks):
            of = points[points["series"] == one.label]
            where = of["x"].map(list(self.order).index) + (at - (len(looks) - 1) / 2) * 0.6 / len(looks)
            ends = of[["lower", "upper"]].sub(of["mean"], axis=0).abs().to_numpy().T
            style = {"color": one.color, "marker": one.marker, "markersize": one.size, "label": one.label}
            ax.errorbar(where, of["mean"], ends, linestyle="", capsize=2, linewidth=1, **style)

    def finish(self, ax: Axes) -> None:
        """Label the axes of a panel and set their ticks and limits."""
        number = LABELS.get(self.y, self.y.replace("_", " ").capitalize())
        if self.against:
            number = f"{number} less that of {', '.join(map(str, self.against.values()))}"
            ax.axhline(0.0, color="0.3", linewidth=0.7, zorder=1)
        elif self.y == "planning_loss":
            ax.set_ylim(bottom=0.0)
        ax.set(xlabel=LABELS.get(self.x, self.x), ylabel=textwrap.fill(number, 26))
        if self.order:
            names = list(self.order.values())
            turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if len(names) > MAX_LEVEL_NAMES else {}
            ax.set_xticks(range(len(names)), [textwrap.fill(name, 12) for name in names], **turned)
            ax.set_xlim(-0.5, len(names) - 0.5)
        elif self.x == "task":
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.label_outer()


def _draw_panels(data: pd.DataFrame, of_panels: _Panels, layout: PlotLayout, note: str) -> Drawing:
    """Draw a panel for each value of the settings of rows and columns, and the legend and the note."""
    rows, cols = (_sort(data[key]) if key else [None] for key in (layout.row, layout.col))
    figure = blank(COLUMN_WIDTH if len(cols) == 1 else TEXT_WIDTH, PANEL_HEIGHT_INCHES * len(rows) + 0.3)
    panels = grid_of_panels(figure, len(rows), len(cols), share_y=True)
    for (i, row), (j, col) in ((r, c) for r in enumerate(rows) for c in enumerate(cols)):
        of_panel = {key: value for key, value in ((layout.row, row), (layout.col, col)) if key}
        part = data
        for key, value in of_panel.items():  # of which some may be numbers and others text
            part = part.loc[[cell == value for cell in part[key]]]
        if not part.empty:
            of_panels.draw(panels[i][j], part)
        panels[i][j].set_title("\n".join(f"{key} = {value}" for key, value in of_panel.items()), loc="left")
    every = [ax for of_row in panels for ax in of_row]
    for ax in every:
        of_panels.finish(ax)
    if layout.hue:
        add_shared_legend(figure, every)
    figure.suptitle(note, fontsize="medium", color="0.25")
    return finish(figure, data)
