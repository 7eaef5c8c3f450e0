"""An engine that computes in processes of this machine.

Each process has one item at a time, so that it is known which item was being computed when a process dies, and a
process that takes too long can be killed without harm to other items. Joblib's loky makes the processes.
"""

# Joblib comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUntypedBaseClass=false, reportUnknownArgumentType=false

import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, Any

from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor
from pydantic import Field

from pomrl.execution.children import end_with, left_to_this_process, with_its_pipes
from pomrl.execution.engine import (
    BlockTimeout,
    Execution,
    Failure,
    Isolation,
    Item,
    Result,
    Work,
    time_limit,
    too_long,
)

SMALL_WORK = 5.0
"""Seconds of work below which starting processes, which takes seconds as well, does not pay."""


class Local(Execution):
    """Processes of this machine (joblib, loky)."""

    workers: Annotated[
        int | None, Field(ge=1, description="processes; null: one for each core, or none besides this for little work")
    ] = None
    block_timeout: BlockTimeout = None

    def capacity(self) -> int:
        return self.workers or os.cpu_count() or 1

    def map_unordered(
        self, function: Callable[[Item], Result], work: Sequence[Work[Item]], isolation: Isolation = Isolation.PROCESS
    ) -> Iterator[tuple[int, Result | Failure]]:
        is_little = sum(each.seconds for each in work) < SMALL_WORK and self.workers in (None, 1)
        if is_little and isolation is Isolation.NONE:
            return ((index, function(each.item)) for index, each in enumerate(work))
        most = 1 if isolation is Isolation.ALONE else self.capacity()
        return _in_processes(function, work, most, self.block_timeout)


@dataclass(frozen=True)
class _Computation:
    """An item that a process is computing."""

    index: int
    process: ProcessPoolExecutor
    limit: float
    """The seconds that it may take."""
    end: float
    """The time at which it is given up."""


def _in_processes(
    function: Callable[[Item], Result], work: Sequence[Work[Item]], most: int, block_timeout: float | None
) -> Iterator[tuple[int, Result | Failure]]:
    """Compute items in at most so many processes at a time, each of which has one item at a time."""
    waiting, idle = deque(enumerate(work)), list[ProcessPoolExecutor]()
    computing: dict[Future[Any], _Computation] = {}
    ended: list[tuple[int, Any]] = []
    try:
        while waiting or computing:
            while waiting and len(computing) < most:
                index, each = waiting.popleft()
                process, limit = idle.pop() if idle else _new_process(), time_limit(each, block_timeout)
                with left_to_this_process():
                    future = process.submit(with_its_pipes, function, each.item)  # which starts a new process
                computing[future] = _Computation(index, process, limit, monotonic() + limit)
            yield from ended  # after the processes have got new work
            end = min(each.end for each in computing.values())
            wait(computing, timeout=max(0.0, end - monotonic()), return_when=FIRST_COMPLETED)
            over = [future for future, each in computing.items() if future.done() or each.end <= monotonic()]
            ended = [(computing[future].index, _outcome(future, computing[future].limit)) for future in over]
            for future, (_, outcome) in zip(over, ended, strict=True):
                process = computing.pop(future).process
                _kill(process) if isinstance(outcome, Failure) else idle.append(process)
        yield from ended
    finally:
        for process in (*idle, *(each.process for each in computing.values())):
            _kill(process)


def _outcome(future: "Future[Any]", limit: float) -> Any:
    """Return the result of an item, or a failure if its process died or it took too long; raise what it raised."""
    try:
        return future.result(timeout=0) if future.done() else too_long(limit)
    except BrokenProcessPool as error:
        exit_code = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
        how = (exit_code and exit_code[1]) or "for an unknown reason"
        hint = "; perhaps there was not enough memory, which execution.runs_at_a_time saves" if "SIGKILL" in how else ""
        return Failure(f"its process ended, {how}{hint}", str(error))


def _new_process() -> ProcessPoolExecutor:
    """Return an executor of one process, which is started with its first item."""
    return ProcessPoolExecutor(max_workers=1, initializer=end_with, initargs=(os.getpid(),))


def _kill(process: ProcessPoolExecutor) -> None:
    """End a process whatever it does, also if it is frozen.

    The thread that manages it may find its pipes closed meanwhile; what it would print of that is of no use.
    """
    shown, threading.excepthook = threading.excepthook, _say_nothing
    try:
        process.shutdown(wait=True, kill_workers=True)
    finally:
        threading.excepthook = shown


def _say_nothing(_: threading.ExceptHookArgs) -> None:
    """Handle an exception of a thread without printing it."""
