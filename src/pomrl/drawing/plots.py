"""Plots of one's own sweeps: any stored number over runs, by tasks, discount factors or settings, and in pairs."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pomrl.drawing.drawing import Drawing
from pomrl.drawing.notes import CHARACTERS_PER_INCH
from pomrl.drawing.panels import blank, curve, finish, grid_of_panels, shared_legend
from pomrl.drawing.style import COLUMN_WIDTH, MARKERS, TEXT_WIDTH, Look, context, hues, look, shades
from pomrl.results.chosen_runs import Chosen, Tasks, per_run
from pomrl.results.statistics import Kind, band
from pomrl.results.summaries import probability_of_improvement
from pomrl.results.summary_tables import counterparts

LABELS = {
    "task": "Task t",
    "gamma": "Discount factor γ",
    "planning_loss": "Planning loss",
    "alpha": "Mixing rate α",
    "sigma_hat": "Similarity σ",
    "model_error": "Largest error of the model",
}
"""What axes say for the columns of stored tables; a setting is named by its key."""

BANDS = {"ci": "95 % intervals of the mean", "se": "standard errors", "sd": "standard deviations"}

LOOKING = ("estimator", "gamma_schedule", "planner", "agent", "task_distribution")
"""Groups whose options have looks."""

Shape = Literal["mean", "violin", "profile", "improvement"]
"""What is shown of runs: their mean with a band, their distribution as a violin, the share of them below each number
(a performance profile), or the probability that a run is below that of another method. The last two are those of
Agarwal et al. (2021)."""

SHAPES: tuple[Shape, ...] = get_args(Shape)

LINES = ("-", "--", ":", "-.")

HEIGHT = 2.1
"""The height of a panel in inches."""

MOST_BESIDE = 5
"""The most names of categories that fit beside each other beneath a panel."""

LEVELS = 101
"""The number of places at which a performance profile is drawn."""

ABSENT = "none"
"""What stands for a setting that the options of an experiment do not have."""


@dataclass(frozen=True)
class Roles:
    """The settings by which curves are told apart; one that is left out is chosen from those that vary."""

    hue: str | None = None
    col: str | None = None
    row: str | None = None
    style: str | None = None

    def used(self) -> list[str]:
        """Return the settings that have a role, each once."""
        return list(dict.fromkeys(key for key in (self.hue, self.col, self.row, self.style) if key))


@dataclass(frozen=True)
class Shown:
    """What a plot shows of runs."""

    shape: Shape = "mean"
    kind: Kind = "ci"
    """What the bands of means are."""
    tasks: Tasks = "all"
    """The tasks that are averaged, unless they are told apart."""
    against: Mapping[str, Any] | None = None
    """Settings of a method, such as `{"estimator": "pomrl"}`, whose number is subtracted in each run."""


def draw(
    chosen: Chosen,
    x: str | None = None,
    y: str = "planning_loss",
    roles: Roles | None = None,
    shown: Shown | None = None,
) -> Drawing:
    """Draw a number over the runs of the experiments that were chosen.

    Args:
        chosen: The experiments.
        x: `task`, `gamma`, or a setting, such as `sigma` or `estimator`. By default it is the task for means, and for
            other shapes the first setting in which the experiments differ. A profile is over the number itself.
        y: A column of stored tables, one of `chosen_runs.VALUES`, or a metric.
        roles: The settings that tell curves apart.
        shown: What is shown of the runs; by default their means with 95 % intervals.

    Returns:
        The figure, and a table of what it draws: the settings, x, mean, lower, upper and n; the numbers of the runs
        where the shape is a violin.

    Raises:
        ValueError: The experiments differ in a setting that has no role, so that a curve would mix them; or they have
            no counterparts in `against`, which the shape `improvement` needs.
        StoreError: A file is damaged, or an experiment has no such setting or task.
    """
    shown = shown or Shown()
    shape, kind, against = shown.shape, shown.kind, shown.against
    if shape == "improvement" and not against:
        raise ValueError("improvement is one over another method, such as --against estimator=pomrl")
    varying = sorted(chosen.varying, key=lambda key: not isinstance(chosen.settings[0].get(key), str))
    x = _axis(x, y, varying, shape)
    roles = _completed(roles or Roles(), [key for key in varying if key != x])
    by = x if x in ("task", "gamma") else None
    frame = per_run(chosen, y, by, shown.tasks)
    if against:
        frame = _paired(frame, y, ["run", *([by] if by else [])], counterparts(chosen, against))
    settings = [*roles.used(), *([x] if x not in (by, y) else [])]
    for key in dict.fromkeys(settings):
        values = chosen.described(key) if key == x else [each.get(key, ABSENT) for each in chosen.settings]
        frame[key] = pd.Series([_plain(value) for value in values], dtype=object)[frame["experiment"]].to_numpy()
    data = _numbers(frame, [*roles.used(), x], y, kind, shape)
    numbers = _Axes(x, y, ", ".join(map(str, against.values())) if against else "", shape)
    with context():
        return _drawn(data, numbers, roles, _looks(chosen, roles, x), _note(shape, kind, chosen.runs))


def _axis(x: str | None, y: str, varying: Sequence[str], shape: Shape) -> str:
    if shape == "profile":
        if x not in (None, y):
            raise ValueError(f"a profile is over {y} itself, and not over {x}")
        return y
    if x == y:
        raise ValueError(f"{y} against itself says nothing; --x names another axis")
    return x or ("task" if shape == "mean" or not varying else varying[0])


def _note(shape: Shape, kind: Kind, runs: int) -> str:
    of_shape = {"mean": f"{BANDS[kind][0].upper()}{BANDS[kind][1:]}", "violin": "Distributions with quartiles"}
    return f"{of_shape.get(shape, '95 % intervals')} over {runs} runs"


def _completed(roles: Roles, varying: Sequence[str]) -> Roles:
    """Return the roles with the settings that vary and have none, each in the first role that is free."""
    left = [key for key in varying if key not in roles.used()]
    chosen = {role.name: getattr(roles, role.name) for role in fields(Roles)}
    for name in chosen:
        if left and not chosen[name]:
            chosen[name] = left.pop(0)
    if left:
        raise ValueError(
            f"the experiments differ in {', '.join(varying)}, too many to tell apart; choose a value, such as "
            f"{left[0]}=..."
        )
    return Roles(**chosen)


def _plain(value: Any) -> Any:
    """Return a value as something that can be sorted: a list as text."""
    return value if isinstance(value, int | float | str) else str(value)


def _paired(frame: pd.DataFrame, y: str, pair: Sequence[str], places: Mapping[int, int]) -> pd.DataFrame:
    """Return the numbers of runs less those of their counterparts, which the column `other` has."""
    frame = frame.assign(counterpart=frame["experiment"].map(places))
    others = frame[["experiment", *pair, y]].rename(columns={"experiment": "counterpart", y: "other"})
    both = frame.loc[frame["experiment"] != frame["counterpart"]].merge(others, on=["counterpart", *pair])
    if both.empty:
        raise ValueError("all of these experiments are of the method that they are to be compared with")
    return both.assign(**{y: both[y] - both["other"]})


def _numbers(frame: pd.DataFrame, keys: Sequence[str], y: str, kind: Kind, shape: Shape) -> pd.DataFrame:
    """Return the table of what is drawn."""
    keys = list(dict.fromkeys(keys))
    if shape == "mean":
        return band(frame, keys, y, kind)
    if shape == "violin":
        return frame[[*keys, "run", y]]
    if shape == "profile":
        levels = np.linspace(frame[y].min(), frame[y].max(), LEVELS)
        settings = [key for key in keys if key != y]
        groups = frame.groupby(settings, sort=True)[y] if settings else [((), frame[y])]
        parts = [(*name, level, of - level) for name, of in groups for level in levels]
        keys = [*settings, y]
    else:
        parts = [(*name, of) for name, of in frame.groupby(keys, sort=True)[y]]
    of_parts = [
        probability_of_improvement(np.zeros(len(part[-1])), np.asarray(part[-1])) for part in parts
    ]  # ties are half below
    table = pd.DataFrame([part[:-1] for part in parts], columns=keys)
    ends = {end: [getattr(each, end) for each in of_parts] for end in ("lower", "upper")}
    return table.assign(mean=[each.estimate for each in of_parts], **ends, n=[len(part[-1]) for part in parts])


@dataclass(frozen=True)
class _Axes:
    """What the axes of all panels show."""

    x: str
    y: str
    other: str
    """The method that is subtracted; empty if there is none."""
    shape: Shape

    @property
    def number(self) -> str:
        """The number that is shown, in words."""
        name = LABELS.get(self.y, self.y.replace("_", " ").capitalize())
        if not self.other:
            return name
        return (
            f"P({name[0].lower()}{name[1:]} below {self.other})"
            if self.shape == "improvement"
            else (f"{name} less that of {self.other}")
        )

    def finish(self, ax: Axes, order: Sequence[Any]) -> None:
        """Label the axes of a panel and set their ticks and limits; the order is that of categories, if x has them."""
        is_profile = self.shape == "profile"
        ax.set_xlabel(self.number if is_profile else LABELS.get(self.x, self.x))
        ax.set_ylabel("Share of runs below" if is_profile else textwrap.fill(self.number, 26))
        if self.x == "task" and not order:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if order:
            names = [look(str(value), self.x).label if self.x in LOOKING else str(value) for value in order]
            turned = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if len(order) > MOST_BESIDE else {}
            ax.set_xticks(range(len(order)), [textwrap.fill(name, 12) for name in names], **turned)
            ax.set_xlim(-0.5, len(order) - 0.5)
        if is_profile or self.shape == "improvement":
            ax.set_ylim(-0.03, 1.03)
        elif self.y == "planning_loss" and not self.other:
            ax.set_ylim(bottom=0.0)
        if self.other and not is_profile:
            ax.axhline(0.5 * (self.shape == "improvement"), color="0.3", linewidth=0.7, zorder=1)


def _looks(chosen: Chosen, roles: Roles, x: str) -> Mapping[str, Mapping[Any, Look]]:
    """Return how each value of each setting is drawn: options as everywhere, numbers from light to dark."""
    looks: dict[str, Mapping[Any, Look]] = {}
    for key in (key for key in (*roles.used(), x) if key not in ("task", "gamma")):
        described = [_plain(each.get(key, ABSENT)) for each in chosen.settings]
        values = _sorted(described)
        if key in LOOKING:
            packages = [stored.settings()[key]["_target_"].partition(".")[0] for stored in chosen.stored]
            named = dict(zip(described, packages, strict=True))
            looks[key] = {value: look(str(value), key, named[value]) for value in values}
            continue
        numbers = all(isinstance(value, int | float) for value in values)
        colors = shades(len(values)) if numbers else hues(len(values))
        looks[key] = {
            value: Look(f"{key} = {value}", color, MARKERS[i % len(MARKERS)])
            for i, (value, color) in enumerate(zip(values, colors, strict=True))
        }
    return looks


def _sorted(values: Sequence[Any]) -> list[Any]:
    return sorted(dict.fromkeys(values), key=lambda value: (isinstance(value, str), value))


def _series(
    data: pd.DataFrame, roles: Roles, looks: Mapping[str, Mapping[Any, Look]]
) -> Iterator[tuple[pd.DataFrame, Look]]:
    """Yield the rows of each series of a panel, and how it is drawn."""
    hue_values = _sorted(data[roles.hue].tolist()) if roles.hue else [None]
    for at, hue in enumerate(hue_values):
        of_hue = data.loc[data[roles.hue] == hue] if roles.hue else data
        one = looks[roles.hue][hue] if roles.hue else Look("", "#332288", MARKERS[0])
        if not roles.style or roles.style == roles.hue:
            yield of_hue, replace(one, linestyle=LINES[at % len(LINES)])  # which grey print keeps apart
            continue
        for place, (style, of_style) in enumerate(looks[roles.style].items()):
            rows = of_hue.loc[of_hue[roles.style] == style]
            label = ", ".join(filter(None, (one.label, of_style.label)))
            yield rows, replace(one, label=label, linestyle=LINES[place % len(LINES)], marker=of_style.marker)


def _drawn(
    data: pd.DataFrame, axes: _Axes, roles: Roles, looks: Mapping[str, Mapping[Any, Look]], note: str
) -> Drawing:
    """Draw a panel for each value of the settings of rows and columns, and the legend and the note."""
    rows, cols = (_sorted(data[key].tolist()) if key else [None] for key in (roles.row, roles.col))
    is_text = axes.shape == "violin" or data[axes.x].map(lambda value: isinstance(value, str)).any()
    order = _sorted(data[axes.x].tolist()) if is_text and axes.shape != "profile" else []
    figure = blank(COLUMN_WIDTH if len(cols) == 1 else TEXT_WIDTH, HEIGHT * len(rows) + 0.3)
    panels = grid_of_panels(figure, len(rows), len(cols), share_y=True)
    for (i, row), (j, col) in ((r, c) for r in enumerate(rows) for c in enumerate(cols)):
        ax, part = panels[i][j], data
        for key, value in ((roles.row, row), (roles.col, col)):
            part = part.loc[part[key] == value] if key else part
        if axes.shape == "violin":
            _violins(ax, part, axes, order, roles, looks)
        else:
            _curves(ax, axes, order, list(_series(part, roles, looks)))
        titles = [f"{key} = {value}" for key, value in ((roles.row, row), (roles.col, col)) if key]
        ax.set_title("\n".join(titles), loc="left")
    every = [ax for of_row in panels for ax in of_row]
    for ax in every:
        axes.finish(ax, order)
        ax.label_outer()
    labels = [str(label) for ax in every for label in ax.get_legend_handles_labels()[1]]
    if labels:
        room = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
        shared_legend(figure, every, columns=max(1, room // (max(map(len, labels)) + 6)))
    figure.suptitle(note, fontsize="medium", color="0.25")
    return finish(figure, data)


def _curves(ax: Axes, axes: _Axes, order: Sequence[Any], series: Sequence[tuple[pd.DataFrame, Look]]) -> None:
    """Draw a line with a band for each series, or points with error bars, side by side, where x has categories."""
    for place, (rows, one) in enumerate(series):
        points = rows.rename(columns={axes.x: "x"}).assign(marker=False)
        if axes.shape == "profile":
            one = replace(one, marker="")
        if not order:
            curve(ax, points.sort_values("x"), one)
            continue
        where = points["x"].map(list(order).index) + (place - (len(series) - 1) / 2) * 0.6 / len(series)
        ends = points[["lower", "upper"]].sub(points["mean"], axis=0).abs().to_numpy().T
        style = {"color": one.color, "marker": one.marker, "markersize": one.size, "label": one.label}
        ax.errorbar(where, points["mean"], ends, linestyle="", capsize=2, linewidth=1, **style)


def _violins(
    ax: Axes,
    data: pd.DataFrame,
    axes: _Axes,
    order: Sequence[Any],
    roles: Roles,
    looks: Mapping[str, Mapping[Any, Look]],
) -> None:
    """Draw the distribution over runs at each value of x, with its quartiles."""
    if roles.style:
        raise ValueError(f"violins have no kinds of line for {roles.style}; choose a value, such as {roles.style}=...")
    from seaborn import violinplot  # here, because it takes long to load

    hue = roles.hue or axes.x
    of_hue = looks.get(hue, {})
    palette = {value: each.color for value, each in of_hue.items()} or None
    hue_order = [value for value in of_hue if value in set(data[hue])] or None
    violinplot(
        data, x=axes.x, y=axes.y, hue=hue, order=list(order), hue_order=hue_order, palette=palette, cut=0, ax=ax,
        inner="quart", density_norm="width", linewidth=0.6, legend=bool(roles.hue),
    )  # fmt: skip
    for handle in ax.get_legend_handles_labels()[0]:
        handle.set_label(next(one.label for value, one in of_hue.items() if str(value) == handle.get_label()))
    if (legend := ax.get_legend()) is not None:
        legend.remove()
