"""Engines that compute independent items of work in processes of this machine or on Dask workers.

An engine maps a function over items and yields each result as soon as it is there. It does not depend on what the
items are or what the function does. `pomrl.execution.dask` is imported only when a configuration names it,
because it needs an optional package.
"""

# These are the names that other rooms use.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from pomrl.execution.engine import Execution, ExecutionError
from pomrl.execution.local import Local
