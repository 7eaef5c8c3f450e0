"""An engine that computes in processes of this machine, with joblib."""

# Joblib comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, cast

from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky.process_executor import BrokenProcessPool
from pydantic import Field

from pomrl.execution.children import end_with
from pomrl.execution.engine import Execution, ExecutionError, Item, Result

SMALL_WORK = 5.0
"""Seconds of work below which starting processes, which takes seconds as well, does not pay."""


class Local(Execution):
    """Processes of this machine (joblib, loky)."""

    workers: Annotated[
        int | None,
        Field(ge=1, description="processes; 1: none besides this; null: one for each core, or 1 for little work"),
    ] = None

    def map_unordered(
        self, function: Callable[[Item], Result], items: Sequence[Item], seconds: float
    ) -> Iterator[tuple[int, Result]]:
        workers = self.workers or (1 if seconds < SMALL_WORK else cpu_count())
        parallel = Parallel(
            n_jobs=workers, return_as="generator_unordered", initializer=end_with, initargs=(os.getpid(),)
        )
        try:
            calls = (delayed(_indexed)(function, index, item) for index, item in enumerate(items))
            yield from cast(Iterator[Any], parallel(calls))
        except BrokenProcessPool as error:
            exit_codes = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
            how = (exit_codes and exit_codes[1]) or "for an unknown reason"
            hint = "; perhaps execution.runs_at_a_time has to be smaller for the memory" if "SIGKILL" in how else ""
            raise ExecutionError(f"a process ended while it computed, {how}{hint}") from error


def _indexed(function: Callable[[Item], Result], index: int, item: Item) -> tuple[int, Result]:
    return index, function(item)
