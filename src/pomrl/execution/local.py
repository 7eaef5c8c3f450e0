"""An engine that computes in processes of this machine, with joblib."""

# Joblib comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from pydantic import Field

from pomrl.execution.children import end_with
from pomrl.execution.engine import Execution, ExecutionError, Isolation, Item, Result, Work

SMALL_WORK = 5.0
"""Seconds of work below which starting processes, which takes seconds as well, does not pay."""


class Local(Execution):
    """Processes of this machine (joblib, loky)."""

    workers: Annotated[int | None, Field(ge=1, description="processes; null: one for each core")] = None
    block_timeout: float | None = None

    def capacity(self) -> int:
        return self.workers or os.cpu_count() or 1

    def map_unordered(
        self, function: Callable[[Item], Result], work: Sequence[Work[Item]], isolation: Isolation = Isolation.PROCESS
    ) -> Iterator[tuple[int, Any]]:
        is_little = (
            sum(each.seconds for each in work) < SMALL_WORK and self.workers is None and isolation is Isolation.NONE
        )
        parallel = Parallel(
            n_jobs=1 if is_little else self.capacity(),
            return_as="generator_unordered",
            initializer=end_with,
            initargs=(os.getpid(),),
        )
        try:
            yield from parallel(delayed(_indexed)(function, index, each.item) for index, each in enumerate(work))
        except TerminatedWorkerError as error:
            raise ExecutionError(f"a process ended while it computed ({str(error).split('.')[0]})") from error


def _indexed(function: Callable[[Item], Result], index: int, item: Item) -> tuple[int, Result]:
    return index, function(item)
