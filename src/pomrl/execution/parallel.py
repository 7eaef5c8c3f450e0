"""Calls of functions in processes, or threads, of this machine.

Processes leave the interrupts of the terminal to the command that started them, and end when it ends.
"""

# joblib and threadpoolctl come without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import ctypes
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from signal import SIG_IGN, SIGINT, SIGKILL, signal
from typing import Any, TypeVar, cast

from joblib import Parallel, cpu_count
from threadpoolctl import threadpool_limits

PR_SET_PDEATHSIG = 1
"""The option of Linux's prctl that chooses the signal which a process gets when its parent ends."""

Argument = TypeVar("Argument")
ResultT = TypeVar("ResultT")


def one_thread() -> AbstractContextManager[Any]:
    """Let BLAS use one thread, because its number of threads can change bits, and small products take longer with more.

    Processes are the only level of parallelism.
    """
    return threadpool_limits(limits=1, user_api="blas")


Calls = Iterable[tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]]
"""Calls of functions with their arguments, as `joblib.delayed` makes them."""


def processes(number: int) -> Callable[[Calls], Iterator[Any]]:
    """Return joblib's `Parallel` of so many processes, which yields results in any order, each as soon as it is there.

    One process is this one.
    """
    # Joblib starts a process anew when its memory has grown, and warns of that.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    parallel = Parallel(n_jobs=number, return_as="generator_unordered", initializer=_end_with, initargs=(os.getpid(),))
    return cast(Any, parallel)


def in_threads(function: Callable[[Argument], ResultT], arguments: Iterable[Argument]) -> list[ResultT]:
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
