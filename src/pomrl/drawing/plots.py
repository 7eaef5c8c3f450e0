"""Plot stored numbers by task, discount factor or setting."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pomrl.configuration.composed import READING, suggest_key
from pomrl.drawing import palette
from pomrl.drawing.panels import add_shared_legend, blank, draw_curves, finish, grid_of_panels, room
from pomrl.drawing.series import Drawing
from pomrl.drawing.style import COLUMN_WIDTH, MARKERS, TEXT_WIDTH, Look, context, hues, look, shades
from pomrl.results.intervals import BAND_NAMES, Kind, band
from pomrl.results.result import TaskChoice
from pomrl.results.selection import describe_runs
from pomrl.results.summaries import counterparts
from pomrl.results.sweep_results import SweepResults
from pomrl.science.stored_columns import COLUMNS

LABELS = {column.name: column.label for column in COLUMNS}
"""The labels of axes for the columns of stored tables."""

GROUPS_WITH_LOOKS = ("estimator", "gamma_schedule", "planner", "agent", "task_distribution")

AXES = ("task", "gamma")
"""The horizontal axes that are no settings."""

SYMBOLS = {"sigma": "σ", "gamma": "γ", "gamma_eval": "γₑᵥₐₗ", "gamma_0": "γ₀", "alpha": "α", "delta": "δ"}
"""The symbols of settings in the paper, by the last part of the key."""

Titles = Mapping[str, Mapping[Any, str]]
"""The titles of panels by setting and value."""

LINE_STYLES = ("-", "--", ":", "-.")

PANEL_HEIGHT_INCHES = 2.1

MAX_NAME_CHARACTERS = 12
"""The largest length of a line of a category's name below a panel."""

MAX_NOTE_CHARACTERS = 50
"""The largest length of a line above a panel."""

ABSENT = "none"
"""The value of a setting that an experiment's options do not have."""


@dataclass(frozen=True)
class PlotLayout:
    """The settings of curves (`hue`) and panels, by default varying ones."""

    hue: str | None = None
    col: str | None = None
    row: str | None = None

    def settings(self) -> list[str]:
        """Return the assigned settings, without duplicates."""
        return list(dict.fromkeys(key for key in (self.hue, self.col, self.row) if key))


@dataclass(frozen=True)
class PlotOptions:
    """Options for bands, tasks and pairs of runs."""

    kind: Kind = "ci"
    """The kind of bands."""
    tasks: TaskChoice = "all"
    """The tasks to average, unless x is the task."""
    against: Mapping[str, Any] | None = None
    """Settings of a reference method, such as `{"estimator": "pomrl"}`, to subtract in each run."""


def draw(
    results: SweepResults,
    x: str = "task",
    y: str = "planning_loss",
    layout: PlotLayout | None = None,
    options: PlotOptions | None = None,
) -> Drawing:
    """Plot the mean of a number over runs, with bands.

    `x` is `task`, `gamma`, or a setting such as `sigma`. `y` is a column of stored tables (`selection.VALUES`) or a
    metric. Only the first runs that all experiments of a problem have are drawn.

    Returns:
        The figure, and the table of settings, x, mean, lower, upper and n.

    Raises:
        ValueError: Too many settings vary, one is unknown, x and y are equal, tasks are selected although x is task, or
            `against` has no counterparts.
        StoreError: A file is damaged, or an experiment has no such setting or task.
    """
    if options and x == "task" and options.tasks != "all":
        raise ValueError(f"task must be all if x is the task, got {options.tasks}; choose another x, such as gamma")
    options, results = options or PlotOptions(), results.with_common_runs()
    if options.kind not in BAND_NAMES:
        raise ValueError(f"band must be one of {', '.join(BAND_NAMES)}, got {options.kind!r}")
    if x == y:
        raise ValueError(f"x and y must differ, got {y} for both; choose another --x")
    layout = layout or PlotLayout()
    if "seed" not in (x, *layout.settings()):
        results = results.with_pooled_seeds(y)
    _check_settings(layout.settings(), results)
    varying = sorted(results.keys, key=lambda key: not isinstance(results.settings[0].get(key), str))
    layout = _complete(layout, [key for key in varying if key != x])
    axis_columns = [key for key in AXES if key == x]
    frame = _numbers(results, x, y, options.tasks)
    if options.against:
        indices = counterparts(results, options.against)
        frame = _subtract(frame, y, ["run", *axis_columns], indices, options.against)
    keys = list(dict.fromkeys([*layout.settings(), x]))
    for key in (key for key in keys if key not in axis_columns):
        shared = results.setting_values(x, AXES) if key == x else []
        values = shared or [setting.get(key, ABSENT) for setting in results.settings]
        frame[key] = pd.Series([*map(_sortable, values)], dtype=object)[frame["experiment"]].to_numpy()
    data = band(frame, keys, y, options.kind)
    is_text = data[x].map(lambda value: isinstance(value, str)).any()
    looks = _looks(results, layout.hue) if layout.hue else {}
    x_looks = _looks(results, x) if x in GROUPS_WITH_LOOKS else {}
    levels = {value: x_looks[value].label if x_looks else str(value) for value in _sort(data[x])} if is_text else {}
    label = _label(results, x, y, options)
    titles = {key: _labels_of_levels(results, key) for key in (layout.row, layout.col) if key}
    style = _PanelStyle(x, label, layout.hue, options, looks, levels, is_loss=y == "planning_loss")
    with context():
        runs = describe_runs(data["n"], are_common=results.has_only_common_runs)
        return _draw_panels(data, style, layout, titles, f"{_reading(results)}{BAND_NAMES[options.kind]} over {runs}")


