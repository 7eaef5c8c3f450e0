"""Which experiments are meant, and a number for each of their runs: what people plot, tabulate, compare and load.

There is one way to say it, for all commands and in Python: words as for `pomrl run -m`, signatures, and filters.
"""

import json
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import yaml
from jaxtyping import Float

from pomrl import store
from pomrl.configuration.composed import UnreadableOverrideError, number_of, unknown_key
from pomrl.configuration.importing import add_to_path
from pomrl.configuration.parsing import MOST_RUNS, Experiment
from pomrl.configuration.settings import DEFAULTS, asked_settings, flat_settings, scientific_settings, varying_keys
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.sweeps import selection
from pomrl.results.stored_sweeps import Source
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import in_hindsight
from pomrl.science.loss_tables import COLUMNS, MEASURED
from pomrl.store import StoredExperiment, StoreError, StoreWarning

VALUES = tuple(column.name for column in COLUMNS if column.values)
"""The columns of stored tables that are plotted and tabulated; so are metrics, by the names of their options."""

PRESENT, PREVIOUS, ALL = "present", "previous", "all"
"""Words for code: as it is now, the last before it, and any."""

Tasks = Literal["all", "first", "last"] | int
"""The tasks that a number is of: the mean over all, the first, the last, or the one with this number, from 1."""


class Found(NamedTuple):
    """An experiment that is meant."""

    stored: StoredExperiment
    runs: int
    """The number of runs that are stored, which may be none."""
    experiment: Experiment | None
    """As it was asked for, perhaps with a schedule that reads the table in hindsight; None if it was not named."""
    code: str = PRESENT
    """A label of the code that computed it."""
    is_outdated: bool = False
    """Whether this is not the present code."""

    @staticmethod
    def of(stored: StoredExperiment) -> "Found":
        """Return what is stored under a signature; StoreError if its description is missing or damaged."""
        said = stored.read_manifest()
        return Found(stored, stored.complete(), None, said.label(), said.is_outdated())

    def settings(self) -> dict[str, Any]:
        """Return its settings by dotted keys, as files have them."""
        if self.experiment is None:
            return self.stored.flat_settings()
        settings = flat_settings(asked_settings(self.experiment), self.experiment.options)
        return json.loads(json.dumps(settings, default=str))


@dataclass(frozen=True)
class Chosen:
    """Stored experiments, and in what they differ."""

    stored: tuple[StoredExperiment, ...]
    settings: tuple[Mapping[str, Any], ...]
    """The settings of each, by dotted keys, and its code and signature."""
    varying: tuple[str, ...]
    """The keys in which they differ."""
    runs: tuple[int, ...]
    """The number of runs of each that are shown."""
    experiments: tuple[Experiment | None, ...]
    """Each as it was asked for, perhaps with a schedule that reads the table in hindsight; None if it was not named."""
    notes: tuple[str, ...] = ()
    """Lines about what is left out."""

    def values_of(self, key: str) -> list[Any]:
        """Return the value of a setting in each experiment.

        Raises:
            StoreError: An experiment has no such setting.
        """
        if not all(key in setting for setting in self.settings):
            known = sorted(set(self.settings[0]).intersection(*self.settings))
            raise StoreError(unknown_key(key, key, known, "not all of these experiments have this setting"))
        return [setting[key] for setting in self.settings]

    def table(self, place: int, runs: int | None = None) -> "pd.DataFrame":
        """Return the table of one of the experiments, from which a schedule may have chosen in hindsight."""
        table, schedule = self.stored[place].table(runs or self.runs[place]), _hindsight(self.experiments[place])
        return in_hindsight(table, schedule) if schedule else table

    def parts(self, place: int, names: Sequence[str]) -> Iterator[Mapping[str, Float[np.ndarray, "n T G"]]]:
        """Yield columns of that table over runs, tasks and discount factors, in parts of whole runs."""
        if not _hindsight(self.experiments[place]):
            yield from self.stored[place].parts(names, self.runs[place])
            return
        table = self.table(place)
        yield {name: table[name].to_numpy().reshape(self.runs[place], table["task"].max(), -1) for name in names}

    def sources(self) -> list[Source]:
        """Return where the numbers come from."""
        return [
            Source.of(stored, runs, {key: settings.get(key) for key in self.varying})
            for stored, runs, settings in zip(self.stored, self.runs, self.settings, strict=True)
        ]


def runs_in_words(numbers: Collection[int]) -> str:
    """Return how many runs experiments have: `100 runs`, or `20 to 100 runs`."""
    fewest, most = min(numbers), max(numbers)
    return number_of(most, "run") if fewest == most else f"{fewest:,} to {number_of(most, 'run')}"


