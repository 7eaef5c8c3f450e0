"""Write JSON schemas of the options in `conf/`, for editors: `python -m docs.build.schemas`.

The schemas of the classes are relaxed in two ways. Each value may be an interpolation, and any key may come from the
options that a file is built on.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pomrl.configuration.composed import GROUPS, ConfigError
from pomrl.configuration.composition import Composer
from pomrl.configuration.importing import import_by_name
from pomrl.configuration.sources import PUBLISHED

FOLDER = PUBLISHED.folder / "schemas"

INTERPOLATION = {"type": "string", "pattern": r"^\$\{.*\}$|^\?\?\?$"}
"""A value computed from others, or given elsewhere."""

CONVERT = {"enum": ["none", "partial", "object", "all"]}
"""How `hydra.utils.instantiate` converts lists and mappings."""


def schema_of(group: str) -> dict[str, Any]:
    """Return the schema of the files of a group."""
    targets = dict.fromkeys(filter(None, map(_target, PUBLISHED.options(group))))
    classes = {target: _of_class(target) for target in targets}
    definitions = {name: part for schema in classes.values() for name, part in schema.pop("$defs", {}).items()}
    option = {"$ref": "#/$defs/option"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"An option of the group {group}",
        "anyOf": [option, {"type": "object", "required": [group], "properties": {group: option}}],  # @package _global_
        "$defs": {**definitions, "option": {"anyOf": list(classes.values())}},
    }


def _target(path: Path) -> str | None:
    """Return an option's class name, own or inherited; None if invalid."""
    group = path.parent.name
    try:
        return str(Composer.from_sources(PUBLISHED).compose([f"{group}={path.stem}"]).values[group]["_target_"])
    except ConfigError:
        return None


def _of_class(target: str) -> dict[str, Any]:
    module, _, name = target.rpartition(".")
    schema = TypeAdapter(getattr(import_by_name(module), name)).json_schema()
    keys = {key: _or_computed(part) for key, part in schema["properties"].items()}
    described = {key: schema[key] for key in ("title", "description", "$defs") if key in schema}
    return described | {
        "type": ["object", "null"],
        "properties": {"_target_": {"const": target}, "_convert_": CONVERT, "defaults": {"type": "array"}, **keys},
        "additionalProperties": False,
    }


def _or_computed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value; each part may be an interpolation."""
    lists = {key: _or_computed(schema[key]) for key in ("items",) if isinstance(schema.get(key), dict)}
    alternatives = {"anyOf": [*map(_or_computed, schema["anyOf"])]} if "anyOf" in schema else {}
    return {"anyOf": [schema | lists | alternatives, INTERPOLATION]}


def texts() -> dict[str, str]:
    """Return the content of each file, by its name."""
    return {f"{group}.json": json.dumps(schema_of(group), indent=1, sort_keys=True) + "\n" for group in sorted(GROUPS)}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
