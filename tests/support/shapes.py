"""Shapes of arguments and results, checked in the first calls of each function in each test.

Tests that draw thousands of times call the same functions with the same shapes, and checks of them all would take
several times as long as the tests themselves.
"""

import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

from beartype import beartype

CHECKED = 50
"""Calls of a function that are checked in each test."""

calls = Counter[Callable[..., Any]]()
"""Checked calls of each function since the test began."""

unchecked = set[Any]()
"""Functions of which so many calls were checked since the test began."""


def first_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that checks its first arguments in each test; what jaxtyping wants of a type checker."""
    check = beartype(function)

    @wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        calls[check] += 1
        if calls[check] == CHECKED:
            _leave_alone(sys._getframe(1).f_locals["fn"])  # the function that jaxtyping, the caller, wraps
        return check(*arguments, **named)

    return checked


def _leave_alone(function: Any) -> None:
    """Let jaxtyping call a function as if it were not wrapped: binding arguments to names takes as long as checks."""
    function.__no_type_check__ = True
    unchecked.add(function)


def begin() -> None:
    """Check the first calls of each function again."""
    for function in unchecked:
        function.__no_type_check__ = False
    unchecked.clear()
    calls.clear()