def resolve(
    words: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    value: str | None = "planning_loss",
    sources: Sources = PUBLISHED,
) -> tuple[list[Found], list[str]]:
    """Return the experiments that are meant, those without runs among them, and lines about what is left out.

    Args:
        words: The experiments that `pomrl run -m` with these words computes, such as `experiment=task_similarity` or
            `sigma=0.01,0.02`; with `tag=NAME` among them, or without any, all that are stored with these settings. Or
            the starts of signatures, or folders. `code=` names the code that computed them: `present`, which is the
            default, `previous`, `all`, or as `pomrl runs` shows it.
        where: Settings that stored experiments have to have, whatever the others are; or their tag or code.
        value: What is plotted or tabulated. If it is a metric, whatever is stored has this one, and else none, unless
            the settings say otherwise; None for any.
        sources: The folders that settings are composed from.

    Raises:
        ConfigError: A setting is wrong.
        StoreError: There is no such signature, or no stored experiment has such a key.
    """
    add_to_path(Path.cwd())  # of components, whose present code is compared with that of what is stored
    if words and not any("=" in word for word in words):
        return [Found.of(_find_by_name(word)) for word in words], []
    asked, where = filters(words), dict(where or {})
    code = str(where.pop("code", asked.pop("code", PRESENT)))
    experiments: list[Experiment] | None = None
    if not asked or "tag" in asked:
        where = asked | where
        if value is not None:
            where = {"metric": DEFAULTS["metric"] if value in VALUES else value} | where
    else:
        metric = [] if value is None or value in VALUES or "metric" in asked else [f"metric={value}"]
        experiments = selection(sources, [*(word for word in words if not word.startswith("code=")), *metric])
    versions: dict[str, list[Found]] = {}
    for stored in sorted(store.find(**where), key=lambda stored: stored.read_manifest().provenance.start):
        if (version := Found.of(stored)).runs:
            versions.setdefault(json.dumps(stored.read_manifest().settings, sort_keys=True), []).append(version)
    found, left_out = list[Found](), 0
    for identity, experiment in _list_wanted(experiments) if experiments else [(key, None) for key in versions]:
        of_settings = versions.get(identity, [])
        of_code = _of_code(of_settings, code)
        left_out += len(of_settings) - len(of_code)
        found += [version._replace(experiment=experiment) for version in of_code]
        if experiment and not of_code and code == PRESENT:
            found.append(Found(store.lookup(experiment), 0, experiment))
    said = f"{number_of(left_out, 'result')} of other code left out; code={ALL} shows them"
    return found, [said] if left_out else []


def choose(
    words: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    value: str | None = "planning_loss",
    sources: Sources = PUBLISHED,
) -> Chosen:
    """Return the experiments that are meant (`meant`) and have runs, sorted by the settings in which they differ.

    Raises:
        ConfigError: A setting is wrong.
        StoreError: There are none.
    """
    all_found, notes = resolve(words, where, value, sources)
    found = [version for version in all_found if version.runs and _is_sound(version.stored)]
    if not found:
        asked = " ".join([*words, *(f"{key}={value}" for key, value in (where or {}).items())])
        what = f"{store.root().absolute()}: no runs are stored{' of ' * bool(asked)}{asked}"
        remedy = f"{value} is a metric, or none of {', '.join(VALUES)}" if value not in (None, *VALUES) else ""
        raise StoreError("; ".join([what, *(notes or [remedy or "pomrl run computes them"])]))
    if lacking := sum(not version.runs for version in all_found):
        notes.append(f"{lacking} of {number_of(len(all_found), 'experiment')} that are meant have no runs")
    settings = [{**of.settings(), "code": of.code, "signature": of.stored.signature} for of in found]
    varying = [key for key in varying_keys(settings) if key not in ("code", "signature")]
    for key in ("code", "signature"):  # where settings alone do not tell them apart
        if len({tuple(str(setting.get(name)) for name in varying) for setting in settings}) < len(settings):
            varying.append(key)
    most = found[0].experiment.request.runs if found[0].experiment and "runs" in filters(words) else MOST_RUNS
    pairs = list(zip(found, settings, strict=True))
    pairs.sort(key=lambda pair: [order(pair[1].get(key)) for key in varying])
    found, settings = zip(*pairs, strict=True)
    stored, runs, experiments, *_ = zip(*found, strict=True)
    return Chosen(stored, settings, tuple(varying), tuple(min(n, most) for n in runs), experiments, tuple(notes))


