"""Calls of a function on independent arguments, in as many processes as there are cores."""

# joblib comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from joblib import Parallel, cpu_count, delayed

from pomrl.execution.children import end_with


def in_parallel(function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
    """Call a function on each tuple of arguments, and return the results in their order; a single call is made here."""
    return list(one_by_one(function, *arguments))


def one_by_one(function: Callable[..., Any], *arguments: Iterable[Any], here: bool = False) -> Iterator[Any]:
    """Call a function on each tuple of arguments, and yield each result, in their order, as soon as it is there.

    Args:
        function: The function.
        arguments: The arguments, as `map` takes them.
        here: Whether to call it in this process, which is faster for a few short calls.
    """
    calls = list(map(delayed(function), *arguments))
    workers = 1 if here else max(1, min(cpu_count(), len(calls)))
    parallel = Parallel(n_jobs=workers, return_as="generator", initializer=end_with, initargs=(os.getpid(),))
    yield from cast(Iterator[Any], parallel(calls))
