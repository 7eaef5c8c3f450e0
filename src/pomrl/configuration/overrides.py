"""Settings from Python code as overrides of a command line."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from pomrl.configuration.composed import ConfigError

_PLAIN = re.compile(r"(?!(?:true|false|null|nan|inf)$)[A-Za-z_][\w./-]*", re.IGNORECASE | re.ASCII)
"""A word that Hydra reads as text without quotation marks."""


def key(name: str) -> str:
    """Return the key of a setting by its name as an argument: `estimator__prior` stands for `estimator.prior`."""
    return name.replace("__", ".")


def overrides(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as overrides of an experiment; ConfigError unless they are plain values or lists of them."""
    return [f"{key(name)}={_text(name, value)}" for name, value in settings.items()]


def axes(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as overrides of a sweep, over the elements of lists, tuples, ranges and arrays."""
    values = {name: value if _is_sequence(value) else [value] for name, value in settings.items()}
    return [f"{key(name)}={','.join(_text(name, one) for one in several)}" for name, several in values.items()]


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple | range | np.ndarray)


def _text(name: str, value: Any) -> str:
    """Return a value as Hydra's grammar of overrides has it."""
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
        return "[" + ",".join(_text(name, one) for one in cast(Sequence[Any], value)) + "]"
    raise ConfigError(
        f"{key(name)}={value!r}: a {type(value).__name__} is no setting; text, numbers and lists of them are"
    )
