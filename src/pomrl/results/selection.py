"""Select stored experiments by overrides, signatures and filters."""

import json
import warnings
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pomrl import store
from pomrl.configuration.composed import READING, ConfigError, UnreadableOverrideError, number_of, unknown_key
from pomrl.configuration.instances import Instances
from pomrl.configuration.parsing import MAX_RUNS, Experiment, Request, make
from pomrl.configuration.settings import DEFAULTS, asked_settings, flat_settings, scientific_settings, varying_keys
from pomrl.configuration.sources import PUBLISHED, Sources, named_folders
from pomrl.configuration.sweeps import selection
from pomrl.results.result import Result
from pomrl.results.sweep_results import SweepResults
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.stored_columns import COLUMNS
from pomrl.store import StoredExperiment, StoreError, StoreWarning

VALUES = tuple(column.name for column in COLUMNS if column.values)
"""The stored columns to plot and tabulate. Metrics are selected by the names of their options."""

PRESENT, PREVIOUS, ALL = "present", "previous", "all"
"""Values of `code`: the present version, the latest other version, and all versions."""


class Match(NamedTuple):
    """A selected experiment."""

    stored: StoredExperiment
    runs: int
    """The number of stored runs, at most the requested number."""
    experiment: Experiment | None
    """The requested experiment, perhaps with a schedule in hindsight; None if selected by signature or filters."""
    code: str = PRESENT
    """The label of its code version."""
    is_outdated: bool = False
    """Whether its code differs from the present code."""

    @staticmethod
    def load(stored: StoredExperiment) -> "Match":
        """Read the runs and code version of an experiment; StoreError if damaged."""
        manifest = stored.read_manifest()
        return Match(stored, stored.complete(), None, manifest.label(), manifest.is_outdated())

    def settings(self) -> dict[str, Any]:
        """Return its settings by dotted keys."""
        if self.experiment is None:
            return self.stored.flat_settings()
        settings = flat_settings(asked_settings(self.experiment), self.experiment.options)
        return json.loads(json.dumps(settings, default=str))

    def result(self, name: str) -> Result:
        settings = self.settings() | {"code": self.code if self.is_outdated else PRESENT}
        settings.pop(READING, None)  # the keys that it sets are compared
        return Result.of_stored(self.stored, self.runs, self.experiment, settings=settings, name=name)


def describe_runs(numbers: Collection[int], *, are_common: bool = False) -> str:
    """Format numbers of runs as `100 runs` or `20 to 100 runs`, with a remark if all methods have them."""
    low, high = min(numbers), max(numbers)
    text = number_of(high, "run") if low == high else f"{low:,} to {number_of(high, 'run')}"
    return text + " that all methods have" * are_common