def _label(results: SweepResults, x: str, y: str, options: PlotOptions) -> str:
    """Return the label of the vertical axis, with method, discount factor and tasks."""
    number = LABELS.get(y, y.replace("_", " ").capitalize())
    if options.against:
        methods = (labels(results, key).get(value, value) for key, value in options.against.items())
        number = f"{number} minus {', '.join(map(str, methods))}"
    tasks = {"all": "mean over tasks", "first": "task 1", "last": "last task"}.get(
        str(options.tasks), f"task {options.tasks}"
    )
    has_gamma = x != "gamma" and (y == "planning_loss" or y not in LABELS)  # other columns are of the task
    conditions = [*([_gamma(results)] if has_gamma else []), *([tasks] if x != "task" else [])]
    return ", ".join([number, *conditions])


def _gamma(results: SweepResults) -> str:
    """Name the discount factor of all numbers."""
    if any(len(result.gammas) == 1 for result in results.results):
        return "largest or chosen γ"
    largest = {result.gammas[-1] for result in results.results}
    return f"γ = {largest.pop():g}" if len(largest) == 1 else "largest γ"


def _reading(results: SweepResults) -> str:
    """Name the reading of the paper if all experiments have one."""
    readings = {settings.get(READING) for settings in results.settings}
    return f"Reading: {readings.pop()}. " if len(readings) == 1 and None not in readings else ""


def symbol(key: str) -> str:
    """Return the symbol of a setting in the paper, or the key."""
    return SYMBOLS.get(key.rpartition(".")[2], key)


def _numbers(results: SweepResults, x: str, y: str, tasks: TaskChoice) -> pd.DataFrame:
    """Tabulate y by experiment and run, and by task or gamma as x."""
    frames: list[pd.DataFrame] = []
    for index, result in enumerate(results.results):
        if x == "task":
            numbers = result.at_largest_gamma(y)
            levels = np.arange(1, numbers.shape[1] + 1)
        elif x == "gamma":
            numbers, levels = result.over_gammas(y, tasks), result.gammas
        else:
            numbers, levels = result.per_run(y, tasks)[:, None], np.zeros(1)
        runs = np.repeat(np.arange(len(numbers)), len(levels))
        axis = {x: np.tile(levels, len(numbers))} if x in AXES else {}
        frames.append(pd.DataFrame({"run": runs, y: numbers.ravel(), "experiment": index, **axis}))
    return pd.concat(frames, ignore_index=True)


def _check_settings(keys: Sequence[str], results: SweepResults) -> None:
    for key in keys:
        if not any(key in settings for settings in results.settings):
            varying = ", ".join(results.keys) or "none"
            got = f"{key!r}{suggest_key(key, results.keys)}"
            raise ValueError(f"hue, col and row must be settings of the experiments, got {got}; varying: {varying}")


def _complete(layout: PlotLayout, varying: Sequence[str]) -> PlotLayout:
    remaining = [key for key in varying if key not in layout.settings()]
    free = [role.name for role in fields(PlotLayout) if not getattr(layout, role.name)]
    if len(remaining) > len(free):
        raise ValueError(f"too many settings vary: {', '.join(varying)}; fix one, such as {remaining[len(free)]}=...")
    return replace(layout, **dict(zip(free, remaining, strict=False)))


