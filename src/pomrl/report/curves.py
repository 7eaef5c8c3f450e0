"""The interactive curves: loss against gamma in each task, of every grid of discount factors that a figure draws.

A curve is the mean over the runs of its sweep, with its standard error. What schedules chose is laid over the curves
of the same problem and the same estimator, over the same runs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl import store
from pomrl.figures.parts.style import ESTIMATORS, SCHEDULES, sequence
from pomrl.report.drawn import Drawn
from pomrl.statistics import minimising

DIGITS = 4
"""After the point, of losses; standard errors are a hundred times larger than what is rounded away."""

_NO_VARIANT = {"signature", "runs", "blocks", "sigma", "S", "m", "T", "batches", "estimator", "gamma_schedule"}
"""What a source has beside the settings that tell methods apart."""

Source = Mapping[str, Any]


@dataclass(frozen=True)
class _Stored:
    """A source of a figure, with what its run is."""

    sweep: str
    source: Source
    run: store.Run

    @cached_property
    def settings(self) -> dict[str, Any]:
        return self.run.settings()

    @property
    def is_grid(self) -> bool:
        """Whether it has the losses at all discount factors, and not at those that a schedule chose."""
        return "gammas" in self.settings["gamma_schedule"]

    def option(self, group: str) -> str:
        """The option that the sweep chooses. A manifest names that of the sweep which computed the run first."""
        return str(self.source.get(group, self.run.manifest()["options"][group]))

    @cached_property
    def problem_and_estimator(self) -> str:
        return json.dumps(
            {key: value for key, value in self.settings.items() if key != "gamma_schedule"}, sort_keys=True
        )

    @property
    def curve(self) -> str:
        """A name for the curve: what is stored, and how much of it."""
        return f"{self.source['signature']}-{self.source['runs']}"


def data(figures: Sequence[Drawn]) -> dict[str, Any]:
    """Everything that the script draws: `series`, which say what a curve is, and `curves`, which hold the numbers."""
    stored = list(_stored(figures))
    grids = [each for each in stored if each.is_grid]
    schedules = [each for each in stored if not each.is_grid and "gamma_schedule" in each.source]
    by_sweep: dict[str, list[_Stored]] = {}
    for each in grids:
        by_sweep.setdefault(each.sweep, []).append(each)
    curves = {each.curve: each for each in grids}
    return {
        "series": [series for members in by_sweep.values() for series in _series(members)],
        "curves": {name: _curve(each, schedules) for name, each in curves.items()},
        "schedules": {name: _plain(look.label) for name, look in SCHEDULES.items()},
    }


def _stored(figures: Sequence[Drawn]) -> Iterator[_Stored]:
    """What the figures are drawn from, once each, as far as it is still stored."""
    runs = {run.signature: run for run in store.everything() if run.is_closed()}
    seen = set()
    for figure in figures:
        for sweep, sources in figure.sidecar["sweeps"].items():
            for source in sources:
                key = (sweep, source["signature"])
                run = runs.get(source["signature"])
                if key not in seen and run and run.complete() >= source["runs"]:
                    seen.add(key)
                    yield _Stored(sweep, source, run)


def _series(members: Sequence[_Stored]) -> list[dict[str, Any]]:
    """What the curves of a sweep are, with a label and a colour of each method."""
    one_estimator = len({each.option("estimator") for each in members}) == 1
    labels = [_label(each, one_estimator) for each in members]
    colors = _colors(list(dict.fromkeys(labels)))
    return [
        {
            "sweep": each.sweep,
            **{key: each.settings[key] for key in ("S", "m", "T", "sigma")},
            "method": label,
            "color": colors[label],
            "runs": each.source["runs"],
            "curve": each.curve,
        }
        for each, label in zip(members, labels, strict=True)
    ]


def _label(stored: _Stored, one_estimator: bool) -> str:
    variant = ", ".join(
        f"{key.rpartition('.')[2].replace('_', ' ')} {value}"
        for key, value in stored.source.items()
        if key not in _NO_VARIANT
    )
    name = stored.option("estimator")
    estimator = ESTIMATORS[name].label if name in ESTIMATORS else name.replace("_", " ")
    if not variant:
        return estimator
    return variant if one_estimator else f"{estimator}, {variant}"


def _colors(labels: Sequence[str]) -> dict[str, str]:
    """The colours of the figures for estimators that they show; an ordered palette for other methods."""
    known = {look.label: look.color for look in ESTIMATORS.values()}
    if all(label in known for label in labels):
        return {label: known[label] for label in labels}
    return {look.label: look.color for look in sequence(list(labels))}


def _curve(grid: _Stored, schedules: Sequence[_Stored]) -> dict[str, Any]:
    table = _table(grid.run.signature, grid.source["runs"])
    gammas = np.sort(table["gamma"].unique())
    loss = table["planning_loss"].to_numpy().reshape(grid.source["runs"], -1, len(gammas))
    mean = loss.mean(0)
    best = minimising(gammas, mean)
    fixed = minimising(gammas, mean.mean(0, keepdims=True))
    chosen = {
        each.option("gamma_schedule"): _choices(each, len(loss))
        for each in schedules
        if each.problem_and_estimator == grid.problem_and_estimator and each.run.complete() >= len(loss)
    }
    at_fixed = mean[:, np.searchsorted(gammas, fixed)[0]]
    return {
        "gammas": _rounded(gammas),
        "mean": _rounded(mean),
        "se": _rounded(loss.std(0, ddof=1) / np.sqrt(len(loss))) if len(loss) > 1 else None,
        "best": np.searchsorted(gammas, best).tolist(),
        "choices": {"best_fixed": [[float(fixed[0]), round(float(y), DIGITS)] for y in at_fixed], **chosen},
    }


def _choices(schedule: _Stored, runs: int) -> list[list[float]]:
    """The mean over runs of the discount factor that is chosen in each task, and of the loss with it."""
    table = _table(schedule.run.signature, runs)
    return _rounded(table.groupby("task")[["gamma", "planning_loss"]].mean().to_numpy())


def _table(signature: str, runs: int) -> pd.DataFrame:
    return store.by_signature(signature).table(runs)


def _rounded(values: Float[np.ndarray, "..."]) -> list[Any]:
    return np.round(values, DIGITS).tolist()


def _plain(label: str) -> str:
    """A label without the subscript letters that few fonts have."""
    return label.replace("γₑᵥₐₗ", "γ_eval")
