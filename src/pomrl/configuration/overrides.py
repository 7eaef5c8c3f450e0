"""Convert settings of Python code to overrides of a command line."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from pomrl.configuration.composed import ConfigError

_PLAIN = re.compile(r"(?!(?:true|false|null|nan|inf)$)[A-Za-z_][\w./-]*", re.IGNORECASE | re.ASCII)
"""Text that needs no quotes in Hydra overrides."""


def key(name: str) -> str:
    """Convert an argument to a key: estimator__prior to estimator.prior."""
    return name.replace("__", ".")


def overrides(settings: Mapping[str, Any]) -> list[str]:
    """Format settings as overrides; ConfigError unless they are plain values or lists."""
    return [f"{key(name)}={_text(name, value)}" for name, value in settings.items()]


def axes(settings: Mapping[str, Any]) -> list[str]:
    """Format settings as overrides, sweeping over the elements of sequences."""
    values = {name: value if _is_sequence(value) else [value] for name, value in settings.items()}
    if empty := [name for name, elements in values.items() if not len(elements)]:
        raise ConfigError(f"{key(empty[0])} must have at least one value, got {settings[empty[0]]!r}")
    return [
        f"{key(name)}={','.join(_text(name, element) for element in elements)}" for name, elements in values.items()
    ]


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple | range | np.ndarray)


def _text(name: str, value: Any) -> str:
    if isinstance(value, np.generic):
        return _text(name, cast(Any, value).item())
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if _is_sequence(value):
        return "[" + ",".join(_text(name, element) for element in cast(Sequence[Any], value)) + "]"
    raise ConfigError(
        f"{key(name)} must be text, a number, a boolean, None or a list of these, "
        f"got the {type(value).__name__} {value!r}"
    )
