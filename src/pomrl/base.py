"""What all components of an experiment share: they are frozen dataclasses of pydantic, whose fields are checked."""

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
"""Configuration of pydantic for components: it refuses unknown keys, values of another type, NaN and infinity."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(Field,))
class Component(ABC):  # noqa: B024 (its subclasses have abstract methods)
    """Base class of components: a subclass is a frozen dataclass whose annotated attributes are its fields.

    No decorator is needed: pydantic makes a dataclass of each subclass, which takes its fields by keyword and checks
    them as `CHECKED` says.

    Raises:
        TypeError: A subclass defines `__init__`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            raise TypeError(f"{cls.__qualname__}: a component is made from its annotated fields, without an __init__")
        dataclass(cls, frozen=True, kw_only=True, config=CHECKED)


def _in_ascending_order(values: Sequence[Any]) -> Sequence[Any]:
    if any(b <= a for a, b in pairwise(values)):
        raise ValueError("they have to ascend strictly")
    return values


Ascending = AfterValidator(_in_ascending_order)
"""What makes the type of a component's field refuse numbers that do not ascend strictly."""


SHARE_OF_MEMORY = 0.5
"""The largest share of this machine's memory that one array may take."""


class DataPath(str):
    """The absolute path of a data file, as a component has it in a field of the type `DataFile`."""

    __slots__ = ()


def _existing(path: str) -> DataPath:
    absolute = Path(path).absolute()
    if not absolute.is_file():
        raise ValueError(f"there is no file {absolute}")
    return DataPath(absolute)


DataFile = Annotated[str, AfterValidator(_existing)]
"""The type of a component's field that names a file with data; the content of the file is part of the signature.

A relative path starts at the folder in which the command runs. The component reads the file by itself, at this path.
"""


def make_read_only(*arrays: np.ndarray) -> None:
    """Make writing to these arrays an error, so that no component can change what another one sees."""
    for array in arrays:
        array.flags.writeable = False


def check_memory(size: int, what: str) -> None:
    """Raise a ValueError if an array of so many bytes takes more than `SHARE_OF_MEMORY` of this machine's memory."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > SHARE_OF_MEMORY * memory:
        raise ValueError(
            f"{what}: the transition probabilities take {size / 2**30:,.1f} GiB, and this machine has "
            f"{memory / 2**30:,.1f} GiB of memory"
        )
