"""Extract the settings of an experiment as plain data."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

from pomrl.base import DataPath
from pomrl.configuration.composed import READING
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import keys_of_readings
from pomrl.science.agents.agent import CertaintyEquivalence
from pomrl.science.problem import Problem, components

SESSION = "__main__"
"""The module name of a notebook or a program."""

SOURCE = "__source_digest__"
"""The attribute with the source digest of a notebook class."""

DEFAULTS = {"agent": "certainty_equivalence", "metric": "planning_loss"}
"""The default options, left out of settings."""


def scientific_settings(experiment: Experiment) -> dict[str, Any]:
    """Return the settings with an effect on stored numbers.

    They come from the checked objects, with all defaults, so 0 and 0.0 are equal. Components have their class under
    `_target_`; the default agent and metric are left out. A hindsight schedule is replaced by its grid, and a data
    file by its digest.
    """
    schedule = {"gamma_schedule": experiment.method.gamma_schedule.computed_schedule()}
    return _settings(experiment.problem, _components(experiment) | schedule, _content_digest)


def asked_settings(experiment: Experiment) -> dict[str, Any]:
    """Return settings as requested, with hindsight schedules and paths of data files."""
    return _settings(experiment.problem, _components(experiment), str)


def data_files(experiment: Experiment) -> list[Path]:
    """Return the absolute paths of components' data files."""
    instances = _components(experiment).values()
    values = chain.from_iterable(cast(dict[str, object], vars(instance)).values() for instance in instances)
    return [Path(value).resolve() for value in values if isinstance(value, DataPath)]


def _components(experiment: Experiment) -> dict[str, Any]:
    method = experiment.method
    left_out = {"agent": type(method.agent) is CertaintyEquivalence, "metric": not method.is_measured}
    by_group = components(experiment.problem, method)
    return {group: component for group, component in by_group.items() if not left_out.get(group)}


def _settings(problem: Problem, by_group: Mapping[str, Any], convert_path: Callable[[DataPath], str]) -> dict[str, Any]:
    settings = _field_values(problem)
    for group, component in by_group.items():
        values = _field_values(component)
        paths = {name: convert_path(value) for name, value in values.items() if isinstance(value, DataPath)}
        settings[group] = {"_target_": class_name(component.__class__), **values, **paths}
    return settings


def _field_values(instance: Any) -> dict[str, Any]:
    return {field.name: getattr(instance, field.name) for field in dataclasses.fields(instance)}


def class_name(cls: type) -> str:
    """Return a class's dotted name; notebook classes add `@` and a digest."""
    digest = vars(cls).get(SOURCE)
    return f"{cls.__module__}.{cls.__qualname__}" + (f"@{digest}" if digest else "")


def _content_digest(path: DataPath) -> str:
    status = Path(path).stat()
    return _digest(path, status.st_mtime_ns, status.st_size)


@cache
def _digest(path: DataPath, _time: int, _size: int) -> str:
    with Path(path).open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def component_classes(settings: Mapping[str, Any]) -> list[str]:
    """Return the dotted class names in settings, without notebook classes."""
    targets: list[str] = [value["_target_"] for value in settings.values() if isinstance(value, dict)]
    return [target for target in targets if "@" not in target]


def flat_settings(settings: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Any]:
    """Flatten settings, with the reading; the value of a group is its option, or its class."""
    flat: dict[str, Any] = {group: name for group, name in DEFAULTS.items() if settings and group not in settings}
    flat |= {READING: options[READING]} if READING in options else {}
    for key, value in settings.items():
        if isinstance(value, dict):
            fields = cast(dict[str, Any], value)
            flat[key] = options.get(key, fields["_target_"])
            flat |= {f"{key}.{name}": field for name, field in fields.items() if name != "_target_"}
        else:
            flat[key] = value
    return flat


def varying_keys(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys with different values.

    Component keys are compared within options, and keys that a reading sets within readings.
    """
    keys = dict.fromkeys(key for setting in settings for key in setting)
    return [key for key in keys if _differs(key, settings)]


def _differs(key: str, settings: Sequence[Mapping[str, Any]]) -> bool:
    values = [setting.get(key) for setting in settings]
    if values.count(values[0]) == len(values):
        return False
    group, dot, _ = key.partition(".")
    decisive = [*([group] if dot else []), *([READING] if dot or key in keys_of_readings() else [])]
    first: dict[Any, Any] = {}
    options = [tuple(setting.get(name) for name in decisive) for setting in settings]
    return any(first.setdefault(option, value) != value for option, value in zip(options, values, strict=True))
