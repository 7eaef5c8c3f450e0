"""Engines that make independent calls in processes of this machine or on Dask workers.

An engine gives a function that makes calls and yields each result as soon as it is there, as `joblib.Parallel` does. It
does not depend on what is called. `pomrl.execution.dask` is imported only when a configuration names it, because it
needs an optional package.
"""

# These are the names that other rooms use.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from pomrl.execution.engine import Execution, ExecutionError
from pomrl.execution.local import Local
