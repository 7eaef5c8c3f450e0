"""The base class of an experiment's components: frozen dataclasses of pydantic with checked fields."""

import os
from abc import ABC
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, dataclass_transform

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

CHECKED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""Pydantic's configuration of components: unknown keys, other types, NaN and infinity are errors."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(Field,))
class Component(ABC):  # noqa: B024 (its subclasses have abstract methods)
    """Base class of components; annotated attributes become keyword fields.

    Pydantic makes a frozen dataclass of each subclass and checks its fields as `CHECKED` says; an `__init__` is a
    TypeError.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            raise TypeError(f"{cls.__qualname__}: a component is made from its annotated fields, without an __init__")
        dataclass(cls, frozen=True, kw_only=True, config=CHECKED)


def _in_ascending_order(values: Sequence[Any]) -> Sequence[Any]:
    if any(b <= a for a, b in pairwise(values)):
        raise ValueError("they must ascend strictly")
    return values


Ascending = AfterValidator(_in_ascending_order)
"""Validator for the type of a field: numbers ascend strictly."""

SHARE_OF_MEMORY = 0.5
"""Largest share of this machine's memory for one array."""


class DataPath(str):
    """Absolute path of a data file, the value of a `DataFile` field."""

    __slots__ = ()


def _existing(path: str) -> DataPath:
    absolute = Path(path).absolute()
    if not absolute.is_file():
        raise ValueError(f"there is no file {absolute}")
    return DataPath(absolute)


DataFile = Annotated[str, AfterValidator(_existing)]
"""Type of a field with the name of a data file, whose content is part of the signature. A relative path starts at the
folder in which the command runs. The component reads the file at this path."""


def make_read_only(*arrays: np.ndarray) -> None:
    """Make writing to these arrays an error."""
    for array in arrays:
        array.flags.writeable = False


def check_memory(size: int, name: str) -> None:
    """Raise a ValueError if so many bytes exceed `SHARE_OF_MEMORY` of this machine."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > SHARE_OF_MEMORY * memory:
        raise ValueError(
            f"{name}: the transition probabilities take {size / 2**30:,.1f} GiB, and this machine has "
            f"{memory / 2**30:,.1f} GiB of memory"
        )
