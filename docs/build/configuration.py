"""The reference of all keys, docs/configuration.md, written from the types and descriptions in the components.

python -m docs.build.configuration        in the folder of the checkout: writes docs/configuration.md anew
"""

import string
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from docs.build.generated import package
from pydantic import TypeAdapter

from pomrl.base import DataPath
from pomrl.configuration.composed import GROUPS
from pomrl.configuration.parsing import PROBLEM_KEYS, REQUEST_KEYS, Experiment, Request
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.sweeps import experiment
from pomrl.results.tables import markdown
from pomrl.science.problem import Problem

HEAD = """# The configuration

Every key: what it means, what it may be, and its default. Written from the components by
`python -m docs.build.configuration`, and tested, so that it is never out of date. R.. are ambiguities of the paper, of
which [the page on readings](../src/pomrl_studies/pomrl2023/pages/readings.md) has the alternatives; E.. are its errors
([errata](../src/pomrl_studies/pomrl2023/pages/errata.md)). A key of a group is set as `group.key=value`; an option is
chosen as `group=option`.

The defaults are the paper's text with its errors corrected (`reading=repaired`). `reading=printed` sets the keys of all
groups as the text stands, and `reading=computed` as the notebook of the paper's first author has them. The files of the
readings belong to the study, `src/pomrl_studies/pomrl2023/conf/reading/`. Keys on the command line replace those of a
reading.
"""

BOUNDS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
"""The sign that is written for each bound of a JSON schema."""


def configuration(sources: Sources) -> str:
    """Return the reference of all keys and options in the folder of the sources, as Markdown."""
    defaults = experiment(sources, [])
    top = [
        _section("The experiment", _rows(Problem, {"default": defaults.problem}, PROBLEM_KEYS)),
        _section("What is requested", _rows(Request, {"default": defaults.request}, REQUEST_KEYS)),
    ]
    return "\n".join([HEAD, *top, *(_group(sources, group) for group in GROUPS)])


def _group(sources: Sources, group: str) -> str:
    """Return a section with a table for each class of a group; above it stand the options that name the class."""
    options = [path.stem for path in sources.options(group)]
    classes: dict[type, dict[str, Any]] = {}
    for name in options:
        component = _component(experiment(sources, [f"{group}={name}"]), group)
        classes.setdefault(type(component), {})[name] = component
    parts = [f"## {group}: {', '.join(options)}\n"]
    for cls, of_class in classes.items():
        summary = (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
        names = ", ".join(f"`{name}`" for name in of_class)
        parts.append(f"{names} (`{cls.__module__}.{cls.__qualname__}`): {' '.join(summary.split())}\n")
        parts.append(_table(_rows(cls, of_class, _properties(cls))))
    return "\n".join(parts)


def _component(experiment: Experiment, group: str) -> object:
    return (vars(experiment) | vars(experiment.problem) | vars(experiment.method))[group]


def _properties(cls: type) -> Mapping[str, Any]:
    """Return the JSON schema of each key of a class that can be set."""
    return TypeAdapter(cls).json_schema().get("properties", {})


def _rows(cls: type, objects: Mapping[str, Any], keys: Iterable[str]) -> list[tuple[str, str, str, str]]:
    """Return a row for each key of a class: its meaning, its values, and its default in each of the named objects."""
    schemas, meanings = _properties(cls), _meanings(cls)
    return [
        (
            f"`{key}`",
            schemas[key].get("description", meanings.get(key, "")),
            _values(schemas[key]),
            _defaults(key, objects),
        )
        for key in keys
    ]


def _meanings(cls: type) -> dict[str, str]:
    """Return what the docstrings below the keys of a class and of its bases say, without capital and full stop."""
    name, _, inside = f"{cls.__module__}.{cls.__qualname__}".partition(".")
    members = package(name)[inside].all_members
    texts = {key: " ".join(member.docstring.value.split()) for key, member in members.items() if member.docstring}
    return {key: _in_a_cell(text.removesuffix(".")) for key, text in texts.items()}


def _in_a_cell(text: str) -> str:
    return text[0].lower() + text[1:] if text[1] in string.ascii_lowercase + " " else text


def _values(schema: Mapping[str, Any]) -> str:
    """Say in words which values a JSON schema admits."""
    if "anyOf" in schema:
        return ", or ".join(_values(alternative) for alternative in schema["anyOf"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"a list: {_values(schema['items'])}"
    bounds = ", ".join(f"{sign} {schema[bound]:g}" for bound, sign in BOUNDS.items() if bound in schema)
    word = {"boolean": "`true`, `false`", "null": "`null`"}.get(schema["type"], schema["type"])
    return " ".join(part for part in (word, bounds) if part)


def _defaults(key: str, objects: Mapping[str, Any]) -> str:
    """Return the default of a key: one value where all objects agree, else the value of each."""
    values = {name: getattr(of, key) for name, of in objects.items()}
    if len({repr(value) for value in values.values()}) == 1:
        return _shown(next(iter(values.values())))
    return "; ".join(f"{name}: {_shown(value)}" for name, value in values.items())


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]:g}, {value[1]:g}, ..., {value[-2]:g}, {value[-1]:g}"
    if isinstance(value, DataPath):  # as in the option, whose path starts at the folder in which a command runs
        return f"`{Path(value).relative_to(Path.cwd())}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, cast(tuple[object, ...], value)))}]`"
    return "`null`" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _section(title: str, rows: Sequence[tuple[str, str, str, str]]) -> str:
    return f"## {title}\n\n{_table(rows)}"


def _table(rows: Sequence[tuple[str, str, str, str]]) -> str:
    if not rows:
        return "No keys.\n"
    return markdown(("key", "meaning", "values", "default"), rows)


if __name__ == "__main__":
    Path("docs/configuration.md").write_text(configuration(PUBLISHED), encoding="utf-8")
