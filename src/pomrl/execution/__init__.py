"""Run independent function calls in local processes, or on Dask workers (an optional package)."""

# The names imported by other packages.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from pomrl.execution.engine import Execution, ExecutionError
from pomrl.execution.local import Local
