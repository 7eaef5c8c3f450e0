"""Checks of array shapes in the first calls of each function.

Some tests call a function thousands of times with the same shapes. Checks of all calls would take several times as long
as the tests.
"""

import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

from beartype import beartype

CHECKED = 50
"""The number of checked calls of a function in each test."""

calls = Counter[Callable[..., Any]]()
"""The number of checked calls of each function in this test."""

unchecked = set[Any]()
"""Functions whose first calls were checked in this test."""


def first_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    """Check the first calls of a function, as a type checker of jaxtyping."""
    check = beartype(function)

    @wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        calls[check] += 1
        if calls[check] == CHECKED:
            _leave_alone(sys._getframe(1).f_locals["fn"])  # the function that jaxtyping, the caller, wraps
        return check(*arguments, **named)

    return checked


def _leave_alone(function: Any) -> None:
    """Switch off the wrapper of jaxtyping, because it is slow."""
    function.__no_type_check__ = True
    unchecked.add(function)


def begin() -> None:
    """Check the first calls of each function again."""
    for function in unchecked:
        function.__no_type_check__ = False
    unchecked.clear()
    calls.clear()
