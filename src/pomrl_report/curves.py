"""Prepare the interactive curves: loss against gamma by task.

A curve is the mean over the fewest runs in any figure. The choices of schedules are marked on curves of the same
problem, estimator and runs.
"""

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from pomrl import store
from pomrl.drawing.style import Look, hues, look
from pomrl.results.intervals import half_width
from pomrl.results.sweep_results import Origin
from pomrl.science.gamma_star import best_index, hindsight_index
from pomrl_report.provenance import ShownExperiment, stored_experiments

DIGITS = 4
"""Digits after the decimal point; intervals are a hundred times wider."""

UNIT = 10.0**-DIGITS
"""The unit of means and half widths, stored as whole numbers to save a third of the bytes."""

DISTRIBUTION = "task_distribution"
"""The group that defines the similarity of tasks if `sigma` is null."""

_NO_VARIANT = {"sigma", "S", "m", "T", "batches", "estimator", "gamma_schedule"}
"""Settings that make no variant of a method: the problem, the estimator and the schedule."""


@dataclass(frozen=True, eq=False)
class _Member:
    sweep: str
    source: Origin
    stored: store.StoredExperiment

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings, with options named as in the sweep."""
        return {**self.stored.flat_settings(), **self.source.settings}

    @cached_property
    def problem_and_estimator(self) -> str:
        settings = {
            key: value for key, value in self.stored.read_manifest().settings.items() if key != "gamma_schedule"
        }
        return json.dumps(settings, sort_keys=True)

    @property
    def is_grid(self) -> bool:
        """Return whether losses of a grid of gammas are stored."""
        return "gamma_schedule.gammas" in self.settings

    def look(self, group: str = "estimator") -> Look:
        option = str(self.settings[group])
        return look(option, group, self.stored.look(group, option))

    @property
    def schedule(self) -> str:
        return _schedule(self.look("gamma_schedule"))

    @property
    def distribution(self) -> dict[str, Any]:
        """The task distribution and its varied settings, if sigma is null."""
        varied = {key: value for key, value in self.source.settings.items() if key.startswith(DISTRIBUTION)}
        return {} if self.settings["sigma"] is not None else {DISTRIBUTION: self.settings[DISTRIBUTION]} | varied

    @property
    def similarity(self) -> float | str:
        return f"by {_describe(self.distribution)}" if self.distribution else self.settings["sigma"]

    @property
    def curve(self) -> str:
        return f"{self.source.signature}-{self.source.runs}"


def _schedule(style: Look) -> str:
    return style.label.replace("γₑᵥₐₗ", "γ_eval")  # few fonts have Unicode subscripts


def data(shown_experiments: Iterable[ShownExperiment]) -> dict[str, Any]:
    """Return the data for the script of the curves.

    Returns:
        `unit`, `series` (sweep, setting, method and colour of each curve), `curves` by identifier, `schedules` (labels)
        and `lost` (the number of experiments with missing or damaged runs).
    """
    by_key = [((sweep, source.signature), source) for sweep, source in shown_experiments]
    # keep the order of the figures
    fewest = dict(by_key) | dict(sorted(by_key, key=lambda version: version[1].runs, reverse=True))
    experiments = stored_experiments((sweep, source) for (sweep, _), source in fewest.items())
    members = [
        _Member(sweep, source, experiments[signature])
        for (sweep, signature), source in fewest.items()
        if signature in experiments and experiments[signature].complete() >= source.runs
    ]
    schedules = [member for member in members if not member.is_grid and "gamma_schedule" in member.source.settings]
    fixed = _schedule(look("best_fixed", "gamma_schedule"))
    curves = {member: _read_curve(member, schedules, fixed) for member in members if member.is_grid}
    grids = [grid for grid, curve in curves.items() if curve]
    by_sweep = [[grid for grid in grids if grid.sweep == name] for name in dict.fromkeys(grid.sweep for grid in grids)]
    return {
        "unit": UNIT,
        "lost": len(fewest) - len(members) + len(curves) - len(grids),
        "series": [series for sweep_members in by_sweep for series in _series(sweep_members)],
        "curves": {grid.curve: curves[grid] for grid in grids},
        "schedules": list(dict.fromkeys([fixed, *(schedule.schedule for schedule in schedules)])),
    }


def _series(members: Sequence[_Member]) -> list[dict[str, Any]]:
    one_estimator = len({member.settings["estimator"] for member in members}) == 1
    labels = [_label(member, one_estimator=one_estimator) for member in members]
    estimator_colors = {member.look().label: member.look().color for member in members}
    variant_labels = sorted(set(labels) - set(estimator_colors))
    colors = estimator_colors | dict(zip(variant_labels, hues(len(variant_labels)), strict=True))
    return [
        {
            "sweep": member.sweep,
            **{key: member.settings[key] for key in ("S", "m", "T")},
            "sigma": member.similarity,
            "method": label,
            "color": colors[label],
            "runs": member.source.runs,
            "curve": member.curve,
        }
        for member, label in zip(members, labels, strict=True)
    ]


def _label(member: _Member, *, one_estimator: bool) -> str:
    problem_keys = {*_NO_VARIANT, *member.distribution}
    variant = _describe({key: value for key, value in member.source.settings.items() if key not in problem_keys})
    estimator = member.look().label
    if not variant:
        return estimator
    return variant if one_estimator else f"{estimator}, {variant}"


def _describe(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key.rpartition('.')[2].replace('_', ' ')} {value}" for key, value in settings.items())


def _read_curve(grid: _Member, schedules: Sequence[_Member], fixed: str) -> dict[str, Any] | None:
    try:
        return _curve(grid, schedules, fixed)
    except store.StoreError as error:
        warnings.warn(str(error), store.StoreWarning, stacklevel=2)
        return None


def _curve(grid: _Member, schedules: Sequence[_Member], fixed: str) -> dict[str, Any]:
    """Return a curve over G discount factors in each of T tasks.

    Returns:
        `gammas` [G]; `mean` and `half` [T, G] in multiples of `UNIT`; `best` [T], the index of gamma*; and `choices`
        [T, 2] by schedule, the mean gamma and loss. `half` is the half width of the interval, or None for one run.
    """
    loss, gammas = grid.stored.losses(grid.source.runs)
    runs, mean = len(loss), loss.mean(0)
    best = hindsight_index(loss, "all_tasks", "population")[0, 0]
    choices = {fixed: np.column_stack([np.full(len(mean), gammas[best]), mean[:, best]])}
    for schedule in schedules:
        if schedule.problem_and_estimator == grid.problem_and_estimator and schedule.stored.complete() >= runs:
            task_groups = schedule.stored.table(runs).groupby("task")[["gamma", "planning_loss"]]
            choices[schedule.schedule] = task_groups.mean().to_numpy()
    return {
        "gammas": _round(gammas),
        "mean": _in_units(mean),
        "half": _in_units(half_width(loss)) if runs > 1 else None,
        "best": best_index(mean).tolist(),
        "choices": {name: _round(choice) for name, choice in choices.items()},
    }


def _round(values: Float[np.ndarray, "..."]) -> list[Any]:
    return np.round(values, DIGITS).tolist()


def _in_units(values: Float[np.ndarray, "..."]) -> list[Any]:
    return np.rint(values / UNIT).astype(int).tolist()
