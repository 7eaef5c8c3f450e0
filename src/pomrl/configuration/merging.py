"""Configurations as plain nested values, merged as OmegaConf merges them, which takes it a hundred times as long."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, cast

Values = dict[str, Any]
"""Nested values by key; interpolations such as `${S}` are text."""


def merge(values: Values, further: Values) -> None:
    """Put further values into nested ones; `???` is a value that is given elsewhere."""
    for key, value in further.items():
        below = values.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merge(cast(Values, below), cast(Values, value))
        elif value != "???" or key not in values:
            values[key] = deepcopy(cast(Any, value))


def with_value(values: Values, path: Sequence[str], value: Any) -> Values:
    """Return values with another value of a key; what lies beside the key is shared, and nothing is changed.

    Raises:
        KeyError: There is no such key, or it is a group of keys.
    """
    name, *below = path
    if isinstance(values[name], dict) != bool(below) or isinstance(value, dict):
        raise KeyError(name)
    return {**values, name: with_value(values[name], below, value) if below else value}
