"""Make independent calls in local processes or on Dask workers.

An engine yields each result as soon as it is there, as `joblib.Parallel` does. `pomrl.execution.dask` needs an optional
package, and is imported only by configurations that name it.
"""

# These are the names that other rooms use.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from pomrl.execution.engine import Execution, ExecutionError
from pomrl.execution.local import Local
