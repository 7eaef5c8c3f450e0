"""Where work is done: in processes of this machine, on the workers of Dask, or in jobs of Slurm.

An engine maps a function over independent items and gives back what comes, as it comes. It knows nothing of what the
function does. `dask` and `slurm` are imported where a configuration names them, because their packages are extras.
"""

from pomrl.execution.engine import Execution, ExecutionError, Failure
from pomrl.execution.local import Local

__all__ = ["Execution", "ExecutionError", "Failure", "Local"]
