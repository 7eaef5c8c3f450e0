"""Select stored experiments, for all commands and in Python: by words as for `pomrl run -m`, signatures and filters."""

import json
import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pomrl import store
from pomrl.configuration.composed import UnreadableOverrideError, number_of
from pomrl.configuration.importing import add_to_path
from pomrl.configuration.parsing import MOST_RUNS, Experiment
from pomrl.configuration.settings import DEFAULTS, asked_settings, flat_settings, scientific_settings, varying_keys
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.sweeps import selection
from pomrl.results.result import Result
from pomrl.results.sweep_results import SweepResults
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.loss_tables import COLUMNS
from pomrl.store import StoredExperiment, StoreError, StoreWarning

VALUES = tuple(column.name for column in COLUMNS if column.values)
"""The columns of stored tables that are plotted and tabulated; so are metrics, by the names of their options."""

PRESENT, PREVIOUS, ALL = "present", "previous", "all"
"""Words for code: as it is now, the last before it, and any."""


class Match(NamedTuple):
    """An experiment that words mean."""

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
    def of(stored: StoredExperiment) -> "Match":
        """Return what is stored under a signature; StoreError if its description is missing or damaged."""
        manifest = stored.read_manifest()
        return Match(stored, stored.complete(), None, manifest.label(), manifest.is_outdated())

    def settings(self) -> dict[str, Any]:
        """Return its settings by dotted keys, as files have them."""
        if self.experiment is None:
            return self.stored.flat_settings()
        settings = flat_settings(asked_settings(self.experiment), self.experiment.options)
        return json.loads(json.dumps(settings, default=str))

    def result(self, name: str) -> Result:
        """Return its results as one side of a comparison; the name is what it is called there."""
        settings = self.settings() | {"code": self.code if self.is_outdated else PRESENT}
        return Result.of_stored(self.stored, self.runs, self.experiment, settings=settings, name=name)


def runs_in_words(numbers: Collection[int]) -> str:
    """Return how many runs experiments have: `100 runs`, or `20 to 100 runs`."""
    fewest, most = min(numbers), max(numbers)
    return number_of(most, "run") if fewest == most else f"{fewest:,} to {number_of(most, 'run')}"


def resolve(
    words: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    value: str | None = "planning_loss",
    sources: Sources = PUBLISHED,
) -> tuple[list[Match], list[str]]:
    """Find the experiments that words mean, those without runs among them, and lines about what is left out.

    Args:
        words: Words of `pomrl run -m`; none, or `tag=NAME`, for all that is stored with these settings; or starts of
            signatures, or folders. `code=` is `present` (default), `previous`, `all`, or as `pomrl runs` shows it.
        where: Settings, tag or code that stored experiments must have besides.
        value: What is shown; a metric selects the experiments that have it. None for any.
        sources: The folders that settings are composed from.

    Raises:
        ConfigError: A setting is wrong.
        StoreError: There is no such signature, or no stored experiment has such a key.
    """
    add_to_path(Path.cwd())  # of components, whose present code is compared with that of what is stored
    if words and not any("=" in word for word in words):
        return [Match.of(_find_by_name(word)) for word in words], []
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
    versions: dict[str, list[Match]] = {}
    for stored in sorted(store.find(**where), key=lambda stored: stored.read_manifest().provenance.start):
        if (version := Match.of(stored)).runs:
            versions.setdefault(json.dumps(stored.read_manifest().settings, sort_keys=True), []).append(version)
    found, left_out = list[Match](), 0
    for identity, experiment in _list_wanted(experiments) if experiments else [(key, None) for key in versions]:
        of_settings = versions.get(identity, [])
        of_code = _of_code(of_settings, code)
        left_out += len(of_settings) - len(of_code)
        found += [version._replace(experiment=experiment) for version in of_code]
        if experiment and not of_code and code == PRESENT:
            found.append(Match(store.lookup(experiment), 0, experiment))
    said = f"{number_of(left_out, 'result')} of other code left out; code={ALL} shows them"
    return found, [said] if left_out else []


def choose(
    words: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    value: str | None = "planning_loss",
    sources: Sources = PUBLISHED,
) -> SweepResults:
    """Return the results that words mean (`resolve`), sorted by the settings in which they differ.

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
    results = [
        Result.of_stored(match.stored, min(match.runs, most), match.experiment, settings=of_match)
        for match, of_match in pairs
    ]
    values = [tuple(of_match.get(key) for key in varying) for _, of_match in pairs]
    return SweepResults(tuple(varying), values, results, notes=tuple(notes))


def _is_sound(stored: StoredExperiment) -> bool:
    """Return whether no file of an experiment is damaged or unreadable; a `StoreWarning` says which is."""
    if faults := stored.faults(["planning_loss"]):
        warnings.warn(faults[0], StoreWarning, stacklevel=3)
    return not faults


def filters(words: Sequence[str]) -> dict[str, Any]:
    """Parse `KEY=VALUE` words; several values, separated by commas, become a list.

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


def _of_code(versions: Sequence[Match], code: str) -> list[Match]:
    """Return what some code computed of the experiment that has these versions, the latest last."""
    present = [version for version in versions if not version.is_outdated][-1:]
    if code == PRESENT:
        return present
    if code == PREVIOUS:
        return [version for version in versions if version not in present][-1:]
    return [version for version in versions if code in (ALL, version.code)]


def order(value: Any) -> tuple[str, Any]:
    """Return a sort key: numbers by value, values of different types by the names of their types."""
    return (type(value).__name__, value if isinstance(value, int | float | str) else str(value))
