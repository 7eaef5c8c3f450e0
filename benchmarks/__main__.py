"""Print how many times as long as this project others take to plan: `python -m benchmarks`.

CPU time of one thread for planning and evaluating, over rounds: of the solver, and of `pomrl.plan`, which people call.
The tables are written to outputs/benchmarks/ too.
"""

import os

# Before these libraries are loaded: one thread for everybody, on one core where the system can say so.
for library in ("OPENBLAS", "MKL", "OMP", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

from pathlib import Path  # noqa: E402

from benchmarks.measurement import ratios  # noqa: E402
from benchmarks.public_calls import call_ratios  # noqa: E402

folder = Path(os.environ.get("POMRL_OUTPUTS", "outputs")) / "benchmarks"
folder.mkdir(parents=True, exist_ok=True)
for name, table in (("ratios", ratios()), ("calls", call_ratios())):
    table.to_csv(folder / f"{name}.csv", index=False)
    print(table.to_string(index=False), end="\n\n")
print(folder)
