"""Calls of a function on independent arguments, in as many processes, or threads, as there are cores."""

# joblib comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

from pomrl.execution.children import end_with

Argument = TypeVar("Argument")
Result = TypeVar("Result")


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


def in_threads(function: Callable[[Argument], Result], arguments: Iterable[Argument]) -> list[Result]:
    """Call a function on each argument in threads that share memory, and return the results in their order.

    It pays for long calls of NumPy. BLAS gets one thread, because its number of threads can change bits.
    """
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(cpu_count()) as threads:
        return list(threads.map(function, arguments))