def resolve(
    overrides: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    value: str | None = "planning_loss",
    sources: Sources = PUBLISHED,
    instances: Instances | None = None,
) -> tuple[list[Match], list[str]]:
    """Find experiments by overrides; also return notes on omissions.

    Overrides are as for `pomrl run -m`, starts of signatures, or folders. Without overrides, or with `tag=NAME`, all
    stored experiments with these settings are found. `runs=N` selects their first N runs. `code=` is `present`
    (default), `previous`, `all`, or a label of `pomrl runs`. `where` adds settings, tag, code or runs. With a metric as
    `value`, experiments must have it. `instances` belong to the overrides.

    Raises:
        ConfigError: A setting or the value is wrong.
        StoreError: A signature, key or tag is unknown.
    """
    if value not in (None, *VALUES):
        _check_metric(value, overrides, sources)
    if overrides and not any("=" in override for override in overrides):
        named = [Match.load(_find_by_name(name)) for name in overrides]
        return [match for match in named if value in (None, *VALUES, match.settings()["metric"])], []
    settings, where = filters(overrides), dict(where or {})
    code = str(where.pop("code", settings.pop("code", PRESENT)))
    runs = where.pop("runs", MAX_RUNS)
    requests: dict[Any, tuple[str, Experiment | None]] = {}
    if "tag" in settings and instances:
        raise ConfigError("tag must be in where, if a component is an instance")
    if not settings or "tag" in settings:
        runs = settings.pop("runs", runs)
        where = settings | where
        if value is not None:
            where = {"metric": DEFAULTS["metric"] if value in VALUES else value} | where
    else:
        metric = [] if value is None or value in VALUES or "metric" in settings else [f"metric={value}"]
        settings_overrides = [override for override in overrides if not override.startswith("code=")]
        for experiment in selection(sources, [*settings_overrides, *metric], instances):
            identity, schedule = _identity(scientific_settings(experiment)), experiment.method.gamma_schedule
            key = identity, repr(schedule) if isinstance(schedule, Hindsight) else "", experiment.options.get(READING)
            requests[key] = identity, experiment
    max_runs = make(Request, {"runs": runs}).runs
    versions = _find_versions(where)
    matches, n_omitted = list[Match](), 0
    for identity, experiment in requests.values() or [(key, None) for key in versions]:
        candidates = versions.get(identity, [])
        selected = _select_code(candidates, code)
        n_omitted += len(candidates) - len(selected)
        limit = experiment.request.runs if experiment and "runs" in settings else max_runs
        matches += [version._replace(runs=min(version.runs, limit), experiment=experiment) for version in selected]
        if experiment and not selected and code == PRESENT:
            matches.append(Match(store.lookup(experiment), 0, experiment))
    note = f"{number_of(n_omitted, 'result')} of other code left out; code={ALL} shows them"
    return matches, [note] if n_omitted else []


def choose(
    overrides: Sequence[str] = (),
    where: Mapping[str, Any] | None = None,
    value: str | None = "planning_loss",
    sources: Sources = PUBLISHED,
    instances: Instances | None = None,
) -> SweepResults:
    """Load the experiments of `resolve`, sorted by varying settings.

    Raises:
        ConfigError: A setting is wrong.
        StoreError: No runs are stored, or a key or tag is unknown.
    """
    resolved, notes = resolve(overrides, where, value, sources, instances)
    matches = [match for match in resolved if match.runs and _is_sound(match.stored)]
    if not matches:
        is_metric, has_runs = value not in (None, *VALUES), any(match.runs for match in resolved)
        unmeasured = resolve(overrides, where, None, sources, instances)[0] if is_metric and not has_runs else []
        if any(match.runs for match in unmeasured):
            problem = f"the selected experiments are stored without the metric {value}"
            raise StoreError(f"{problem}; add metric={value} to their `pomrl run`")
        raise StoreError(
            "; ".join([_describe_missing(overrides, where or {}), *(notes or [_remedy(overrides, where)])])
        )
    if n_empty := sum(not match.runs for match in resolved):
        verb = "has" if n_empty == 1 else "have"
        notes.append(f"{n_empty} of {number_of(len(resolved), 'selected experiment')} {verb} no runs")
    return _load_matches(matches, notes)


def load_requested(experiments: Sequence[Experiment]) -> SweepResults:
    """Load the requested runs of experiments, sorted by varying settings; equal ones once.

    StoreError: an experiment has no runs.
    """
    matches = [
        Match(stored, min(experiment.request.runs, stored.complete()), experiment)
        for experiment in experiments
        for stored in [store.lookup(experiment)]
    ]
    keys = (json.dumps([match.stored.signature, match.runs, match.settings()], sort_keys=True) for match in matches)
    distinct = dict(zip(keys, matches, strict=True))
    return _load_matches([*distinct.values()], [])


def _load_matches(matches: Sequence[Match], notes: Sequence[str]) -> SweepResults:
    settings = [{**match.settings(), "code": match.code, "signature": match.stored.signature} for match in matches]
    varying = [key for key in varying_keys(settings) if key not in ("code", "signature")]
    for key in ("code", "signature"):  # if settings alone do not distinguish them
        n_distinct = len({tuple(str(setting.get(name)) for name in varying) for setting in settings})
        if n_distinct < len({setting["signature"] for setting in settings}):
            varying.append(key)
    pairs = sorted(zip(matches, settings, strict=True), key=lambda pair: [order(pair[1].get(key)) for key in varying])
    results = [
        Result.of_stored(match.stored, match.runs, match.experiment, settings=setting) for match, setting in pairs
    ]
    values = [tuple(setting.get(key) for key in varying) for _, setting in pairs]
    return SweepResults(tuple(varying), values, results, notes=tuple(notes))


