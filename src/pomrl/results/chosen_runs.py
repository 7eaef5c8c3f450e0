"""Stored experiments that filters choose, with one number for each of their runs: what people plot and tabulate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from pomrl import store
from pomrl.configuration.settings import DEFAULTS, varying_keys
from pomrl.results.stored_sweeps import Source
from pomrl.science.loss_tables import MEASURED
from pomrl.store import StoredExperiment, StoreError

VALUES = ("planning_loss", "alpha", "sigma_hat", "model_error", "gamma")
"""The columns of stored tables that are plotted and tabulated; so are metrics, by the names of their options."""

Tasks = Literal["all", "first", "last"] | int
"""The tasks that a number is of: the mean over all, the first, the last, or the one with this number, from 1."""


@dataclass(frozen=True)
class Chosen:
    """Stored experiments, and in what they differ."""

    stored: tuple[StoredExperiment, ...]
    settings: tuple[Mapping[str, Any], ...]
    """The settings of each, by dotted keys."""
    varying: tuple[str, ...]
    """The keys in which they differ."""
    runs: int
    """The number of runs that all of them have."""

    def described(self, key: str) -> list[Any]:
        """Return the value of a setting in each experiment.

        Raises:
            StoreError: An experiment has no such setting.
        """
        if not all(key in each for each in self.settings):
            known = sorted(set(self.settings[0]).intersection(*self.settings))
            raise StoreError(f"{key}: not all of these experiments have this setting; they have {', '.join(known)}")
        return [each[key] for each in self.settings]

    def sources(self) -> list[Source]:
        """Return where the numbers come from."""
        return [
            Source.of(stored, self.runs, {key: settings.get(key) for key in self.varying})
            for stored, settings in zip(self.stored, self.settings, strict=True)
        ]


def choose(wanted: Mapping[str, Any], value: str = "planning_loss") -> Chosen:
    """Return the stored experiments with these settings that have runs, sorted by the settings in which they differ.

    Args:
        wanted: The settings.
        value: What is plotted or tabulated. If it is a metric, the experiments are those that have this one, and else
            those that have none, unless the settings say otherwise.

    Raises:
        StoreError: There are none.
    """
    wanted = wanted if value in VALUES else {"metric": value, **wanted}
    described = {"metric": DEFAULTS["metric"], **wanted}
    found = _of_present_code([stored for stored in store.find(**described) if stored.complete()])
    if not found:
        asked = ", ".join(f"{key}={value}" for key, value in wanted.items())
        raise StoreError(
            f"{store.root().absolute()}: no runs are stored{' of ' * bool(asked)}{asked}; pomrl run computes them"
        )
    settings = _settings_of(found)
    varying = varying_keys(list(settings.values()))
    found.sort(key=lambda stored: [_order(settings[stored].get(key)) for key in varying])
    runs = min(stored.complete() for stored in found)
    return Chosen(tuple(found), tuple(settings[stored] for stored in found), tuple(varying), runs)


def _of_present_code(found: Sequence[StoredExperiment]) -> list[StoredExperiment]:
    """Leave out what earlier code computed with the settings of an experiment of the present code."""
    alike: dict[str, list[StoredExperiment]] = {}
    for stored in found:
        alike.setdefault(repr(sorted(stored.flat_settings().items())), []).append(stored)
    present = ([each for each in of_settings if each.outdated() is None] for of_settings in alike.values())
    return [each for kept, of_settings in zip(present, alike.values(), strict=True) for each in kept or of_settings]


def _settings_of(found: Sequence[StoredExperiment]) -> dict[StoredExperiment, dict[str, Any]]:
    """Return the flat settings of experiments.

    Where options of one name are of several classes, as those of two studies of one's own may be, the classes stand for
    the options.
    """
    settings = {stored: stored.flat_settings() for stored in found}
    classes = {
        (stored, group): part["_target_"]
        for stored in found
        for group, part in stored.settings().items()
        if isinstance(part, dict)
    }
    named: dict[tuple[str, str], set[str]] = {}
    for (stored, group), name in classes.items():
        named.setdefault((group, settings[stored][group]), set()).add(name)
    for (stored, group), name in classes.items():
        if len(named[group, settings[stored][group]]) > 1 and not name.startswith("pomrl."):
            settings[stored] |= {group: name}
    return settings


def _order(value: Any) -> tuple[str, Any]:
    return (type(value).__name__, value if isinstance(value, int | float | str) else str(value))


def filter_of(chosen: Sequence[Mapping[str, Any]], everything: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return a filter that chooses some experiments out of others by few settings: for each key the values.

    Args:
        chosen: The flat settings of the experiments that are to be chosen.
        everything: Those of all that is stored.
    """
    wanted: dict[str, list[Any]] = {key: _distinct(chosen, key) for key in varying_keys(chosen)}
    others = [each for each in everything if each not in chosen]
    for key in dict.fromkeys(key for each in chosen for key in each):
        others = [each for each in others if all(each.get(name) in values for name, values in wanted.items())]
        values = _distinct(chosen, key)
        if len(values) == 1 and any(each.get(key) not in values for each in others):
            wanted[key] = values
    return wanted


def _distinct(settings: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    return sorted({repr(each.get(key)): each.get(key) for each in settings}.values(), key=_order)


def per_run(
    chosen: Chosen, value: str, by: str | None = None, tasks: Tasks = "all", gamma: float | None = None
) -> pd.DataFrame:
    """Return a number for each run of each experiment, and for each task or discount factor if `by` says so.

    Args:
        chosen: The experiments.
        value: One of `VALUES`, or the metric that the experiments have.
        by: `task` or `gamma`, whose values then are told apart; or None.
        tasks: The tasks that numbers are of, unless they are told apart.
        gamma: The discount factor of planning that numbers are at, unless they are told apart; by default the largest,
            which is gamma_eval, or the one that a schedule chose.

    Returns:
        The columns `experiment` (the place in `chosen`), run, `value`, and the one that `by` names.

    Raises:
        StoreError: A file is damaged, or an experiment has no such task or discount factor.
    """
    frames = []
    for place, stored in enumerate(chosen.stored):
        table = stored.table(chosen.runs)
        if value not in VALUES:
            table = table.rename(columns={MEASURED: value})
        if by != "gamma":
            table = _at_gamma(table, gamma, stored)
        if by != "task":
            table = table.loc[table["task"].isin(list(_numbers(tasks, int(table["task"].max()), stored)))]
        keys = ["run", *([by] if by else [])]
        frames.append(table.groupby(keys, as_index=False)[value].mean().assign(experiment=place))
    return pd.concat(frames, ignore_index=True)


def _at_gamma(table: pd.DataFrame, gamma: float | None, stored: StoredExperiment) -> pd.DataFrame:
    """Return the rows at a discount factor, by default the last of each task."""
    if gamma is None:
        return table.groupby(["run", "task"], as_index=False).last()
    rows = table.loc[np.isclose(table["gamma"], gamma)]
    if rows.empty:
        raise StoreError(f"{stored.folder}: gamma={gamma} was not planned with")
    return rows


def _numbers(tasks: Tasks, T: int, stored: StoredExperiment) -> Iterator[int]:
    """Yield the numbers of the tasks that are meant, of an experiment with T tasks."""
    if tasks == "all":
        yield from range(1, T + 1)
        return
    number = {"first": 1, "last": T}.get(str(tasks), tasks)
    if not isinstance(number, int) or not 1 <= number <= T:
        raise StoreError(f"{stored.folder}: it has the tasks 1 to {T}, not {tasks}")
    yield number
