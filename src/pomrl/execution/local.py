"""Make calls in local processes, with joblib, or in threads.

Processes ignore interrupts of the terminal, and end with their parent.
"""

# joblib and threadpoolctl have no type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import ctypes
import os
import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import parent_process
from signal import SIG_IGN, SIGINT, SIGKILL, signal
from typing import Annotated, Any, TypeVar, cast

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool
from pydantic import Field
from threadpoolctl import threadpool_limits

from pomrl.execution.engine import Execution, ExecutionError, Parallel

SHORT_WORK_SECONDS = 5.0
"""The estimated seconds of work below which starting processes takes longer than it saves."""

PR_SET_PDEATHSIG = 1
"""The prctl option of Linux for a signal to a process when its parent ends."""

Argument = TypeVar("Argument")
ResultT = TypeVar("ResultT")


class Local(Execution):
    """Processes of this machine (joblib, loky)."""

    workers: Annotated[
        int | None,
        Field(
            ge=1,
            description="processes; 1: only this one; null: one for each core, or 1 for little work or in a worker",
        ),
    ] = None

    def at_once(self, seconds: float) -> int:
        is_worker = parent_process() is not None  # such as one of hydra/launcher=joblib, which already uses all cores
        return self.workers or (1 if is_worker or seconds < SHORT_WORK_SECONDS else joblib.cpu_count())

    @contextmanager
    def parallel(self, seconds: float) -> Generator[Parallel]:
        try:
            yield processes(self.at_once(seconds))
        except BrokenProcessPool as error:
            exit_codes = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
            how = (exit_codes and exit_codes[1]) or "unknown reason"
            hint = "; if memory ran out, set a smaller execution.runs_at_a_time" if "SIGKILL" in how else ""
            raise ExecutionError(f"a worker process ended during a computation ({how}){hint}") from error


def processes(number: int) -> Parallel:
    """Return an unordered `joblib.Parallel`; 1 uses no other process."""
    # joblib restarts a process when its memory has grown, and warns about it.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    options: dict[str, Any] = {"return_as": "generator_unordered", "initializer": _end_with, "initargs": (os.getpid(),)}
    return cast(Any, joblib.Parallel(n_jobs=number, **options))


def _end_with(driver: int) -> None:
    """Let the kernel end this process with its parent (on Linux).

    Traces of joblib after a crash are suppressed, unless the environment requests them.
    """
    signal(SIGINT, SIG_IGN)
    os.environ.setdefault("PYTHONFAULTHANDLER", "")
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != driver:  # the parent ended earlier
            os.kill(os.getpid(), SIGKILL)


def one_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread, because several can change bits."""
    return threadpool_limits(limits=1, user_api="blas")


def in_threads(function: Callable[[Argument], ResultT], arguments: Iterable[Argument]) -> list[ResultT]:
    """Map a function over arguments in threads, in order."""
    with one_thread(), ThreadPoolExecutor(joblib.cpu_count()) as threads:
        return list(threads.map(function, arguments))
