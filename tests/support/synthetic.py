"""Sweeps with random losses, for tests of figures."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import yaml

from pomrl.configuration.sources import SWEEPS
from pomrl.configuration.studies import shipped_studies
from pomrl.results.result import Result
from pomrl.results.sweep_results import SweepResults

Value = TypeVar("Value")

ESTIMATORS = ["oracle", "without_meta", "pomrl", "ada_pomrl", "aggregating"]
"""The estimators of the paper."""

SCHEDULES = ["fixed", "best_fixed", "dynamic_best", "dong", "upper_bound"]
"""The schedules in figures of the paper."""

SIGMAS = [0.01, 0.025, 0.047]
GAMMAS = [0.0, 0.25, 0.5, 0.9, 0.99]
RUNS = 4
TASKS = 15

FOUR = ["oracle", "without_meta", "pomrl", "ada_pomrl"]
BATCHES = {"m5_T5": 5, "m20_T5": 5, "m5_T30": 30, "m5_T15": 15, "m100000_T30": 30}


def _load_axes(path: Path) -> tuple[dict[str, list], int]:
    """Return varied settings and the number of runs of a sweep file."""
    sweep = yaml.safe_load(path.read_text())
    axes = sweep["hydra"]["sweeper"]["params"]
    values = {
        name: [yaml.safe_load(value) for value in str(axis_values).split(",")] for name, axis_values in axes.items()
    }
    return values, sweep.get("runs", 100)


_SWEEPS = {
    path.stem: _load_axes(path)
    for study in shipped_studies()
    for path in (study.folder / SWEEPS / study.name).glob("*.yaml")
}
assert len(_SWEEPS) == sum(len(study.sweeps) for study in shipped_studies())  # tests find a sweep by its name alone

AXES = {name: axes for name, (axes, _) in _SWEEPS.items()}
"""The values of the varied settings of each sweep."""

REQUESTED_RUNS = {name: runs for name, (_, runs) in _SWEEPS.items()}
"""The number of runs of each sweep."""


def make_table(axes: dict[str, list], runs: int = RUNS, tasks: int = TASKS, seed: int = 0) -> pd.DataFrame:
    """Return random losses for a sweep.

    Schedules other than the grid have one gamma per task.
    """
    rng = np.random.default_rng(seed)
    tables = []
    for values in itertools.product(*axes.values()):
        setting = dict(zip(axes, values, strict=True))
        is_grid = setting.get("gamma_schedule", "grid") == "grid" and "gamma_schedule.gamma_0" not in setting
        selected = not is_grid or str(setting.get("agent")).endswith("_gamma")
        T = BATCHES[setting["batches"]] if "batches" in setting else tasks
        keys = itertools.product(range(runs), range(1, T + 1), [0.6] if selected else GAMMAS)
        tables.append(pd.DataFrame(keys, columns=["run", "task", "gamma"]).assign(**setting))
    frame = pd.concat(tables, ignore_index=True)
    columns = ["planning_loss", "alpha", "sigma_hat", "model_error"]
    frame[columns] = rng.random((len(frame), len(columns)))
    return frame.astype({"run": "int32", "task": "int16"})


class Lazy(Mapping[str, Value]):
    """A mapping with values computed on first access and cached."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Value]) -> None:
        self._names = list(names)
        self._make = cache(make)

    def __getitem__(self, name: str) -> Value:
        if name not in self._names:
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def make_sweep(name: str, runs: int = RUNS, tasks: int = TASKS) -> SweepResults:
    """Return a sweep with these numbers of runs and tasks."""
    return table_sweep(
        make_table(AXES[name], runs, 1 if name == "illustration" else tasks), [*AXES[name]], REQUESTED_RUNS[name]
    )


def table_sweep(table: pd.DataFrame, keys: list[str], requested_runs: int = 0) -> SweepResults:
    """Return the sweep of a table with varied settings in columns `keys`."""
    tables = [group for _, group in table.groupby(keys, sort=False)] if keys else [table]
    values = [tuple(group[keys].head(1).to_dict("split")["data"][0]) for group in tables]
    results = [
        Result.of_table(group.drop(columns=keys), settings=dict(zip(keys, row, strict=True)))
        for group, row in zip(tables, values, strict=True)
    ]
    return SweepResults(tuple(keys), values, results, requested_runs=requested_runs)


def make_sweeps(runs: int = RUNS, tasks: int = TASKS) -> Lazy[SweepResults]:
    """Return all sweeps, made by `make_sweep` on access."""
    return Lazy(AXES, lambda name: make_sweep(name, runs, tasks))


def with_sweep(sweeps: Mapping[str, SweepResults], name: str, sweep: SweepResults) -> Lazy[SweepResults]:
    """Return the sweeps with one of them replaced."""
    return Lazy(sweeps, lambda key: sweep if key == name else sweeps[key])


def with_table(sweeps: Mapping[str, SweepResults], name: str, table: pd.DataFrame) -> Lazy[SweepResults]:
    """Return the sweeps with the table of one replaced."""
    return with_sweep(sweeps, name, table_sweep(table, [*sweeps[name].keys], sweeps[name].requested_runs))
