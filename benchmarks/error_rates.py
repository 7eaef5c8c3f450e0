"""How often claims err, at the very small errors at which they are judged.

    python -m benchmarks.error_rates --processes 2

For each kind of comparison the truth is exactly a threshold (`benchmarks.truths_on_thresholds`). The table has the
probability of a p-value at or below a level, in each tail, divided by the level, and the standard error of that ratio
by simulation (`benchmarks.rare_samples`). More than 1 is too many errors. A claim with one part is judged at 1.4e-4 in
each tail, one with several parts or statements at less. It is written to outputs/benchmarks/ too.
`packages/verdicts/benchmarks/wrong_verdicts.py` measures tables of claims with few runs.
"""

import argparse
import os
from itertools import chain
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed

from benchmarks.rare_samples import rates
from benchmarks.truths_on_thresholds import KINDS

MOST = 1.3
"""The ratio from which on a rate is said to be too large, if it is so by two standard errors."""


def main() -> None:
    """Measure all rates, print them and write them."""
    parser = argparse.ArgumentParser(description="How often claims err, at the errors at which they are judged.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--samples", type=int, default=8000, help="the samples of each comparison")
    parser.add_argument("--kinds", default="", help="kinds with this text in them")
    arguments = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    jobs = (
        delayed(rates)(case, runs, arguments.samples)
        for case in chain.from_iterable(kind() for kind in KINDS)
        for runs in case.runs
        if arguments.kinds in case.kind
    )
    table = pd.DataFrame(list(chain.from_iterable(Parallel(n_jobs=arguments.processes)(jobs))))  # pyright: ignore
    folder = Path(os.environ.get("POMRL_OUTPUTS", "outputs")) / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "error_rates.csv", index=False)
    cells = table["ratio"].map("{:.2f}".format) + table["error"].map(" ± {:.2f}".format)
    columns = ["kind", "population", "runs", "tail"]
    print(table.assign(cell=cells).pivot_table("cell", columns, "level", "first", sort=False).to_string())
    too_large = table[table["ratio"] - 2 * table["error"] > MOST]
    print(f"more than {MOST}:", too_large.to_string(index=False) if len(too_large) else "none", sep="\n")


if __name__ == "__main__":
    main()
