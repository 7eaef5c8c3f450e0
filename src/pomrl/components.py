"""The configuration that all components of an experiment share: they are frozen pydantic dataclasses with checks."""

from typing import Literal

from pydantic import ConfigDict

CHECKED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""Configuration of pydantic for components: it refuses unknown keys, values of another type, NaN and infinity."""

Engine = Literal["auto", "compiled", "numpy"]
"""What solves small models: the compiled engine, NumPy, or the compiled engine where it was built."""
