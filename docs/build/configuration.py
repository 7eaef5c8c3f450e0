"""Make docs/configuration.md, the reference of all keys, from types and docstrings."""

import ast
import inspect
import re
import string
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from pomrl.base import DataPath
from pomrl.configuration.composed import GROUPS
from pomrl.configuration.importing import is_ours
from pomrl.configuration.parsing import PROBLEM_KEYS, REQUEST_KEYS, Experiment, Request
from pomrl.configuration.sources import Sources
from pomrl.configuration.sweeps import experiment
from pomrl.results.tables import markdown
from pomrl.science.problem import Problem

HEAD = """# The configuration

Find a key, its values and its default here: in [the experiment](#the-experiment),
[runs and labels](#runs-and-labels), or a group:

{groups}

Select an option as `group=option`, and set a key of a group as `group.key=value`. The column *options* lists the
options with a key; it is empty if all options have the key, and " repeats the entry above. The column *default* begins
with the most common default. Other defaults follow with their options.

The defaults (`reading=repaired`) correct Proposition 1 and settle what the text leaves open. `reading=printed` selects
the text as it stands, and `reading=computed` the authors' notebook. Keys on the command line override a reading. R1,
R2, ... are ambiguities of the paper ([readings](../src/pomrl_studies/pomrl2023/pages/readings.md)), and E1, E2, ...
its errors ([errata](../src/pomrl_studies/pomrl2023/pages/errata.md)).
"""

ABOUT = {
    "task_distribution": "tasks",
    "stream": "order of tasks",
    "data": "sampling",
    "meta_batch": "data for meta-learning",
    "estimator": "learner",
    "gamma_schedule": "γ",
    "planner": "policies",
    "agent": "planning or another method",
    "metric": "what is measured",
    "execution": "one machine or several",
}
"""What each group determines."""

DITTO = '"'
"""The sign for a repeated cell."""

BOUNDS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
"""The sign of each bound of a JSON schema."""


@dataclass(frozen=True)
class Row:
    """A key of a group, with its meaning, values and defaults."""

    key: str
    meaning: str
    values: str
    defaults: Mapping[str, Any]
    """The defaults by option."""


def configuration(sources: Sources) -> str:
    """Return the reference of all keys and options as Markdown."""
    defaults = experiment(sources, [])
    top = [
        _section("The experiment", _rows(Problem, {"default": defaults.problem}, PROBLEM_KEYS)),
        _section("Runs and labels", _rows(Request, {"default": defaults.request}, REQUEST_KEYS)),
    ]
    head = HEAD.format(groups="\n".join(f"- [{group}](#{group}): {ABOUT[group]}" for group in GROUPS))
    return "\n".join([head, *top, *(_group(sources, group) for group in GROUPS)])


def _group(sources: Sources, group: str) -> str:
    """Return the section of a group: its options and its keys."""
    options = [path.stem for path in sources.options(group)]
    classes: dict[type, dict[str, Any]] = {}
    for name in options:
        component = _component(experiment(sources, [f"{group}={name}"]), group)
        classes.setdefault(type(component), {})[name] = component
    summaries = [f"- {_names(objects)}: {_summary(cls)}" for cls, objects in classes.items()]
    rows = [row for cls, objects in classes.items() for row in _rows(cls, objects, _properties(cls))]
    return "\n".join([f"## {group}\n", *summaries, "", _table(_merge(rows), set(options))])


def _summary(cls: type) -> str:
    """Return the first sentence of a class docstring."""
    first = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
    return re.split(r"\. (?=[A-Z]\w* )", first)[0].removesuffix(".")


def _merge(rows: Iterable[Row]) -> list[Row]:
    """Merge rows with the same key, meaning and values."""
    merged: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        same = (row.key, row.meaning, row.values)
        merged[same] = replace(row, defaults={**(merged[same].defaults if same in merged else {}), **row.defaults})
    return list(merged.values())


def _component(experiment: Experiment, group: str) -> object:
    return (vars(experiment) | vars(experiment.problem) | vars(experiment.method))[group]


