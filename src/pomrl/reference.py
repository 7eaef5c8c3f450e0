"""The reference of the configuration, written from the typed components: docs/configuration.md."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from pomrl import published
from pomrl.conf import Conf
from pomrl.config import GROUPS, METHOD, Experiment, Run
from pomrl.experiment import Problem

HEAD = """# The configuration

Every key: what it means, what it may be, and its default. Written from the components by
`python -m pytest tests/test_documents.py --force-regen`, and tested, so that it is never out of date. A.. are
ambiguities of the paper, of which [docs/readings.md](readings.md) has the alternatives; E.. are its errors
([ERRATA.md](../ERRATA.md)). A key of a group is set as `group.key=value`; an option is chosen as `group=option`.
"""

BOUNDS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


def configuration(conf: Conf) -> str:
    """The reference, as Markdown."""
    defaults = published.experiment(conf, [])
    top = [
        _section("The experiment", _rows(Problem, {"default": defaults.problem}, but=GROUPS)),
        _section("What is asked of it", _rows(Run, {"default": defaults.asked})),
    ]
    return "\n".join([HEAD, *top, *(_group(conf, group) for group in GROUPS)])


def _group(conf: Conf, group: str) -> str:
    """A table for each class of a group, with the options that are made of it."""
    options = sorted(path.stem for path in (conf.folder / group).glob("*.yaml"))
    components = {name: _component(published.experiment(conf, [f"{group}={name}"]), group) for name in options}
    classes: dict[type, dict[str, Any]] = {}
    for name, component in components.items():
        classes.setdefault(type(component), {})[name] = component
    parts = [f"## {group}: {', '.join(options)}\n"]
    for cls, of_class in classes.items():
        summary = (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
        names = ", ".join(f"`{name}`" for name in of_class)
        parts.append(f"{names} (`{cls.__module__}.{cls.__qualname__}`): {' '.join(summary.split())}\n")
        parts.append(_table(_rows(cls, of_class)))
    return "\n".join(parts)


def _component(experiment: Experiment, group: str) -> Any:
    if group == "task_distribution":
        return experiment.problem.task_distribution
    return getattr(experiment.method, group) if group in METHOD else getattr(experiment, group)


def _rows(cls: type, objects: Mapping[str, Any], but: Sequence[str] = ()) -> list[tuple[str, str, str, str]]:
    """For each key of a class its meaning, its values, and its default in each of some objects."""
    keys = TypeAdapter(cls).json_schema().get("properties", {})
    return [
        (f"`{key}`", what.get("description", ""), _values(what), _defaults(key, objects))
        for key, what in keys.items()
        if key not in but
    ]


def _values(what: Mapping[str, Any]) -> str:
    """What a key may be, in words."""
    if "anyOf" in what:
        return ", or ".join(_values(alternative) for alternative in what["anyOf"])
    if "enum" in what:
        return ", ".join(f"`{value}`" for value in what["enum"])
    if what.get("type") == "array":
        return f"a list: {_values(what['items'])}"
    bounds = ", ".join(f"{sign} {what[bound]:g}" for bound, sign in BOUNDS.items() if bound in what)
    word = {"integer": "integer", "number": "number", "boolean": "`true`, `false`", "null": "`null`"}.get(what["type"])
    return " ".join(part for part in (word or what["type"], bounds) if part)


def _defaults(key: str, objects: Mapping[str, Any]) -> str:
    """One default where all agree, else those of each."""
    values = {name: getattr(of, key) for name, of in objects.items()}
    if len({repr(value) for value in values.values()}) == 1:
        return _shown(next(iter(values.values())))
    return "; ".join(f"{name}: {_shown(value)}" for name, value in values.items())


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]:g}, {value[1]:g}, ..., {value[-2]:g}, {value[-1]:g}"
    return "`null`" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _section(title: str, rows: Sequence[tuple[str, str, str, str]]) -> str:
    return f"## {title}\n\n{_table(rows)}"


def _table(rows: Sequence[tuple[str, str, str, str]]) -> str:
    if not rows:
        return "No keys.\n"
    lines = ["| key | meaning | values | default |", "| --- | --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows), ""])
