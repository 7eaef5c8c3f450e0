"""The names of the options of a configuration that does not say them, found by their content."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pomrl.configuration.composed import GROUPS, ConfigError
from pomrl.configuration.sources import Sources


def find_options(values: Mapping[str, Any], sources: Sources) -> dict[str, str]:
    """Return for each group the option with the same class that differs in the fewest keys; none where several do.

    Args:
        values: A composed configuration as plain data.
        sources: The folders of options.
    """
    found = {group: _nearest(group, values.get(group), sources) for group in GROUPS}
    return {group: name for group, name in found.items() if name}


def _nearest(group: str, value: Any, sources: Sources) -> str | None:
    from pomrl.configuration.composition import Composer  # here, because what is stored is found without Hydra

    if not isinstance(value, dict):
        return None
    values = cast(dict[str, Any], value)
    composer, distances = Composer.of_sources(sources), dict[str, int]()
    for path in [path for folder in sources.folders for path in sorted((folder / group).glob("*.yaml"))]:
        if _may_have(path, str(values.get("_target_"))):
            try:
                option: Mapping[str, Any] = composer.one([f"{group}={path.stem}"]).values[group]
            except ConfigError:  # it needs further settings
                continue
            if option["_target_"] == values["_target_"]:
                keys = {*option, *values}
                distances[path.stem] = sum(option.get(key) != values.get(key) for key in keys)
    nearest = [name for name, distance in distances.items() if distance == min(distances.values())]
    return nearest[0] if len(nearest) == 1 else None


def _may_have(path: Path, target: str) -> bool:
    """Return whether the file of an option has this class, or takes its class from another file."""
    text = path.read_text(encoding="utf-8")
    return target in text or "_target_" not in text
