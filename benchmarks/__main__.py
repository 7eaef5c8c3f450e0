"""Print a table of ratios and of costs, and write both, with a plot, to outputs/benchmarks/."""

import os

for library in ("OPENBLAS", "MKL", "OMP", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # before these libraries are loaded

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
