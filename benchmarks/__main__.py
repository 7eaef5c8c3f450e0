"""Print tables of ratios, costs and growth, and write them, with a plot, to outputs/benchmarks/."""

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
    """The command."""
    try:
        from benchmarks.report import report
    except ModuleNotFoundError as error:
        print(f"{error.name} is not installed: pip install -e '.[benchmark]'", file=sys.stderr)
        raise SystemExit(1) from error
    report(Path(os.environ.get("POMRL_OUTPUTS", "outputs")) / "benchmarks")


main()
