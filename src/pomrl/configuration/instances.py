"""Component instances among the settings of Python code.

Overrides show an instance as text, such as `estimator="Half(weight=0.1)"`. Jobs are composed without this override.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from pomrl.configuration.composed import METHOD_GROUPS, PROBLEM_GROUPS, READING, ConfigError
from pomrl.configuration.parsing import COMPONENTS, Experiment
from pomrl.configuration.settings import class_name
from pomrl.configuration.sources import PUBLISHED, options_outside_reading

Instances = Mapping[str, tuple[str, Any]]
"""The group and instance of each override with an instance."""

Components = Mapping[str, Any]
"""The instances of a job, by group."""

_NOT_IN_TEXT = re.compile(r'["\\$\s]+')
"""The characters with a meaning in quoted overrides, and line breaks."""


def extract(settings: Mapping[str, Any]) -> tuple[dict[str, Any], Instances]:
    """Replace component instances in settings, also in lists, by texts."""
    instances: dict[str, tuple[str, Any]] = {}

    def replace(group: str, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [replace(group, element) for element in cast(Sequence[Any], value)]
        return _add(instances, group, value) if isinstance(value, COMPONENTS.get(group, ())) else value

    return {name: replace(name, value) for name, value in settings.items()}, instances


def _add(instances: dict[str, tuple[str, Any]], group: str, instance: Any) -> str:
    text = _NOT_IN_TEXT.sub(" ", f"{type(instance).__name__}({_format_fields(instance)})")
    while type(instances.setdefault(f'{group}="{text}"', (group, instance))[1]) is not type(instance):
        text += "'"  # because another class has this name
    return text


def _format_fields(instance: Any) -> str:
    return ", ".join(f"{field.name}={getattr(instance, field.name)!r}" for field in dataclasses.fields(instance))


def separate(job: Iterable[str], instances: Instances) -> tuple[list[str], Components]:
    """Separate a job's overrides from its instances; ConfigError if it sets a key of one."""
    job = list(job)
    components = dict(instances[line] for line in job if line in instances)
    for key in (line.partition("=")[0] for line in job):
        group, dot, field = key.partition(".")
        if dot and group in components:
            name = type(components[group]).__name__
            raise ConfigError(f"{key} must not be set besides an instance of {name}; write {name}({field}=...)")
    return [line for line in job if line not in instances], components


def with_components(experiment: Experiment, components: Components) -> Experiment:
    """Replace components of an experiment; their options have no names."""
    if not components:
        return experiment
    return dataclasses.replace(
        experiment,
        problem=dataclasses.replace(experiment.problem, **_select(components, PROBLEM_GROUPS)),
        method=dataclasses.replace(experiment.method, **_select(components, METHOD_GROUPS)),
        execution=components.get("execution", experiment.execution),
        options={group: option for group, option in experiment.options.items() if group not in components},
        notes=(*experiment.notes, *_outside_reading(experiment, components)),
    )


def _select(components: Components, groups: Sequence[str]) -> Components:
    return {group: component for group, component in components.items() if group in groups}


def _outside_reading(experiment: Experiment, components: Components) -> tuple[str, ...]:
    names = {group: type(component).__name__ for group, component in components.items()}
    return options_outside_reading({READING: experiment.options.get(READING), **names}, PUBLISHED.folders)


def names(components: Components, instances: Instances) -> dict[str, str]:
    """Name each instance by its class; with the module if another has this name."""
    classes: set[tuple[str, type]] = {(group, instance.__class__) for group, instance in instances.values()}
    homonyms = [(group, cls.__name__) for group, cls in classes]
    return {
        group: cls.__name__ if homonyms.count((group, cls.__name__)) == 1 else class_name(cls)
        for group, cls in classes
        if type(components.get(group)) is cls
    }


def name_varied(values: Mapping[str, Any], components: Components, instances: Instances) -> dict[str, Any]:
    """Name the instances among varied values; differing fields follow their group."""
    varied: dict[str, Any] = {}
    for group, value in values.items():
        varied[group] = names(components, instances).get(group, value)
        for field in _differing_fields(group, instances):
            varied[f"{group}.{field}"] = getattr(components.get(group), field, None)
    return varied


def _differing_fields(group: str, instances: Instances) -> list[str]:
    """List the fields with different values among instances of a class."""
    first: dict[tuple[type, str], Any] = {}
    differing: dict[str, None] = {}
    for instance in (instance for name, instance in instances.values() if name == group):
        for field in (field.name for field in dataclasses.fields(instance)):
            value = getattr(instance, field)
            if first.setdefault((instance.__class__, field), value) != value:
                differing[field] = None
    return list(differing)
