"""Plots of one's own sweeps: any stored number against tasks, discount factors or a setting, by seaborn's relplot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.special import stdtrit

from pomrl.drawing.drawing import Drawing
from pomrl.drawing.style import BAND_OPACITY, context, look
from pomrl.results.chosen_runs import Chosen, Tasks, per_run
from pomrl.results.statistics import Kind, band

LABELS = {
    "task": "Task t",
    "gamma": "Discount factor γ",
    "planning_loss": "Planning loss",
    "alpha": "Mixing rate α",
    "sigma_hat": "Similarity σ",
    "model_error": "Largest error of the model",
}
"""What axes say for the columns of stored tables; a setting is named by its key."""

BANDS = {"ci": "95 % intervals of the mean", "se": "standard errors", "sd": "standard deviations over runs"}

LOOKING = ("estimator", "gamma_schedule", "planner", "agent", "task_distribution")
"""Groups whose options have looks."""

WIDTH, HEIGHT = 2.6, 2.2
"""The size of a panel in inches."""

NOTE = 0.22
"""The height of the line above the panels, in inches."""


@dataclass(frozen=True)
class Roles:
    """The settings by which curves are told apart; one that is left out is chosen from those that vary."""

    hue: str | None = None
    col: str | None = None
    row: str | None = None
    style: str | None = None

    def used(self) -> list[str]:
        """Return the settings that have a role."""
        return [key for key in (self.hue, self.col, self.row, self.style) if key]


def draw(
    chosen: Chosen,
    x: str = "task",
    y: str = "planning_loss",
    roles: Roles | None = None,
    kind: Kind = "ci",
    tasks: Tasks = "all",
) -> Drawing:
    """Draw means over runs, with a band, of the experiments that were chosen.

    Args:
        chosen: The experiments.
        x: `task`, `gamma`, or a setting, such as `sigma` or `estimator.sigma_1`.
        y: A column of stored tables, one of `chosen_runs.VALUES`, or a metric.
        roles: The settings that tell curves apart.
        kind: What the bands are.
        tasks: The tasks that are averaged, unless x is `task`.

    Returns:
        The figure, and a table of what it draws: the settings, x, mean, lower, upper and n.

    Raises:
        ValueError: The experiments differ in a setting that has no role, so that a curve would mix them.
        StoreError: A file is damaged, or an experiment has no such setting or task.
    """
    varying = [key for key in chosen.varying if key != x]
    varying.sort(key=lambda key: not isinstance(chosen.settings[0].get(key), str))  # colours are for methods
    roles = _completed(roles or Roles(), varying)
    by = x if x in ("task", "gamma") else None
    frame = per_run(chosen, y, by, tasks)
    keys = [*roles.used(), *([] if by else [x])]
    for key in dict.fromkeys(keys):
        frame[key] = pd.Series(chosen.described(key))[frame["experiment"]].map(_plain).to_numpy()
    data = band(frame, list(dict.fromkeys([*roles.used(), x])), y, kind)
    with context():
        figure = _relplot(frame, x, y, roles, kind, _studies(chosen, roles.hue)).figure
        _note(figure, f"Mean of {chosen.runs} runs; {BANDS[kind]}")
    plt.close(figure)  # it belongs to whoever asked for it
    return Drawing(figure, data)


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
    """Return a value as something that seaborn can sort: a list as text."""
    return value if isinstance(value, int | float | str) else str(value)


def _studies(chosen: Chosen, group: str | None) -> Mapping[str, str]:
    """Return the name of the package that each option of a group comes from, which may be a study of one's own."""
    if group not in LOOKING:
        return {}
    packages = [stored.settings()[group]["_target_"].partition(".")[0] for stored in chosen.stored]
    return dict(zip(map(str, chosen.described(group)), packages, strict=True))


def _relplot(
    frame: pd.DataFrame, x: str, y: str, roles: Roles, kind: Kind, studies: Mapping[str, str]
) -> sns.FacetGrid:
    of_roles: dict[str, Any] = {role.name: getattr(roles, role.name) for role in fields(Roles)}
    words = frame.astype(dict.fromkeys(roles.used(), str))
    order: dict[str, Any] = {
        f"{name}_order": [str(value) for value in sorted(frame[key].unique(), key=_sorting)]
        for name, key in of_roles.items()
        if key
    }
    palette = _palette(roles.hue, order["hue_order"], studies) if roles.hue else None
    grid: sns.FacetGrid = sns.relplot(
        words, x=x, y=y, kind="line", errorbar=_error_bar(kind), palette=palette, height=HEIGHT,
        aspect=WIDTH / HEIGHT, err_kws={"alpha": BAND_OPACITY}, **of_roles, **order,
    )  # fmt: skip
    grid.set_axis_labels(LABELS.get(x, x), LABELS.get(y, y.replace("_", " ").capitalize()))
    for ax in grid.axes.flat:
        ax.title.set_text(ax.get_title().replace(" | ", ", "))
        if x == "task":
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if y == "planning_loss":
            ax.set_ylim(bottom=0.0)
    return grid


def _note(figure: Figure, text: str) -> None:
    """Write a line above the panels of a figure, which gains its height."""
    height, top = figure.get_figheight(), figure.subplotpars.top
    figure.set_figheight(height + NOTE)
    figure.subplots_adjust(top=top * height / (height + NOTE))
    figure.suptitle(text, y=0.99, va="top", fontsize="medium", color="0.25")


def _sorting(value: Any) -> tuple[bool, Any]:
    return isinstance(value, str), value


def _palette(key: str, values: Sequence[str], studies: Mapping[str, str]) -> Mapping[str, Any]:
    """Return a colour for each value of a setting: those of the looks of options, or a sequence for numbers."""
    if key in LOOKING:
        return {value: look(value, key, studies[value]).color for value in values}
    numbers = all(value.replace(".", "", 1).replace("e-", "", 1).isdigit() for value in values)
    colors = sns.color_palette("mako_r" if numbers else "colorblind", len(values))
    return dict(zip(values, colors, strict=True))


def _error_bar(kind: Kind) -> Callable[[pd.Series], tuple[float, float]]:
    """Return the function that makes the band which `results.statistics.band` writes into the table."""

    def ends(sample: pd.Series) -> tuple[float, float]:
        n = len(sample)
        half = sample.std() * {"sd": 1.0, "se": n**-0.5, "ci": n**-0.5 * stdtrit(max(n - 1.0, 1.0), 0.975)}[kind]
        return sample.mean() - half, sample.mean() + half

    return ends
