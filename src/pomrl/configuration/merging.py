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


def was_set(values: Values, path: Sequence[str], value: Any) -> bool:
    """Give a key another value; return False, and leave everything as it is, if it has none or is a group of keys."""
    *above, key = path
    below: Any = values
    for name in above:
        below = cast(Values, below).get(name) if isinstance(below, dict) else None
    if not isinstance(below, dict) or isinstance(cast(Values, below).get(key, {}), dict) or isinstance(value, dict):
        return False
    below[key] = value
    return True
