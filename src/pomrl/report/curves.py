"""The data of the interactive curves: the loss against gamma in each task, for each experiment that figures show.

A curve is the mean over the runs of its sweep, with its standard error. The discount factors that schedules chose are
shown on the curves of the same problem and estimator, averaged over the same runs.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from pomrl import store
from pomrl.drawing.style import Look, hues, look
from pomrl.report import ReportError
from pomrl.report.provenance import ShowsRuns, shown_experiments
from pomrl.results.stored_sweeps import Source
from pomrl.science.gamma_star import best_index, hindsight_index

DIGITS = 4
"""Digits after the point; standard errors are a hundred times larger than what rounding removes."""

UNIT = 10.0**-DIGITS
"""The unit of means and standard errors, which are stored as whole numbers: they take two thirds of the bytes."""

CONCENTRATION = "task_distribution.concentration_over_S"
"""The key that gives the similarity of tasks where `sigma` is null."""

_NO_VARIANT = {"sigma", CONCENTRATION, "S", "m", "T", "batches", "estimator", "gamma_schedule"}
"""Settings that a sweep may vary without a variant of a method: those of the problem, and the method's two options."""


@dataclass(frozen=True)
class _StoredSource:
    """A source of a figure, and the stored experiment that it names."""

    sweep: str
    source: Source
    stored: store.StoredExperiment

    @cached_property
    def settings(self) -> dict[str, Any]:
        return self.stored.settings()

    @property
    def is_grid(self) -> bool:
        """Return whether losses at all discount factors of a grid are stored, not those that a schedule chose."""
        return "gammas" in self.settings["gamma_schedule"]

    def option(self, group: str) -> str:
        """Return the option of a group that the sweep chooses.

        It is read from the source first: a manifest names the option by which the experiment was first computed, and
        another sweep may know the same experiment under another option's name.
        """
        chosen = self.source.settings
        return str(chosen[group] if group in chosen else self.stored.flat_settings()[group])

    def look(self, group: str = "estimator") -> Look:
        """Return the look of the option of a group, which is that of the study to which the sweep belongs."""
        return look(self.option(group), group, self.sweep.partition("/")[0])

    @property
    def schedule(self) -> str:
        """An identifier of the schedule: its option, after the study of its sweep if that has one in its name."""
        return "/".join([*self.sweep.split("/")[:-1], self.option("gamma_schedule")])

    @property
    def similarity(self) -> float | str:
        """Return the similarity sigma, or in words what gives it: their concentration, spread or models."""
        sigma = self.settings["sigma"]
        if sigma is not None:
            return sigma
        settings = self.stored.flat_settings()
        if CONCENTRATION in settings:
            return f"that of c = {settings[CONCENTRATION]:g}"
        spread = settings.get("task_distribution.spread")
        return f"that of {self.option('task_distribution')}" + (f" at spread {spread:g}" if spread is not None else "")

    @cached_property
    def problem_and_estimator(self) -> str:
        others = {key: value for key, value in self.settings.items() if key != "gamma_schedule"}
        return json.dumps(others, sort_keys=True)

    @property
    def curve(self) -> str:
        """An identifier of the curve: the experiment's signature and the number of runs."""
        return f"{self.source.signature}-{self.source.runs}"


def data(figures: Sequence[ShowsRuns]) -> dict[str, Any]:
    """Return all data that the page's script draws.

    Returns:
        A dictionary of `unit` (that of the numbers of curves), `series` (the sweep, setting, method and colour of each
        curve), `curves` (the numbers, by the identifier that series refer to) and `schedules` (the labels of the
        schedules, by their names).
    """
    sources = list(_stored_sources(figures))
    grids = [each for each in sources if each.is_grid]
    schedules = [each for each in sources if not each.is_grid and "gamma_schedule" in each.source.settings]
    by_sweep: dict[str, list[_StoredSource]] = {}
    for each in grids:
        by_sweep.setdefault(each.sweep, []).append(each)
    curves = {each.curve: each for each in grids}
    chosen = {"best_fixed": look("best_fixed", "gamma_schedule")}
    chosen |= {each.schedule: each.look("gamma_schedule") for each in schedules}
    return {
        "unit": UNIT,
        "series": [series for members in by_sweep.values() for series in _series(members)],
        "curves": {name: _curve(each, schedules) for name, each in curves.items()},
        # Few fonts have Unicode subscripts.
        "schedules": {name: of.label.replace("γₑᵥₐₗ", "γ_eval") for name, of in chosen.items()},
    }


