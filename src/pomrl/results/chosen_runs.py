"""Stored experiments that are asked for, with one number for each of their runs: what people plot and tabulate."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import DEFAULTS, asked_settings, flat_settings, scientific_settings, varying_keys
from pomrl.configuration.wording import number_of
from pomrl.results.stored_sweeps import Source
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import in_hindsight
from pomrl.science.loss_tables import MEASURED
from pomrl.store import StoredExperiment, StoreError

VALUES = ("planning_loss", "alpha", "sigma_hat", "model_error", "gamma")
"""The columns of stored tables that are plotted and tabulated; so are metrics, by the names of their options."""

PRESENT, PREVIOUS, ALL = "present", "previous", "all"
"""Words for code: as it is now, the last before it, and any."""

Tasks = Literal["all", "first", "last"] | int
"""The tasks that a number is of: the mean over all, the first, the last, or the one with this number, from 1."""


@dataclass(frozen=True)
class Asked:
    """What is asked for of all that is stored."""

    experiments: Sequence[Experiment] | None = None
    """These experiments; None for whatever is stored."""
    where: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings that stored experiments have to have, and a tag."""
    runs: int | None = None
    """The most runs of each."""
    code: str = PRESENT
    """`present` for the code as it is now, `all`, `previous` for the last code before it, or the label of some code."""
    words: str = ""
    """The words that ask for it, as messages quote them."""


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
    experiments: tuple[Experiment | None, ...]
    """Each as it was asked for, perhaps with a schedule that reads the table in hindsight; None if it was not named."""
    notes: tuple[str, ...] = ()
    """Lines about what is left out."""

    def described(self, key: str) -> list[Any]:
        """Return the value of a setting in each experiment.

        Raises:
            StoreError: An experiment has no such setting.
        """
        if not all(key in each for each in self.settings):
            known = sorted(set(self.settings[0]).intersection(*self.settings))
            raise StoreError(f"{key}: not all of these experiments have this setting; they have {', '.join(known)}")
        return [each[key] for each in self.settings]

    def tables(self, place: int) -> "Iterator[pd.DataFrame]":
        """Yield the table of the runs of one of the experiments in parts of whole runs.

        It is a single part where a schedule chooses in hindsight, from all runs.
        """
        stored, experiment = self.stored[place], self.experiments[place]
        if experiment and (schedule := _hindsight(experiment)):
            yield in_hindsight(stored.table(self.runs), schedule)
        else:
            yield from stored.tables(self.runs)

    def sources(self) -> list[Source]:
        """Return where the numbers come from."""
        return [
            Source.of(stored, self.runs, {key: settings.get(key) for key in self.varying})
            for stored, settings in zip(self.stored, self.settings, strict=True)
        ]


def choose(asked: Asked, value: str = "planning_loss") -> Chosen:
    """Return the stored experiments that are asked for and have runs, sorted by the settings in which they differ.

    Args:
        asked: What is asked for.
        value: What is plotted or tabulated. If it is a metric, whatever is stored has this one, and else none, unless
            the settings say otherwise.

    Raises:
        StoreError: There are none, or none of the code that is asked for.
    """
    versions = _versions(asked, value)
    found = [(stored, each.experiment) for each in versions for stored in _of_code(each.stored, asked.code)]
    left_out = sum(len(each.stored) for each in versions) - len(found)
    are = "is" if left_out == 1 else "are"
    notes = [f"{number_of(left_out, 'result')} of other code {are} left out; --code all shows them"] if left_out else []
    if not found:
        what = f"no runs{f' of {asked.code} code' * bool(left_out)} are stored{' of ' * bool(asked.words)}{asked.words}"
        raise StoreError("; ".join([f"{store.root().absolute()}: {what}", *(notes or ["pomrl run computes them"])]))
    if lacking := sum(not each.stored for each in versions):
        notes.append(f"{lacking} of {number_of(len(versions), 'experiment')} that are meant have no runs")
    return _chosen(found, asked, notes)


def choose_pairs(asked: Asked, old: str, new: str, value: str = "planning_loss") -> tuple[Chosen, Chosen]:
    """Return what two versions of code computed of the same experiments, as many runs of each, in the same order.

    Args:
        asked: What is asked for, of whatever code.
        old: The label of a version, `previous` or `present`.
        new: That of the other one.
        value: What is compared.

    Raises:
        StoreError: Both have computed runs of none of them, or a label is not that of a single version of one of them.
    """
    pairs: list[tuple[_Found, _Found]] = []
    for each in _versions(asked, value):
        both = [_of_code(each.stored, code) for code in (old, new)]
        if all(both) and both[0] != both[1]:
            if max(map(len, both)) > 1:
                raise StoreError(f"{old}, {new}: both have to be single versions of code")
            pairs.append(((both[0][0], each.experiment), (both[1][0], each.experiment)))
    if not pairs:
        where = f"{store.root().absolute()}: no experiment has runs of both {old} and {new} code"
        raise StoreError(f"{where}; an edited default is another setting, which pomrl table --code {ALL} shows")
    runs = min(stored.complete() for pair in pairs for stored, _ in pair)
    of_both = replace(asked, code=ALL, runs=min(runs, asked.runs or runs))
    before, after = zip(*pairs, strict=True)
    return _chosen(before, of_both, ()), _chosen(after, of_both, ())


