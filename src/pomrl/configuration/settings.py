"""Read the settings of an experiment as plain data."""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

from pomrl.base import DataPath
from pomrl.configuration.parsing import Experiment
from pomrl.science.agents.agent import CertaintyEquivalence
from pomrl.science.problem import Problem, components

SESSION = "__main__"
"""The module of what a notebook or a program defines itself."""

SOURCE = "__source_digest__"
"""The attribute of a class of a notebook that has the digest of its source."""

DEFAULTS = {"agent": "certainty_equivalence", "metric": "planning_loss"}
"""The names of the options of groups that settings leave out."""


def scientific_settings(experiment: Experiment) -> dict[str, Any]:
    """Return exactly the settings that can change a number.

    They come from the checked objects, with all defaults; 0 and 0.0 are equal. A hindsight schedule has the settings
    of its grid. The default agent and metric are left out. A digest represents a data file.

    Returns:
        The problem's numbers by key, and each component by group: its class under `_target_`, and its parameters.
    """
    schedule = {"gamma_schedule": experiment.method.gamma_schedule.computed_schedule()}
    return _settings(experiment.problem, _parts(experiment) | schedule, _content)


def asked_settings(experiment: Experiment) -> dict[str, Any]:
    """Return settings as requested, with hindsight schedules and paths of data files."""
    return _settings(experiment.problem, _parts(experiment), str)


def data_files(experiment: Experiment) -> list[Path]:
    """Return the data files that components read."""
    values = chain.from_iterable(cast(dict[str, object], vars(part)).values() for part in _parts(experiment).values())
    return [Path(value).resolve() for value in values if isinstance(value, DataPath)]


def _parts(experiment: Experiment) -> dict[str, Any]:
    """Return the components by group, without the default agent and metric."""
    method = experiment.method
    left_out = {"agent": type(method.agent) is CertaintyEquivalence, "metric": not method.is_measured}
    parts = components(experiment.problem, method)
    return {group: part for group, part in parts.items() if not left_out.get(group)}


def _settings(problem: Problem, parts: Mapping[str, Any], of_file: Callable[[DataPath], str]) -> dict[str, Any]:
    of_problem = {field.name: getattr(problem, field.name) for field in dataclasses.fields(problem)}
    return of_problem | {group: _component_settings(part, of_file) for group, part in parts.items()}


def _component_settings(component: Any, of_file: Callable[[DataPath], str]) -> dict[str, Any]:
    cls = component.__class__
    values = {field.name: getattr(component, field.name) for field in dataclasses.fields(component)}
    fields = {name: of_file(value) if isinstance(value, DataPath) else value for name, value in values.items()}
    return {"_target_": _target(cls)} | fields


def _target(cls: type) -> str:
    """Return a class's dotted name; `@` and its source digest end a notebook's."""
    digest = vars(cls).get(SOURCE)
    return f"{cls.__module__}.{cls.__qualname__}" + (f"@{digest}" if digest else "")


def _content(path: DataPath) -> str:
    """Return the digest of a data file."""
    status = Path(path).stat()
    return _digest(path, status.st_mtime_ns, status.st_size)


@cache
def _digest(path: DataPath, _time: int, _size: int) -> str:
    with Path(path).open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def component_classes(settings: Mapping[str, Any]) -> list[str]:
    """Return the dotted class names in `scientific_settings`, without notebooks' classes."""
    targets: list[str] = [value["_target_"] for value in settings.values() if isinstance(value, dict)]
    return [target for target in targets if "@" not in target]


def flat_settings(settings: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Any]:
    """Flatten `scientific_settings` to dotted keys, such as `estimator.prior`.

    Args:
        settings: The settings of an experiment.
        options: Each group's option, the value of its key; by default the class name.
    """
    flat: dict[str, Any] = {group: name for group, name in DEFAULTS.items() if settings and group not in settings}
    for key, value in settings.items():
        if isinstance(value, dict):
            parts = cast(dict[str, Any], value)
            flat[key] = options.get(key, parts["_target_"])
            flat |= {f"{key}.{name}": part for name, part in parts.items() if name != "_target_"}
        else:
            flat[key] = value
    return flat


def varying_keys(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys in which flat settings differ; a component's keys within an option."""
    keys = dict.fromkeys(key for setting in settings for key in setting)
    return [key for key in keys if _differs(key, settings)]


def _differs(key: str, settings: Sequence[Mapping[str, Any]]) -> bool:
    values = [setting.get(key) for setting in settings]
    if values.count(values[0]) == len(values):
        return False
    group, dot, _ = key.partition(".")
    first: dict[Any, Any] = {}
    options = [setting.get(group) if dot else "" for setting in settings]
    return any(first.setdefault(option, value) != value for option, value in zip(options, values, strict=True))
