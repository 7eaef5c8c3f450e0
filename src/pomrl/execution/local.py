"""An engine that computes in processes of this machine, with joblib."""

# Joblib comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

from joblib import cpu_count
from joblib.externals.loky.process_executor import BrokenProcessPool
from pydantic import Field

from pomrl.execution.engine import Execution, ExecutionError, Parallel
from pomrl.execution.parallel import processes

SMALL_WORK = 5.0
"""Seconds of work below which starting processes, which takes seconds as well, does not pay."""


class Local(Execution):
    """Processes of this machine (joblib, loky)."""

    workers: Annotated[
        int | None,
        Field(ge=1, description="processes; 1: none besides this; null: one for each core, or 1 for little work"),
    ] = None

    def at_once(self, seconds: float) -> int:
        return self.workers or (1 if seconds < SMALL_WORK else cpu_count())

    @contextmanager
    def parallel(self, seconds: float) -> Generator[Parallel]:
        try:
            yield processes(self.at_once(seconds))
        except BrokenProcessPool as error:
            exit_codes = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
            how = (exit_codes and exit_codes[1]) or "for an unknown reason"
            hint = "; perhaps execution.runs_at_a_time has to be smaller for the memory" if "SIGKILL" in how else ""
            raise ExecutionError(f"a process ended while it computed, {how}{hint}") from error