def _describe_missing(overrides: Sequence[str], where: Mapping[str, Any]) -> str:
    request = " ".join([*overrides, *(f"{key}={value}" for key, value in where.items())])
    return f"{store.root().absolute()}: no stored runs{' for ' * bool(request)}{request}"


def _remedy(overrides: Sequence[str], where: Mapping[str, Any] | None) -> str:
    if where and overrides and not any(override.startswith("tag=") for override in overrides):
        return "omitted keys have their defaults, except with where alone"
    return "run `pomrl run` to compute them"


def _check_metric(name: str, overrides: Sequence[str], sources: Sources) -> None:
    """Raise a ConfigError unless an option or a stored experiment has the metric."""
    sweeps = [override.partition("=")[2].split(",") for override in overrides if override.startswith("experiment=")]
    for folder in named_folders(chain.from_iterable(sweeps)):
        sources = sources.with_study(folder)
    options = [path.stem for path in sources.options("metric")]
    manifests = filter(None, (stored.manifest() for stored in store.all_experiments()))
    if name not in options and not any(manifest.flat_settings().get("metric") == name for manifest in manifests):
        raise ConfigError(f"unknown column {name!r}; available: {', '.join(dict.fromkeys([*VALUES, *options]))}")


def _find_versions(where: Mapping[str, Any]) -> dict[str, list[Match]]:
    """Find experiments with runs, oldest first, by their settings; StoreError for an unknown key or tag."""
    versions: dict[str, list[Match]] = {}
    for stored in sorted(store.find(**where), key=lambda stored: stored.read_manifest().provenance.start):
        if (version := Match.load(stored)).runs:
            versions.setdefault(_identity(stored.read_manifest().settings), []).append(version)
    if not versions and "tag" in where:
        _check_tag(str(where["tag"]))
    return versions


def _check_tag(tag: str) -> None:
    """Raise a StoreError with the stored tags if the tag is unknown."""
    tags = sorted({name for stored in store.all_experiments() for name in stored.tags()})
    if tags and tag not in tags:
        raise StoreError(unknown_key(f"tag={tag}", tag, tags, "unknown tag"))


def _is_sound(stored: StoredExperiment) -> bool:
    if faults := stored.faults(["planning_loss"]):
        warnings.warn(faults[0], StoreWarning, stacklevel=3)
    return not faults


def filters(overrides: Sequence[str]) -> dict[str, Any]:
    """Parse words KEY=VALUE, with commas for lists; UnreadableOverrideError otherwise."""
    settings: dict[str, Any] = {}
    for override in overrides:
        key, equals, value = override.partition("=")
        try:
            values = yaml.safe_load(f"[{value}]")
            settings[key.removeprefix("+")] = values[0] if len(values) == 1 else values or None
        except (yaml.YAMLError, ValueError, RecursionError):
            equals = ""
        if not key or not equals:
            quote = override[:100] or "an empty one"
            raise UnreadableOverrideError(f"a filter must be KEY=VALUE in YAML, such as estimator=pomrl, got {quote}")
    return settings


def _find_by_name(name: str) -> StoredExperiment:
    return StoredExperiment(Path(name)) if "/" in name else store.by_signature(name)


def _identity(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


def _select_code(versions: Sequence[Match], code: str) -> list[Match]:
    present = [version for version in versions if not version.is_outdated][-1:]
    if code == PRESENT:
        return present
    if code == PREVIOUS:
        return [version for version in versions if version not in present][-1:]
    return [version for version in versions if code in (ALL, version.code)]


def order(value: Any) -> tuple[str, Any]:
    """Return a sort key: first the type, then the value."""
    return (type(value).__name__, value if isinstance(value, int | float | str) else str(value))
