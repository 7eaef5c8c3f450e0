"""Calls of functions in processes, or threads, of this machine.

Processes leave the interrupts of the terminal to the command that started them, and end when it ends.
"""

# joblib and threadpoolctl come without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import ctypes
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from signal import SIG_IGN, SIGINT, SIGKILL, signal
from typing import Any, TypeVar, cast

from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_limits

PR_SET_PDEATHSIG = 1
"""The option of Linux's prctl that chooses the signal which a process gets when its parent ends."""

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def one_thread() -> AbstractContextManager[Any]:
    """Let BLAS use one thread, because its number of threads can change bits, and small products take longer with more.

    Processes are the only level of parallelism.
    """
    return threadpool_limits(limits=1, user_api="blas")


def one_by_one(function: Callable[..., Any], *arguments: Iterable[Any], workers: int | None = None) -> Iterator[Any]:
    """Call a function on each tuple of arguments in processes, and yield each result as soon as it is there.

    Results come in any order.

    Args:
        function: The function.
        arguments: The arguments, as `map` takes them.
        workers: The number of processes, including this one; by default one for each core.
    """
    calls = list(map(delayed(function), *arguments))
    # Joblib starts a process anew when its memory has grown, and warns of that.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    parallel = Parallel(
        n_jobs=workers or max(1, min(cpu_count(), len(calls))),
        return_as="generator_unordered",
        initializer=_end_with,
        initargs=(os.getpid(),),
    )
    yield from cast(Iterator[Any], parallel(calls))


def in_threads(function: Callable[[Argument], Result], arguments: Iterable[Argument]) -> list[Result]:
    """Call a function on each argument in threads that share memory, and return the results in their order.

    It pays for long calls of NumPy.
    """
    with one_thread(), ThreadPoolExecutor(cpu_count()) as threads:
        return list(threads.map(function, arguments))


def _end_with(driver: int) -> None:
    """Let the kernel end this process when its parent, the driver, ends for whatever reason (on Linux).

    Joblib would let a process that crashes print fifty lines, unless the environment says whether it should.
    """
    signal(SIGINT, SIG_IGN)
    os.environ.setdefault("PYTHONFAULTHANDLER", "")
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != driver:  # which ended before that
            os.kill(os.getpid(), SIGKILL)