def _is_sound(stored: StoredExperiment) -> bool:
    """Return whether no file of an experiment is damaged or unreadable; a `StoreWarning` says which is."""
    if faults := stored.faults(["planning_loss"]):
        warnings.warn(faults[0], StoreWarning, stacklevel=3)
    return not faults


def filters(words: Sequence[str]) -> dict[str, Any]:
    """Return the settings that `KEY=VALUE` words name; several values, separated by commas, become a list.

    Raises:
        UnreadableOverrideError: A word is of another form.
    """
    wanted: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        try:
            values = yaml.safe_load(f"[{value}]")
            wanted[key.removeprefix("+")] = values[0] if len(values) == 1 else values or None
        except (yaml.YAMLError, ValueError, RecursionError):
            equals = ""
        if not key or not equals:
            shown = word[:100] or "an empty filter"
            raise UnreadableOverrideError(f"{shown}: a filter is key=value, such as estimator=pomrl")
    return wanted


def _find_by_name(word: str) -> StoredExperiment:
    """Return the experiment in a folder, or the one whose signature starts with a word."""
    return StoredExperiment(Path(word)) if "/" in word else store.by_signature(word)


def _list_wanted(experiments: Sequence[Experiment]) -> list[tuple[str, Experiment]]:
    """Return each of the experiments once, with the settings that tell what is stored of it."""
    identities = [json.dumps(scientific_settings(experiment), sort_keys=True) for experiment in experiments]
    pairs = zip(identities, experiments, strict=True)
    return list({(identity, repr(_hindsight(of))): (identity, of) for identity, of in pairs}.values())


def _hindsight(experiment: Experiment | None) -> Hindsight | None:
    schedule = experiment.method.gamma_schedule if experiment else None
    return schedule if isinstance(schedule, Hindsight) else None


def _of_code(versions: Sequence[Found], code: str) -> list[Found]:
    """Return what some code computed of the experiment that has these versions, the latest last."""
    present = [version for version in versions if not version.is_outdated][-1:]
    if code == PRESENT:
        return present
    if code == PREVIOUS:
        return [version for version in versions if version not in present][-1:]
    return [version for version in versions if code in (ALL, version.code)]


def order(value: Any) -> tuple[str, Any]:
    """Return a key that sorts numbers by their values, and values of different types by the names of their types."""
    return (type(value).__name__, value if isinstance(value, int | float | str) else str(value))


def per_run(chosen: Chosen, value: str, by: str | None = None, tasks: Tasks = "all") -> "pd.DataFrame":
    """Return a number for each run of each experiment, and for each task or discount factor if `by` says so.

    Args:
        chosen: The experiments.
        value: One of `VALUES`, or the metric that the experiments have.
        by: `task` or `gamma`, whose values then are told apart; or None. Where discount factors are not told apart, the
            number is at the largest, which is gamma_eval, or at the one that a schedule chose.
        tasks: The tasks that numbers are of, unless they are told apart.

    Returns:
        The columns `experiment` (the place in `chosen`), run, `value`, and the one that `by` names.

    Raises:
        StoreError: A file is damaged, or an experiment has no such task.
    """
    parts: list[dict[str, np.ndarray]] = []
    column = value if value in VALUES else MEASURED
    for place, stored in enumerate(chosen.stored):
        first = 0
        for part in chosen.parts(place, [column, *(["gamma"] if by == "gamma" else [])]):
            numbers, T = part[column], part[column].shape[1]
            runs = np.arange(first, first := first + len(numbers))
            if by != "task" and tasks != "all":
                numbers = numbers[:, [_number(tasks, T, stored) - 1]]
            if by == "gamma":
                numbers, names = numbers.mean(1), part["gamma"][0, 0]
            else:
                numbers, names = numbers[..., -1], np.arange(1, T + 1)
            if by is None:
                numbers = numbers.mean(1, keepdims=True)
            columns = {"run": np.repeat(runs, numbers.shape[1]), value: numbers.ravel()}
            columns["experiment"] = np.full(numbers.size, place)
            parts.append(columns if by is None else {**columns, by: np.tile(names, len(runs))})
    return pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _number(tasks: Tasks, T: int, stored: StoredExperiment) -> int:
    """Return the number of the task that is meant, of an experiment with T tasks."""
    number = {"first": 1, "last": T}.get(str(tasks), tasks)
    if not isinstance(number, int) or not 1 <= number <= T:
        raise StoreError(f"{stored.folder}: it has the tasks 1 to {T}, not {tasks}")
    return number
