"""Calls of a function on independent arguments, in as many processes as there are cores."""

# joblib comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from joblib import Parallel, cpu_count, delayed


def in_parallel(function: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
    """Call a function on each tuple of arguments, and return the results in their order; a single call is made here."""
    calls = list(map(delayed(function), *arguments))
    return list(Parallel(n_jobs=min(cpu_count(), max(1, len(calls))))(calls))


def one_by_one(function: Callable[..., Any], *arguments: Iterable[Any], here: bool = False) -> Iterator[Any]:
    """Call a function on each tuple of arguments, and yield each result, in their order, as soon as it is there.

    Args:
        function: The function.
        arguments: The arguments, as `map` takes them.
        here: Whether to call it in this process, which is faster for a few short calls.
    """
    calls = Parallel(n_jobs=1 if here else cpu_count(), return_as="generator")(map(delayed(function), *arguments))
    yield from cast(Iterator[Any], calls)
