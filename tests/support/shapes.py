"""Shapes of arguments and results, checked in the first calls of each function in each test.

Tests that draw thousands of times call the same functions with the same shapes, and checks of them all would take
several times as long as the tests themselves.
"""

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from beartype import beartype
from jaxtyping import config

Result = TypeVar("Result")

CHECKED = 50
"""Calls of a function that are checked in each test."""

calls = Counter[Callable[..., Any]]()
"""Calls of each function since the test began."""


def first_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that checks its first arguments in each test; what jaxtyping wants of a type checker."""
    check = beartype(function)

    @functools.wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        calls[check] += 1
        return (check if calls[check] <= CHECKED else function)(*arguments, **named)

    return checked


def with_each_seed(result: Callable[[int], Result], seeds: int) -> list[Result]:
    """Return the result with each of so many seeds; shapes are checked with the first of them alone."""
    first = result(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "jaxtyping_disable", True)
        return [first, *map(result, range(1, seeds))]