def _sortable(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else str(value)


def _subtract(
    frame: pd.DataFrame, y: str, pair: Sequence[str], counterparts: Mapping[int, int], against: Mapping[str, Any]
) -> pd.DataFrame:
    frame = frame.assign(counterpart=frame["experiment"].map(counterparts))
    methods = frame[["experiment", *pair, y]].rename(columns={"experiment": "counterpart", y: "other"})
    compared = frame.loc[frame["experiment"] != frame["counterpart"]]
    method = ", ".join(f"{key}={value}" for key, value in against.items())
    if compared.empty:
        raise ValueError(
            f"all selected experiments have {method}, the reference method; select others to compare with it"
        )
    pairs = compared.merge(methods, on=["counterpart", *pair])
    if pairs.empty:
        raise ValueError(f"no selected experiment shares a {' and a '.join(pair)} with {method}; choose another --x")
    return pairs.assign(**{y: pairs[y] - pairs["other"]})


def _looks(results: SweepResults, key: str) -> Mapping[Any, Look]:
    options = [_sortable(setting.get(key, ABSENT)) for setting in results.settings]
    if key in GROUPS_WITH_LOOKS:
        pairs = zip(results.stored, options, strict=True)
        return {option: look(str(option), key, stored.look(key, option)) for stored, option in pairs}
    values = _sort(options)
    colors = (shades if all(isinstance(value, int | float) for value in values) else hues)(len(values))
    return {
        value: Look(f"{symbol(key)} = {value}", color, MARKERS[i % len(MARKERS)])
        for i, (value, color) in enumerate(zip(values, colors, strict=True))
    }


def labels(results: SweepResults, key: str) -> Mapping[Any, str]:
    """Map options of a group to labels; empty for groups without looks."""
    return _labels_of_levels(results, key) if key in GROUPS_WITH_LOOKS else {}


def _labels_of_levels(results: SweepResults, key: str) -> Mapping[Any, str]:
    return {value: look.label for value, look in _looks(results, key).items()}


def _sort(values: Any) -> list[Any]:
    return sorted(dict.fromkeys(values), key=lambda value: (isinstance(value, str), value))


@dataclass(frozen=True)
class _PanelStyle:
    x: str
    label: str
    """The label of the vertical axis."""
    hue: str | None
    options: PlotOptions
    looks: Mapping[Any, Look]
    """The look of each value of `hue`."""
    levels: Mapping[Any, str]
    """The categories of x and their names; empty for numbers."""
    is_loss: bool
    """Whether y is a planning loss, at least 0."""

    def draw(self, ax: Axes, rows: pd.DataFrame) -> None:
        looks, labels = [Look("", palette.INDIGO, MARKERS[0])], ""
        if self.hue is not None:
            looks = [  # line styles stay distinct in grey print
                replace(self.looks[value], linestyle=LINE_STYLES[i % len(LINE_STYLES)])
                for i, value in enumerate(_sort(rows[self.hue]))
            ]
            labels = rows[self.hue].map(lambda value: self.looks[value].label)
        points = rows.rename(columns={self.x: "x"}).assign(series=labels, band=self.options.kind, marker=False)
        if self.levels:
            self._draw_bars(ax, points, looks)
        else:
            draw_curves(ax, points.sort_values("x"), looks)

    def _draw_bars(self, ax: Axes, points: pd.DataFrame, looks: Sequence[Look]) -> None:
        for i, level_look in enumerate(looks):
            bars = points[points["series"] == level_look.label]
            x = bars["x"].map(list(self.levels).index) + (i - (len(looks) - 1) / 2) * 0.6 / len(looks)
            ends = bars[["lower", "upper"]].sub(bars["mean"], axis=0).abs().to_numpy().T
            style = {
                "color": level_look.color,
                "marker": level_look.marker,
                "markersize": level_look.size,
                "label": level_look.label,
            }
            ax.errorbar(x, bars["mean"], ends, linestyle="", capsize=2, linewidth=1, **style)

    def finish(self, ax: Axes) -> None:
        if self.options.against:
            ax.axhline(0.0, color="0.3", linewidth=0.7, zorder=1)
        elif self.is_loss:
            ax.set_ylim(bottom=0.0)
        ax.set(xlabel=LABELS.get(self.x, symbol(self.x)), ylabel=textwrap.fill(self.label, 26))
        if names := list(self.levels.values()):
            wrapped = [textwrap.fill(name, MAX_NAME_CHARACTERS) for name in names]
            longest = max(len(line) for name in wrapped for line in name.splitlines())
            is_wide = len(names) * (longest + 1) > room(ax)
            turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if is_wide else {}
            ax.set_xticks(range(len(names)), wrapped, **turned)
            ax.set_xlim(-0.5, len(names) - 0.5)
        elif self.x == "task":
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.label_outer()


def _draw_panels(data: pd.DataFrame, style: _PanelStyle, layout: PlotLayout, titles: Titles, note: str) -> Drawing:
    rows, cols = (_sort(data[key]) if key else [None] for key in (layout.row, layout.col))
    figure = blank(COLUMN_WIDTH if len(cols) == 1 else TEXT_WIDTH, PANEL_HEIGHT_INCHES * len(rows) + 0.3)
    panels = grid_of_panels(figure, len(rows), len(cols), share_y=True)
    for (i, row), (j, col) in ((r, c) for r in enumerate(rows) for c in enumerate(cols)):
        settings = {key: value for key, value in ((layout.row, row), (layout.col, col)) if key}
        points = data
        for key, value in settings.items():  # values may be numbers or text
            points = points.loc[[cell == value for cell in points[key]]]
        if not points.empty:
            style.draw(panels[i][j], points)
        panels[i][j].set_title("\n".join(titles[key][value] for key, value in settings.items()), loc="left")
    axes = [ax for row in panels for ax in row]
    for ax in axes:
        style.finish(ax)
    if layout.hue:
        add_shared_legend(figure, axes)
    figure.suptitle(textwrap.fill(note, MAX_NOTE_CHARACTERS * len(cols)), fontsize="medium", color="0.25")
    return finish(figure, data)
