"""What the components of an experiment have in common: they are frozen, checked pydantic dataclasses."""

from pydantic import ConfigDict

CHECKED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""How a component checks its keys: none that it does not know, no conversion of types, no NaN and no infinity."""
