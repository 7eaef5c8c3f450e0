"""YAML files are looked at before Hydra reads them, because aliases in them can stand for more than fits into memory.

An alias (`*name`) repeats what an anchor (`&name`) marks. Few lines can thus stand for billions of values, or for one
that contains itself, and OmegaConf writes all of them out.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import yaml

from pomrl.configuration.composed import ConfigError

MOST_BYTES = 4 * 2**20
"""The most bytes that a YAML file may have."""

MOST_NODES = 100_000
"""The most values that a YAML file with aliases may stand for."""


def check(folders: Iterable[Path]) -> None:
    """Refuse folders with a YAML file that cannot be read whole.

    Raises:
        ConfigError: A file is not an ordinary one, is larger than `MOST_BYTES`, or has aliases that are cyclic or stand
            for more than `MOST_NODES` values. The message names the file.
    """
    for path in _files(folders):
        _check_file(path)


def states(folders: Iterable[Path]) -> Iterator[tuple[str, int, int]]:
    """Yield the path, the time of the last change and the size of each YAML file in folders."""
    for path in _files(folders):
        status = path.stat()
        yield str(path), status.st_mtime_ns, status.st_size


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the YAML files in folders, but not links that lead nowhere, which Hydra does not find either."""
    for folder in folders:
        for parent, _, names in os.walk(folder, followlinks=True):
            paths = (Path(parent, name) for name in sorted(names) if name.endswith(".yaml"))
            yield from (path for path in paths if path.exists())


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise ConfigError(f"{path}: it is no ordinary file")
    if path.stat().st_size > MOST_BYTES:
        raise ConfigError(f"{path}: it has more than {MOST_BYTES:,} bytes")
    text = path.read_text(errors="backslashreplace")
    if "&" in text and "*" in text:
        _check_aliases(path, text)
    if ":" not in text:
        _check_value(path, text)


def _check_value(path: Path, text: str) -> None:
    """Refuse a single number, of which OmegaConf says only that its type is wrong, and not where it stands."""
    value: Any = None
    with suppress(yaml.YAMLError, ValueError, RecursionError):  # which Hydra reports if it reads the file
        value = yaml.safe_load(text)
    if not isinstance(value, dict | list | str | None):
        raise ConfigError(f"{path}: it has to consist of keys and values, and is {value!r}")


def _check_aliases(path: Path, text: str) -> None:
    try:
        root = cast("yaml.Node | None", cast(Any, yaml).compose(text, yaml.SafeLoader))
        size = _size(root, {}) if root else 0
    except yaml.YAMLError:
        return  # which Hydra reports if it reads the file
    except RecursionError as error:
        raise ConfigError(f"{path}: its values are nested too deeply, or contain themselves") from error
    if size > MOST_NODES:
        raise ConfigError(f"{path}: its aliases stand for {float(size):.0e} values; {MOST_NODES:,} are the most")


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Return the number of values that a node stands for; those of shared nodes are counted once and multiplied.

    Raises:
        RecursionError: A node contains itself.
    """
    if id(node) not in known:
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in cast(list[tuple[yaml.Node, yaml.Node]], node.value) for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            parts = cast(list[yaml.Node], node.value)
        known[id(node)] = 1 + sum(_size(part, known) for part in parts)
    return known[id(node)]
