"""How often claims err, at the very small errors at which they are judged.

    python -m benchmarks.error_rates --processes 2

For each kind of comparison the truth is exactly a threshold (`benchmarks.truths_on_thresholds`). The table has the
probability of a p-value at or below a level, in each tail, divided by the level, and the standard error of that ratio
by simulation (`benchmarks.rare_samples`). More than 1 is too many errors. A claim with one part is judged at 1.4e-4 in
each tail, one with several parts or statements at less. It is written to outputs/benchmarks/ too.

A second table has the share of tables with any verdict on `CLAIMS` claims with few runs. They share an error of 5 %,
and each truth is exactly its threshold. `--kinds few` makes this table only.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks.rare_samples import rates
from benchmarks.truths_on_thresholds import KINDS
from pomrl.judging.estimates import ScalarEstimate, mean, mean_difference, rate
from pomrl.results.intervals import ERROR_RATE

MOST = 1.3
"""The ratio from which on a rate is said to be too large, if it is so by two standard errors."""

CLAIMS, FEW_RUNS = 8, (10, 20, 50, 99, 100)
"""The number of claims in a table, and the numbers of runs."""

DRAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "lognormal": lambda rng, n: rng.lognormal(0.0, 1.0, n) - np.exp(0.5),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1.0,
    "normal": lambda rng, n: rng.normal(size=n),
}
"""Losses with mean 0."""


def few_runs(tables: int) -> pd.DataFrame:
    """Measure the share of tables with any verdict on `CLAIMS` claims."""
    rng, rows = np.random.default_rng(0), list[dict[str, object]]()
    for n in FEW_RUNS:
        for kind, threshold, draw in _claims_at_thresholds(rng, n):
            verdicts = [any(_is_decided(draw(), threshold) for _ in range(CLAIMS)) for _ in range(tables)]
            rows.append({"kind": kind, "runs": n, "share": np.mean(verdicts)})
    return pd.DataFrame(rows)


def _claims_at_thresholds(
    rng: np.random.Generator, n: int
) -> Iterator[tuple[str, float, Callable[[], ScalarEstimate]]]:
    for name, losses in DRAWS.items():
        yield f"mean, {name}", 0.0, lambda losses=losses: mean(losses(rng, n))
        yield f"pairs, {name}", 0.0, lambda losses=losses: mean_difference(losses(rng, n), losses(rng, n))
        yield (
            f"pairs, {name} less normal",
            0.0,
            lambda losses=losses: mean_difference(losses(rng, n), rng.normal(size=n)),
        )
    yield "rate of .95", 0.95, lambda: rate(rng.random(n) < 0.95)


def _is_decided(estimate: ScalarEstimate, threshold: float) -> bool:
    return min(estimate.p_values(threshold)) <= ERROR_RATE / CLAIMS / 2


def main() -> None:
    """Measure all rates, print them and write them."""
    parser = argparse.ArgumentParser(description="How often claims err, at the errors at which they are judged.")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--samples", type=int, default=8000, help="the samples of each comparison")
    parser.add_argument("--kinds", default="", help="kinds with this text in them")
    parser.add_argument("--tables", type=int, default=2000, help="the tables of claims with few runs")
    arguments = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    print(few_runs(arguments.tables).pivot_table("share", "kind", "runs", sort=False).round(3).to_string())
    if arguments.kinds == "few":
        return
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
