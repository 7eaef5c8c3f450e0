"""Make independent calls in local processes, or on Dask workers (an optional package)."""

# These are the names that other rooms use.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from pomrl.execution.engine import Execution, ExecutionError
from pomrl.execution.local import Local
