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
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, lru_cache
from multiprocessing import parent_process
from pathlib import Path
from signal import SIG_IGN, SIGINT, SIGKILL, signal
from typing import Annotated, Any, TypeVar, cast

import joblib
from joblib.externals.loky.backend.resource_tracker import ensure_running
from joblib.externals.loky.process_executor import BrokenProcessPool
from pydantic import Field
from threadpoolctl import ThreadpoolController

from pomrl.execution.engine import Execution, ExecutionError, Parallel

SHORT_WORK_SECONDS = 5.0
"""The estimated seconds of work below which starting processes takes longer than it saves."""

WORKER_BYTES = 2**29
"""The memory of a worker in bytes: the interpreter with its libraries, and runs computed together."""

MEMORY_FILE, GROUP_FILE = Path("/proc/meminfo"), Path("/proc/self/cgroup")
"""The files with the machine's memory, and with the control groups of this process (on Linux)."""

GROUP_FOLDER = "/sys/fs/cgroup"
"""The folder of control groups, directly (version 2) or by controller (version 1)."""

WARNINGS = "PYTHONWARNINGS"
"""The environment variable with the filters of warnings of a new interpreter."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""The options of mallopt for the free memory that is kept, and for the size of arrays in pages of their own."""

ARRAY_BYTES = 2**25
"""The largest size of an array in reused memory, in bytes; glibc allows no larger one."""

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
            description="processes; 1: only this one; null: one for each core and half GiB of available memory, "
            "or 1 for little work or in a worker",
        ),
    ] = None

    def at_once(self, seconds: float) -> int:
        is_worker = parent_process() is not None  # such as one of hydra/launcher=joblib, which already uses all cores
        return self.workers or (1 if is_worker or seconds < SHORT_WORK_SECONDS else _max_workers())

    @contextmanager
    def parallel(self, seconds: float) -> Generator[Parallel]:
        try:
            yield processes(self.at_once(seconds))
        except BrokenProcessPool as error:
            exit_codes = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
            how = (exit_codes and exit_codes[1]) or "unknown reason"
            hint = "; if memory ran out, set a smaller execution.runs_at_a_time" if "SIGKILL" in how else ""
            raise ExecutionError(f"a worker process ended during a computation ({how}){hint}") from error


def _max_workers() -> int:
    return max(1, min(joblib.cpu_count(), available_bytes() // WORKER_BYTES))


def available_bytes() -> int:
    """Return the available memory of the machine, at most the limits of control groups."""
    amounts = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_group_limits()]
    with suppress(OSError):  # not on macOS
        amounts += [int(kB) * 1024 for kB in re.findall(r"MemAvailable: *(\d+) kB", MEMORY_FILE.read_text())]
    return min(amounts)


def _group_limits() -> list[int]:
    """List the memory limits of this process's control groups, and of the groups above."""
    limits: list[int] = []
    groups = re.findall(r"^\d+:(memory|):(.*)$", GROUP_FILE.read_text(), re.MULTILINE) if GROUP_FILE.exists() else []
    for controller, group in groups:
        inside = Path(f"{GROUP_FOLDER}/{controller}/{group}")
        for folder in (inside, *inside.parents):
            for name in ("memory.max", "memory.limit_in_bytes"):
                with suppress(OSError, ValueError):  # no such limit, or "max"
                    limits.append(int((folder / name).read_text()))
    return limits


def processes(number: int) -> Parallel:
    """Return an unordered `joblib.Parallel`; 1 uses no other process."""
    if number > 1:
        _start_tracker()
    # joblib restarts a process when its memory has grown, and warns about it.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    options: dict[str, Any] = {"return_as": "generator_unordered", "initializer": _end_with, "initargs": (os.getpid(),)}
    return cast(Any, joblib.Parallel(n_jobs=number, **options))


def _start_tracker() -> None:
    """Start joblib's tracker of semaphores, silent about those of dead processes."""
    before = os.environ.get(WARNINGS)
    os.environ[WARNINGS] = ",".join(filter(None, [before, "ignore:resource_tracker"]))
    ensure_running()
    if before is None:
        del os.environ[WARNINGS]
    else:
        os.environ[WARNINGS] = before


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
    # A library that is loaded later has no limit.
    import scipy.linalg  # noqa: F401  # pyright: ignore[reportUnusedImport]

    return _loaded_libraries(len(sys.modules)).limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)  # finding the libraries takes longer than many a run
def _loaded_libraries(_n_modules: int) -> Any:
    return ThreadpoolController()


@cache
def keep_freed_memory() -> None:
    """Let the C library of Linux reuse freed arrays, because new pages take a quarter of the time of runs."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # not in musl
            library = ctypes.CDLL(None)
            library.mallopt(M_MMAP_THRESHOLD, ARRAY_BYTES)
            library.mallopt(M_TRIM_THRESHOLD, 8 * ARRAY_BYTES)


def in_threads(function: Callable[[Argument], ResultT], arguments: Iterable[Argument]) -> list[ResultT]:
    """Map a function over arguments in threads, in order."""
    with one_thread(), ThreadPoolExecutor(joblib.cpu_count()) as threads:
        return list(threads.map(function, arguments))
