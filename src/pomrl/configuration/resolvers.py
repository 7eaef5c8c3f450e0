"""Merge nested values, and resolve interpolations such as `${half:${S}}`.

Results are the same as from OmegaConf, a hundred times faster.
"""

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any, cast

from omegaconf import OmegaConf

from pomrl.configuration.sources import beside_the_package
from pomrl.outputs import outputs

Values = dict[str, Any]
"""Nested values by key; interpolations are text."""


def _half(n: Any) -> Any:
    return n // 2 if isinstance(n, int) else n


def _all_but(share: int, n: Any) -> Any:
    return n - share if isinstance(n, int) else n


def _steps_to(horizon: Any) -> Any:
    """Return the horizon, or 1 for None; `check_experiment` rejects None."""
    return 1 if horizon is None else horizon


def _grid_to(gamma_eval: Any, horizon: Any = None) -> Any:
    """Return the default grid: 0, 0.05, ... below gamma_eval, and gamma_eval.

    Without a horizon 0.99 replaces 1, because most estimated models are unsolvable at 1.
    """
    if not isinstance(gamma_eval, int | float):
        return gamma_eval
    gamma_eval = 0.99 if gamma_eval == 1 and horizon is None else gamma_eval
    return OmegaConf.create([*(i / 20 for i in range(20) if i / 20 < gamma_eval), float(gamma_eval)])


OF_NUMBERS = {"half": _half, "all_but": _all_but, "grid_to": _grid_to, "steps_to": _steps_to}
"""The resolvers of numbers in YAML files, such as `${half:${S}}`."""


def _scalar(text: Any) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "null": None}.get(str(text).lower(), text)


def with_typed_environment(value: Any) -> Any:
    """Wrap each lone `${oc.env:NAME}` in the resolver `scalar`, for typed values."""
    if isinstance(value, dict):
        return {key: with_typed_environment(inner) for key, inner in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [with_typed_environment(inner) for inner in cast(list[Any], value)]
    is_lone = isinstance(value, str) and re.fullmatch(r"\$\{oc\.env:[^{}]*\}", value)
    return f"${{scalar:{value}}}" if is_lone else value


def register_resolvers() -> None:
    """Register the resolvers of YAML files with OmegaConf."""
    resolvers = {"scalar": _scalar, "shipped": beside_the_package, "outputs": outputs}
    for name, function in {**OF_NUMBERS, **resolvers}.items():
        OmegaConf.register_new_resolver(name, function, replace=True)


def merge(values: Values, update: Values) -> None:
    """Merge values into nested values in place; `???` keeps an existing value."""
    for key, value in update.items():
        below = values.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merge(cast(Values, below), cast(Values, value))
        elif value != "???" or key not in values:
            values[key] = deepcopy(cast(Any, value))


def with_value(values: Values, path: Sequence[str], value: Any) -> Values:
    """Return a copy with one value replaced; KeyError if missing or a mapping."""
    name, *below = path
    if isinstance(values[name], dict) != bool(below) or isinstance(value, dict):
        raise KeyError(name)
    return {**values, name: with_value(values[name], below, value) if below else value}


def resolve(value: Any, values: Values) -> Any:
    """Resolve interpolations of keys outside of groups.

    KeyError for a missing value or another interpolation; OmegaConfBaseException if one cannot be resolved.
    """
    if isinstance(value, dict):
        return {key: resolve(inner, values) for key, inner in cast(Values, value).items()}
    if isinstance(value, list):
        return [resolve(inner, values) for inner in cast(list[Any], value)]
    if value == "???":
        raise KeyError(value)
    if not isinstance(value, str) or "${" not in value:
        return value
    names = [name for name in re.findall(r"\$\{([^:}]*)", value) if name not in OF_NUMBERS]
    return deepcopy(_interpolate(json.dumps({**{name: values[name] for name in names}, "": value})))


@lru_cache(maxsize=10_000)
def _interpolate(values: str) -> Any:
    """Resolve the key "" by the other keys of a JSON mapping."""
    resolved = OmegaConf.to_container(OmegaConf.create(json.loads(values)), resolve=True)
    return cast(Values, resolved)[""]
