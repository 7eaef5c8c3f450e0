"""Print how many times as long as this project others take to plan, and what a plan costs: `python -m benchmarks`.

Both tables are written to outputs/benchmarks/ too.
"""

import os

# Before these libraries are loaded: one thread for everybody, on one core where the system can say so.
for library in ("OPENBLAS", "MKL", "OMP", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import sys  # noqa: E402
from pathlib import Path  # noqa: E402


def main() -> None:
    """Measure, print and write both tables."""
    try:
        from benchmarks.measurement import TABLES
    except ModuleNotFoundError as error:
        print(f"{error.name} is not installed: pip install -e '.[benchmark]'", file=sys.stderr)
        raise SystemExit(1) from error
    folder = Path(os.environ.get("POMRL_OUTPUTS", "outputs")) / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, measure) in TABLES.items():
        table = measure()
        table.to_csv(folder / f"{name}.csv", index=False)
        print(f"{title}\n\n{table.to_string(index=False)}\n")
    print(folder)


main()
