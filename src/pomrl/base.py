"""The base class of components, frozen dataclasses with validated fields."""

import os
from abc import ABC
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, dataclass_transform

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, ValidationError
from pydantic.dataclasses import dataclass

CHECKED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""The pydantic configuration of components: unknown keys, wrong types, NaN and infinity are errors."""


class FieldError(ValueError):
    """An error of a component's fields, in one line."""

    def __init__(self, message: str, details: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self._details = details

    def errors(self) -> Sequence[Any]:
        """Return the errors of pydantic."""
        return self._details

    def __reduce__(self) -> tuple[Any, ...]:
        return FieldError, self.args  # because pydantic's errors may hold values without pickles


def _with_short_errors(init: Callable[..., None]) -> Callable[..., None]:
    """Wrap the `__init__` of a component to raise a FieldError."""

    @wraps(init)
    def wrapped(self: Any, *arguments: Any, **values: Any) -> None:
        try:
            init(self, *arguments, **values)
        except ValidationError as invalid:
            errors = invalid.errors()
        else:
            return
        raise FieldError(f"{type(self).__name__}{_format_error(errors[0])}", errors)  # without a context to pickle

    return wrapped


def _format_error(error: Any) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])
    value = "" if error["type"] == "missing" or not place else f"={error['input']!r}"
    return f"{place}{value}: {error['msg'].removeprefix('Value error, ')}"


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(Field,))
class Component(ABC):  # noqa: B024 (its subclasses have abstract methods)
    """Base class of components; annotated attributes become keyword fields.

    Each subclass becomes a frozen pydantic dataclass with the configuration `CHECKED`. A subclass with an
    `__init__` raises a TypeError. Wrong fields raise a FieldError.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            raise TypeError(f"{cls.__qualname__} must not have an __init__; declare annotated fields instead")
        dataclass(cls, frozen=True, kw_only=True, config=CHECKED)
        setattr(cls, "__init__", _with_short_errors(cls.__init__))  # noqa: B010 (type checkers refuse an assignment)


def _in_ascending_order(values: Sequence[Any]) -> Sequence[Any]:
    if any(b <= a for a, b in pairwise(values)):
        raise ValueError("values must be strictly ascending")
    return values


Ascending = AfterValidator(_in_ascending_order)
"""The validator of a field of strictly ascending numbers."""

SHARE_OF_MEMORY = 0.5
"""The largest size of an array, as a share of the machine's memory."""


class DataPath(str):
    """The absolute path of a data file in a `DataFile` field."""

    __slots__ = ()


def _existing(path: str) -> DataPath:
    absolute = Path(path).absolute()
    if not absolute.is_file():
        raise ValueError(f"must be an existing file, got {absolute}")
    return DataPath(absolute)


DataFile = Annotated[str, AfterValidator(_existing)]
"""The type of a field with the path of a data file. The content of the file is part of the experiment's signature.
Relative paths start at the current folder."""


def make_read_only(*arrays: np.ndarray) -> None:
    """Make arrays read-only, in place."""
    for array in arrays:
        array.flags.writeable = False


def check_memory(size: int, name: str) -> None:
    """Raise a ValueError if `size` bytes exceed `SHARE_OF_MEMORY` of this machine's memory."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > SHARE_OF_MEMORY * memory:
        raise ValueError(
            f"{name}: transition probabilities must take at most {SHARE_OF_MEMORY:.0%} of this machine's "
            f"{memory / 2**30:,.1f} GiB of memory, got {size / 2**30:,.1f} GiB"
        )
