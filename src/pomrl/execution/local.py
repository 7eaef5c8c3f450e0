"""Processes of this machine."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, cast

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from pydantic import Field
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED
from pomrl.execution.engine import Execution, ExecutionError, Failure, Item, Outcome

SMALL_WORK = 5.0
"""Seconds of work that starting processes, which takes some as well, does not repay."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Local(Execution):
    """Processes of this machine (joblib, loky)."""

    workers: Annotated[
        int | None, Field(ge=1, description="processes; null: one for each core, or a single one for little work")
    ] = None

    @property
    def shares_outputs(self) -> bool:
        return True

    def map_unordered(
        self, function: Callable[[Item], Outcome], items: Sequence[Item], seconds: float
    ) -> Iterator[tuple[int, Outcome | Failure]]:
        workers = self.workers or (1 if seconds < SMALL_WORK else max(1, min(len(items), os.cpu_count() or 1)))
        if workers == 1:
            return ((index, function(item)) for index, item in enumerate(items))
        return _in_processes(function, items, workers)


def _in_processes(
    function: Callable[[Item], Outcome], items: Sequence[Item], workers: int
) -> Iterator[tuple[int, Outcome]]:
    parallel = Parallel(workers, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    calls = (delayed(_indexed)(function, index, item) for index, item in enumerate(items))
    try:
        yield from cast(Iterator[tuple[int, Outcome]], parallel(calls))
    except TerminatedWorkerError as error:
        raise ExecutionError(
            "a worker process was killed, perhaps for lack of memory (execution.runs_at_a_time and execution.workers "
            "lower it); finished blocks are stored, and the same command goes on from them"
        ) from error


def _indexed(function: Callable[[Item], Outcome], index: int, item: Item) -> tuple[int, Outcome]:
    return index, function(item)
