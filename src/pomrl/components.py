"""The configuration that all components of an experiment share: they are frozen pydantic dataclasses with checks."""

from typing import Literal

import numpy as np
from pydantic import ConfigDict

CHECKED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""Configuration of pydantic for components: it refuses unknown keys, values of another type, NaN and infinity."""

Engine = Literal["auto", "compiled", "numpy"]
"""The engine that solves small models; `auto` is the compiled engine if it was built, and NumPy if it was not."""


def read_only(*arrays: np.ndarray) -> None:
    """Make writing to these arrays an error, so that no component can change what another one sees."""
    for array in arrays:
        array.flags.writeable = False