def _stored_sources(figures: Sequence[ShowsRuns]) -> Iterator[_StoredSource]:
    """Yield each experiment of each sweep that figures show once, provided that all runs shown are still stored."""
    experiments = shown_experiments(figures)
    seen = set()
    for sweep, source in (shown for figure in figures for shown in figure.sources):
        stored = experiments.get(source.signature)
        if (sweep, source.signature) not in seen and stored and stored.settings() and _has(stored, source.runs):
            seen.add((sweep, source.signature))
            yield _StoredSource(sweep, source, stored)


def _has(stored: store.StoredExperiment, runs: int) -> bool:
    """Return whether runs that a figure shows are still stored.

    Raises:
        ReportError: Fewer runs are stored, as after a computation that began anew.
    """
    complete = stored.complete()
    if 0 < complete < runs:
        raise ReportError(
            f"{stored.folder}: figures show {runs} runs and {complete} are stored; pomrl figures STUDY shows these"
        )
    return complete >= runs


def _series(members: Sequence[_StoredSource]) -> list[dict[str, Any]]:
    """Describe the curves of a sweep, with a label and a colour for each method."""
    one_estimator = len({each.option("estimator") for each in members}) == 1
    labels = [_label(each, one_estimator=one_estimator) for each in members]
    colors = _colors(members, labels)
    return [
        {
            "sweep": each.sweep,
            **{key: each.settings[key] for key in ("S", "m", "T")},
            "sigma": each.similarity,
            "method": label,
            "color": colors[label],
            "runs": each.source.runs,
            "curve": each.curve,
        }
        for each, label in zip(members, labels, strict=True)
    ]


def _label(member: _StoredSource, *, one_estimator: bool) -> str:
    """Return the label of a method.

    It names the estimator and the settings that the sweep varies. If all members of the sweep have one estimator, it
    names only the settings that vary, if there are any.
    """
    variant = ", ".join(
        f"{key.rpartition('.')[2].replace('_', ' ')} {value}"
        for key, value in member.source.settings.items()
        if key not in _NO_VARIANT
    )
    estimator = member.look().label
    if not variant:
        return estimator
    return variant if one_estimator else f"{estimator}, {variant}"


def _colors(members: Sequence[_StoredSource], labels: Sequence[str]) -> dict[str, str]:
    """Return a colour for each label: that of the estimator's look if it is all that differs, else distinct hues."""
    known = {each.look().label: each.look().color for each in members}
    others = sorted(set(labels) - set(known))
    return {label: known[label] for label in labels if label in known} | dict(
        zip(others, hues(len(others)), strict=True)
    )


def _curve(grid: _StoredSource, schedules: Sequence[_StoredSource]) -> dict[str, Any]:
    """Return the numbers of a curve, over G discount factors, in each of T tasks.

    Returns:
        A dictionary of `gammas` [G], `mean` and `se` [T][G] in units (`se` is None for a single run), `best` [T] (the
        index of gamma*) and `choices` (by schedule, [T] pairs of the mean discount factor chosen and the mean loss with
        it).
    """
    loss, gammas = grid.stored.losses(grid.source.runs)
    runs, mean = len(loss), loss.mean(0)
    fixed = hindsight_index(loss, "all_tasks", "population")[0, 0]
    choices = {
        each.schedule: _choices(each, runs)
        for each in schedules
        if each.problem_and_estimator == grid.problem_and_estimator and each.stored.complete() >= runs
    }
    return {
        "gammas": _rounded(gammas),
        "mean": _in_units(mean),
        "se": _in_units(loss.std(0, ddof=1) / np.sqrt(runs)) if runs > 1 else None,
        "best": best_index(mean).tolist(),
        "choices": {"best_fixed": [[float(gammas[fixed]), round(float(y), DIGITS)] for y in mean[:, fixed]], **choices},
    }


def _choices(schedule: _StoredSource, runs: int) -> list[list[float]]:
    """Return, for each task, the means over runs of the discount factor that the schedule chose and of its loss."""
    table = schedule.stored.table(runs)
    return _rounded(table.groupby("task")[["gamma", "planning_loss"]].mean().to_numpy())


def _rounded(values: Float[np.ndarray, "..."]) -> list[Any]:
    return np.round(values, DIGITS).tolist()


def _in_units(values: Float[np.ndarray, "..."]) -> list[Any]:
    return np.rint(values / UNIT).astype(int).tolist()