class _Versions(NamedTuple):
    """What is stored of an experiment, by the code that computed it, the latest last."""

    stored: Sequence[StoredExperiment]
    experiment: Experiment | None
    """As it was asked for, if it was named."""


def _versions(asked: Asked, value: str) -> list[_Versions]:
    """Return the versions of each experiment that is asked for."""
    if asked.experiments is None:
        where = asked.where if value in VALUES else {"metric": value, **asked.where}
        listed = store.find(**{"metric": DEFAULTS["metric"], **where})
        wanted = {(each.identity(), ""): None for each in listed if each.complete()}
    else:
        listed = store.find(**asked.where)
        wanted = {(_identity(each), repr(_hindsight(each))): each for each in asked.experiments}
    known: dict[str, list[StoredExperiment]] = {}
    for stored in sorted((each for each in listed if each.complete()), key=StoredExperiment.begun):
        known.setdefault(stored.identity(), []).append(stored)
    return [_Versions(known.get(identity, []), experiment) for (identity, _), experiment in wanted.items()]


def _identity(experiment: Experiment) -> str:
    return json.dumps(scientific_settings(experiment), sort_keys=True)


def _hindsight(experiment: Experiment) -> Hindsight | None:
    schedule = experiment.method.gamma_schedule
    return schedule if isinstance(schedule, Hindsight) else None


def _of_code(versions: Sequence[StoredExperiment], code: str) -> list[StoredExperiment]:
    """Return what some code computed of the experiment of which these are the versions, the latest last."""
    present = [each for each in versions if each.outdated() is None][-1:]
    if code == PRESENT:
        return present
    if code == PREVIOUS:
        return [each for each in versions if each not in present][-1:]
    return [each for each in versions if code in (ALL, each.code())]


_Found = tuple[StoredExperiment, Experiment | None]


def _chosen(found: Sequence[_Found], asked: Asked, notes: Sequence[str]) -> Chosen:
    settings = _settings_of(found)
    varying = varying_keys(settings)
    if asked.code != PRESENT:
        varying.append("code")
        _add(settings, "code", [stored.code() for stored, _ in found])
    if len({tuple(str(each.get(key)) for key in varying) for each in settings}) < len(settings):
        varying.append("signature")
        _add(settings, "signature", [stored.signature for stored, _ in found])
    places = sorted(range(len(found)), key=lambda place: [_order(settings[place].get(key)) for key in varying])
    complete = min(stored.complete() for stored, _ in found)
    return Chosen(
        tuple(found[place][0] for place in places),
        tuple(settings[place] for place in places),
        tuple(varying),
        min(complete, asked.runs or complete),
        tuple(found[place][1] for place in places),
        tuple(notes),
    )


def _add(settings: Sequence[dict[str, Any]], key: str, values: Sequence[str]) -> None:
    for each, value in zip(settings, values, strict=True):
        each[key] = value


def _settings_of(found: Sequence[_Found]) -> list[dict[str, Any]]:
    """Return the flat settings of experiments.

    Where options of one name are of several classes, as those of two studies of one's own may be, the classes stand for
    the options.
    """
    settings = [_with_schedule(stored.flat_settings(), experiment) for stored, experiment in found]
    parts = [
        (each, group, part["_target_"])
        for each, (stored, _) in zip(settings, found, strict=True)
        for group, part in stored.settings().items()
        if isinstance(part, dict)
    ]
    named: dict[tuple[str, str], set[str]] = {}
    for each, group, name in parts:
        named.setdefault((group, each[group]), set()).add(name)
    for each, group, name in parts:
        if len(named.get((group, each[group]), ())) > 1 and not name.startswith("pomrl."):
            each[group] = name
    return settings


def _with_schedule(settings: Mapping[str, Any], experiment: Experiment | None) -> dict[str, Any]:
    """Return the settings of a stored grid as those of the schedule in hindsight that reads it."""
    if experiment is None or _hindsight(experiment) is None:
        return dict(settings)
    asked = flat_settings(asked_settings(experiment), experiment.options)
    others = {key: value for key, value in settings.items() if key.partition(".")[0] != "gamma_schedule"}
    return others | {key: value for key, value in asked.items() if key.partition(".")[0] == "gamma_schedule"}


def _order(value: Any) -> tuple[str, Any]:
    return (type(value).__name__, value if isinstance(value, int | float | str) else str(value))


def per_run(
    chosen: Chosen, value: str, by: str | None = None, tasks: Tasks = "all", gamma: float | None = None
) -> "pd.DataFrame":
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
    keys = ["run", *([by] if by else [])]
    for place, stored in enumerate(chosen.stored):
        for part in chosen.tables(place):
            table = part.rename(columns={MEASURED: value}) if value not in VALUES else part
            if by != "gamma":
                table = _at_gamma(table, gamma, stored)
            if by != "task":
                table = table.loc[table["task"].isin(list(_numbers(tasks, int(table["task"].max()), stored)))]
            frames.append(table.groupby(keys, as_index=False)[value].mean().assign(experiment=place))
    return pd.concat(frames, ignore_index=True)


def _at_gamma(table: "pd.DataFrame", gamma: float | None, stored: StoredExperiment) -> "pd.DataFrame":
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
