"""Engines that compute independent items of work in processes of this machine, on Dask workers or in Slurm jobs.

An engine maps a function over items and yields each result as soon as it is there. It does not depend on what the
items are or what the function does. `pomrl.execution.dask` and `pomrl.execution.slurm` are imported only when a
configuration names them, because they need optional packages.
"""

# These are the names that other rooms use.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from pomrl.execution.engine import (
    EngineUnavailableError,
    Execution,
    ExecutionError,
    Failure,
    Isolation,
    MissingPackagesError,
    Work,
)
from pomrl.execution.local import Local