def _properties(cls: type) -> Mapping[str, Any]:
    """Return the JSON schema of each key of a class."""
    return TypeAdapter(cls).json_schema().get("properties", {})


def _rows(cls: type, objects: Mapping[str, Any], keys: Iterable[str]) -> list[Row]:
    """Return a row per key of a class, with defaults from objects."""
    schemas, meanings = _properties(cls), _meanings(cls)
    return [
        Row(
            key,
            schemas[key].get("description", meanings.get(key, "")),
            _values(schemas[key]),
            {name: getattr(component, key) for name, component in objects.items()},
        )
        for key in keys
    ]


def _meanings(cls: type) -> dict[str, str]:
    """Return the docstrings of keys, for table cells."""
    texts = {key: text for base in reversed(cls.__mro__) for key, text in _docstrings_of_fields(base).items()}
    return {key: _in_a_cell(" ".join(text.split()).removesuffix(".")) for key, text in texts.items()}


def _docstrings_of_fields(cls: type) -> dict[str, str]:
    """Return the docstrings below fields; empty for classes of other packages."""
    if not is_ours(cls.__module__):
        return {}
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    body = cast(ast.ClassDef, definition).body
    pairs = [(field, below) for field, below in pairwise(body) if isinstance(field, ast.AnnAssign)]
    return {
        ast.unparse(field.target): str(below.value.value)
        for field, below in pairs
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


def _in_a_cell(text: str) -> str:
    return text[0].lower() + text[1:] if text[1] in string.ascii_lowercase + " " else text


def _values(schema: Mapping[str, Any]) -> str:
    """Describe the values of a JSON schema in words."""
    if "anyOf" in schema:
        return ", ".join(_values(alternative) for alternative in schema["anyOf"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"a list: {_values(schema['items'])}"
    bounds = " ".join(f"{sign} {schema[bound]:g}" for bound, sign in BOUNDS.items() if bound in schema)
    if {"minimum", "maximum"} <= schema.keys():
        bounds = f"in [{schema['minimum']:g}, {schema['maximum']:g}]"
    name = {"boolean": "`true`, `false`", "null": "`null`"}.get(schema["type"], schema["type"])
    return " ".join(piece for piece in (name, bounds) if piece)


def _defaults(row: Row) -> str:
    """Return the most common default, followed by the defaults of other options."""
    defaults = {name: _value_text(value) for name, value in row.defaults.items()}
    commonest = max(defaults.values(), key=[*defaults.values()].count)
    rare = [value for value in dict.fromkeys(defaults.values()) if value != commonest]
    names = {value: ", ".join(name for name in defaults if defaults[name] == value) for value in rare}
    return "; ".join([commonest, *(f"{value}: {names[value]}" for value in rare)])


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]:g}, {value[1]:g}, ..., {value[-2]:g}, {value[-1]:g}"
    if isinstance(value, DataPath):  # relative to the current folder, as in the file of the option
        return f"`{Path(value).relative_to(Path.cwd())}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, cast(tuple[object, ...], value)))}]`"
    return "`null`" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _section(title: str, rows: Sequence[Row]) -> str:
    return f"## {title}\n\n{_table(rows, {'default'})}"


def _table(rows: Sequence[Row], options: set[str]) -> str:
    """Return the table of keys, with a column of options if needed."""
    if not rows:
        return "No keys.\n"
    owners = [_owners(row, options) for row in rows]
    owners = [DITTO if mine and mine == above else mine for above, mine in zip(["", *owners], owners, strict=False)]
    cells = [[f"`{row.key}`", row.meaning, row.values, _defaults(row)] for row in rows]
    head = ["key", "meaning", "values", "default", "options"]
    if not any(owners):
        return markdown(head[:-1], cells)
    return markdown(head, [[*row, owner] for row, owner in zip(cells, owners, strict=True)])


def _owners(row: Row, options: set[str]) -> str:
    """Name the options with a key: empty for all, or `all but ...`."""
    without_key = options - row.defaults.keys()
    if not without_key:
        return ""
    return _names(row.defaults) if len(row.defaults) <= len(without_key) else f"all but {_names(sorted(without_key))}"


def _names(options: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in options)
