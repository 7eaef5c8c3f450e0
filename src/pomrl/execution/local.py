"""An engine that computes in processes of this machine."""

# Joblib comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, cast

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from pydantic import Field
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED
from pomrl.execution.engine import Execution, ExecutionError, Failure, Item, Result
from pomrl.execution.interrupts import left_to_this_process

SMALL_WORK = 5.0
"""Seconds of work below which starting processes, which takes seconds as well, does not pay."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Local(Execution):
    """Processes of this machine (joblib, loky)."""

    workers: Annotated[
        int | None, Field(ge=1, description="processes; null: one for each core, or a single one for little work")
    ] = None

    def map_unordered(
        self, function: Callable[[Item], Result], items: Sequence[Item], seconds: float
    ) -> Iterator[tuple[int, Result | Failure]]:
        workers = self.workers or (1 if seconds < SMALL_WORK else max(1, min(len(items), os.cpu_count() or 1)))
        if workers == 1:
            return ((index, function(item)) for index, item in enumerate(items))
        return _in_processes(function, items, workers)


def _in_processes(
    function: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> Iterator[tuple[int, Result]]:
    parallel = Parallel(workers, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    calls = (delayed(_indexed)(function, index, item) for index, item in enumerate(items))
    with left_to_this_process():
        results = cast(Iterator[tuple[int, Result]], parallel(calls))  # which starts the processes
    try:
        yield from results
    except TerminatedWorkerError as error:
        raise ExecutionError(
            "a worker process was killed, perhaps for lack of memory (execution.runs_at_a_time and execution.workers "
            "lower it)"
        ) from error


def _indexed(function: Callable[[Item], Result], index: int, item: Item) -> tuple[int, Result]:
    return index, function(item)
