"""Recomputes claims of the paper's study from its stored tables, with pandas and NumPy alone.

    python -m benchmarks.recomputed_claims OUTPUTS

OUTPUTS is the folder of a finished `pomrl reproduce pomrl`. Nothing of the package is imported: experiments are found
by their stored configurations, tables are read with pandas, and each comparison is written anew from the statement of
its claim. Intervals are plain paired t intervals, or the bootstrap's, of 95 %. Those of the study are wider, because
its claims share one error. A row agrees where the estimate is the stored one and the plain interval lies within the
stored one, up to a tenth of its width. The counterexample to Theorem 3 is computed in fractions. The exit status is 1
if a row disagrees.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

Losses = np.ndarray
"""Planning losses [runs, tasks, gammas]; the last gamma is gamma_eval."""

FIRST, LAST = slice(1, 5), slice(10, 15)
"""Tasks 2 to 5 and 11 to 15."""

SIGMAS = (0.01, 0.025, 0.047)

COMMON = {
    "S": 10,
    "m": 5,
    "T": 15,
    "seed": 20261122,
    "gamma_schedule._target_": "Grid",
    "task_distribution.varying": 1.0,
}
COMMON |= {"task_distribution._target_": "Dirichlet", "task_distribution.mean_model": "per_run"}

TEXT = {"trials": 1, "estimator.scope": "max"}
COLUMNS = {
    "printed": COMMON | TEXT | {"task_distribution.measure": "std"},
    "repaired": COMMON | TEXT | {"task_distribution.measure": "variance"},
    "computed": COMMON | {"trials": 100},
}
"""Settings by which the experiments of each column are found."""

OF_TEXT = {
    "ada-POMRL": {"estimator.similarity": "welford", "estimator.mixing": "paper", "estimator.sigma_1": 0.5},
    "POMRL": {
        "estimator.similarity": "known",
        "estimator.mixing": "paper",
        "estimator.prior": ("inclusive", "exclusive"),
    },
    "oracle": {"estimator.prior": "known", "estimator.mixing": "paper"},
    "without": {"estimator.mixing": 0.0},
    "aggregating": {"estimator.mixing": 1.0},
}
OF_NOTEBOOK = {
    "ada-POMRL": {"estimator.similarity": "welford", "estimator.sigma_1": 0.31622776601683794},
    "POMRL": {"estimator.similarity": "known", "estimator.prior": "exclusive"},
    "oracle": {"estimator.prior": "unsmoothed"},
    "without": {"estimator.mixing": 0.0},
    "aggregating": {"estimator.mixing": 1.0},
}
CONCENTRATION = {0.01: 1.5, 0.025: 0.75, 0.047: 0.375}
"""What the notebook's tasks have in the place of sigma."""


class Row(NamedTuple):
    """A comparison: what it is called in the study, its estimate, and its plain interval."""

    claim: str
    compared: str
    estimate: float
    lower: float
    upper: float


class Store:
    """The stored experiments of a folder of outputs."""

    def __init__(self, outputs: Path) -> None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._settings = {
            path.parent: _flat(yaml.load(path.read_text(), loader)) for path in outputs.glob("runs/*/config.yaml")
        }
        self._read = lru_cache(maxsize=8)(_losses)

    def losses(self, column: str, method: str, sigma: float) -> Losses:
        """Return all stored losses of a method, for which there is exactly one experiment."""
        of_method = (OF_NOTEBOOK if column == "computed" else OF_TEXT)[method]
        of_sigma = (
            {"task_distribution.concentration_over_S": CONCENTRATION[sigma]}
            if column == "computed"
            else {"sigma": sigma}
        )
        wanted = COLUMNS[column] | of_method | of_sigma
        found = [folder for folder, settings in self._settings.items() if _matches(settings, wanted)]
        if len(found) != 1:
            raise LookupError(f"{len(found)} experiments have {wanted}")
        return self._read(found[0])


def _flat(settings: dict, prefix: str = "") -> dict:
    flat = {}
    for key, value in settings.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return flat


def _matches(settings: dict, wanted: dict) -> bool:
    for key, value in wanted.items():
        stored = settings.get(key)
        stored = stored.rpartition(".")[2] if key.endswith("_target_") and stored else stored
        if stored not in (value if isinstance(value, tuple) else (value,)):
            return False
    return True


def _losses(folder: Path) -> Losses:
    tables = [
        pd.read_parquet(path, columns=["run", "task", "gamma", "planning_loss"]) for path in folder.glob("*.parquet")
    ]
    table = pd.concat(tables).sort_values(["run", "task", "gamma"])
    shape = [table[key].nunique() for key in ("run", "task", "gamma")]
    return table["planning_loss"].to_numpy().reshape(shape)


def mean(of_runs: np.ndarray) -> tuple[float, float, float]:
    """Return a mean with its t interval; with so many runs the quantile is that of the normal distribution."""
    error = 1.96 * of_runs.std(ddof=1) / np.sqrt(len(of_runs))
    return float(of_runs.mean()), float(of_runs.mean() - error), float(of_runs.mean() + error)


def smooth(statistic: Callable[[np.ndarray], np.ndarray], *samples: np.ndarray) -> tuple[float, float, float]:
    """Return a function of means over runs with the interval of the jackknife."""
    sample = np.stack(samples, 1)
    n = len(sample)
    without_each = statistic((sample.sum(0) - sample) / (n - 1))
    value = float(statistic(sample.mean(0)))
    error = 1.96 * float(np.sqrt((n - 1) * without_each.var()))
    return value, value - error, value + error


def share(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """Return mean(a) / mean(b) - 1 over pairs of runs."""
    return smooth(lambda means: means[..., 0] / means[..., 1] - 1.0, a, b)


def smallest(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """Return the smallest mean of the columns of a less that of b, with the interval of the bootstrap over runs."""
    draws = np.random.default_rng(0)
    n = len(a)
    weights = draws.multinomial(n, np.full(n, 1 / n), 2000) / n
    resampled = (weights @ a).min(1) - (weights @ b).min(1)
    lower, upper = np.quantile(resampled, [0.025, 0.975])
    return float(a.mean(0).min() - b.mean(0).min()), float(lower), float(upper)


def slope(tasks: int) -> np.ndarray:
    """Return the weights of the least-squares slope over tasks, times the number of steps."""
    t = np.arange(tasks) - (tasks - 1) / 2
    return t / (t @ t) * (tasks - 1)


def last(x: Losses) -> np.ndarray:
    """Return the loss in the last tasks of each run."""
    return x[:, LAST, -1].mean(1)


def first(x: Losses) -> np.ndarray:
    """Return the loss in the first tasks of each run."""
    return x[:, FIRST, -1].mean(1)


def regret(x: Losses) -> np.ndarray:
    """Return the loss over all tasks of each run."""
    return x[..., -1].mean(1)


def between(at: Callable[[Losses], np.ndarray]) -> Callable[..., tuple]:
    """Compare two methods by the difference of a loss."""
    return lambda a, b: mean(at(a) - at(b))


def relative(at: Callable[[Losses], np.ndarray]) -> Callable[..., tuple]:
    """Compare two methods by the ratio of a loss."""
    return lambda a, b: share(at(a), at(b))


def fall(x: Losses) -> tuple[float, float, float]:
    """Return the loss in task 15 less that in task 1."""
    return mean(x[:, 14, -1] - x[:, 0, -1])


def spread(x: Losses) -> tuple[float, float, float]:
    """Return the logarithm of the deviation over runs in task 15 over that in task 1."""
    powers = [power for t in (14, 0) for power in (x[:, t, -1], x[:, t, -1] ** 2)]
    return smooth(lambda m: 0.5 * np.log((m[..., 1] - m[..., 0] ** 2) / (m[..., 3] - m[..., 2] ** 2)), *powers)


def _comparisons() -> Iterator[tuple[str, str, str, Callable[..., tuple], float]]:
    """Yield claim, words, methods, comparison and sigma of what is compared at one similarity."""
    low, middle, high = SIGMAS
    yield "Q1.1", "ada-POMRL, task 15 less task 1, in pairs", "ada-POMRL", fall, low
    yield "Q1.7", "POMRL, task 15 less task 1, in pairs", "POMRL", fall, low
    yield "Q1.2", "log ratio of deviations, task 15 to task 1, in pairs", "ada-POMRL", spread, low
    words = "without meta-learning, slope times 14 relative to mean"
    yield "Q1.3", words, "without", lambda x: share(regret(x) + x[..., -1] @ slope(15), regret(x)), low
    for pair in ("oracle less POMRL", "oracle less ada-POMRL", "POMRL less without", "ada-POMRL less without"):
        yield "Q1.4", f"{pair}, last tasks, in pairs", pair, between(last), low
    yield "Q1.5", "POMRL less ada-POMRL, first tasks, in pairs", "POMRL less ada-POMRL", between(first), low
    words = "ada-POMRL less POMRL"
    yield "Q1.5", f"{words}, last tasks, relative, in pairs", words, relative(last), low
    words = "ada-POMRL less oracle"
    yield "Q1.6", f"{words}, last tasks less first, in pairs", words, between(lambda x: last(x) - first(x)), low
    for sigma, each in product((middle, high), ("POMRL less without", "ada-POMRL less without")):
        yield "Q3.6", f"{each}, σ = {sigma}, in pairs", each, between(last), sigma
    words = "ada-POMRL less without"
    yield "Q3.7", f"{words}, σ = 0.025, in pairs", words, between(regret), middle
    yield "Q3.9", f"{words}, relative, in pairs", words, relative(regret), high
    words = "ada-POMRL, task 15 less task 1, relative, in pairs"
    yield "Q3.9", words, "ada-POMRL", lambda x: share(x[:, 14, -1], x[:, 0, -1]), high
    yield "A.1", "aggregating less POMRL, relative, in pairs", "aggregating less POMRL", relative(regret), low
    for each in ("POMRL less aggregating", "ada-POMRL less aggregating"):
        yield "A.2", f"{each}, in pairs", each, between(regret), high
    for sigma, each in product(SIGMAS, ("POMRL less oracle", "ada-POMRL less oracle")):
        yield "Q3.4", f"{each}, σ = {sigma}, last tasks, relative, in pairs", each, relative(last), sigma


def rows(store: Store, column: str, runs: Callable[[str, str], int]) -> Iterator[Row]:
    """Yield the comparisons of a column; `runs` says how many runs the study judged each one on."""
    for claim, compared, methods, how, sigma in _comparisons():
        n = runs(claim, compared)
        losses = [store.losses(column, each, sigma)[:n] for each in methods.split(" less ")]
        yield Row(claim, compared, *how(*losses))
    yield from _between_sigmas(store, column, runs)
    yield from _minima(store, column, runs)


def _between_sigmas(store: Store, column: str, runs: Callable[[str, str], int]) -> Iterator[Row]:
    """Yield comparisons of ada-POMRL between similarities, whose runs share their draws."""

    def ada(sigma: float, n: int) -> Losses:
        return store.losses(column, "ada-POMRL", sigma)[:n]

    compared = "gain at 0.047 less that at 0.01, in pairs"
    n = runs("Q3.1", compared)
    gains = [(store.losses(column, "without", s)[:n] - ada(s, n))[..., -1].mean(1) for s in (0.047, 0.01)]
    yield Row("Q3.1", compared, *mean(gains[0] - gains[1]))
    for a, b in pairwise(SIGMAS):
        compared = f"regret at σ = {a} less that at {b}, in pairs"
        n = runs("Q3.5", compared)
        yield Row("Q3.5", compared, *mean((ada(a, n) - ada(b, n))[..., -1].mean(1)))
    for sigma in SIGMAS[:2]:
        compared = f"σ = {sigma} less 0.047, mean over γ, in pairs"
        n = runs("Q3.8", compared)
        yield Row("Q3.8", compared, *mean((ada(sigma, n) - ada(0.047, n)).mean((1, 2))))


def _minima(store: Store, column: str, runs: Callable[[str, str], int]) -> Iterator[Row]:
    """Yield comparisons of smallest mean losses of ada-POMRL."""
    gammas = np.array([*np.arange(0.0, 1.0, 0.1), 0.99]) if column == "computed" else None
    gammas = np.array([*np.arange(0.0, 0.99, 0.05), 0.99]) if gammas is None else gammas

    def inside(claim: str, words: str, sigma: float, where: np.ndarray, curve: Callable[[Losses], np.ndarray]) -> Row:
        n = runs(claim, words)
        x = curve(store.losses(column, "ada-POMRL", sigma)[:n])
        return Row(claim, words, *smallest(x[:, where], x[:, ~where]))

    def first_task(x: Losses) -> np.ndarray:
        return x[:, 0]

    yield inside("Q2.1", "task 1: smallest loss below 0.5 less that from 0.5 on", 0.01, gammas < 0.5 - 1e-9, first_task)
    between = (gammas >= 0.25 - 1e-9) & (gammas <= 0.5 + 1e-9)
    yield inside("Q4.5", "task 1: smallest loss from 0.25 to 0.50 less that elsewhere", 0.01, between, first_task)
    near = np.abs(gammas - 0.5) <= 0.1 + 1e-9
    yield inside("Q3.3", "smallest loss near 0.5 less that elsewhere", 0.047, near, lambda x: x.mean(1))


def coins_fail(coins: int, bound: float, m: int) -> Fraction:
    """Return the probability that, of fair coins tossed m times each, some frequency is off by more than a bound."""
    within = sum(comb(m, k) for k in range(m + 1) if abs(k / m - 0.5) <= bound)
    return 1 - Fraction(within, 2**m) ** coins


def main() -> None:
    """Print a line for each comparison, and exit with status 1 if one disagrees with what the study stored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", type=Path)
    outputs = parser.parse_args().outputs
    judged = pd.read_csv(outputs / "studies/pomrl/claims.csv")
    judged["words"] = judged["compared"].str.replace(r" \(γ\* = [0-9.]+\), in pairs$", "", regex=True)
    store, wrong, compared = Store(outputs), 0, set()
    for column in COLUMNS:
        of_column = judged[judged["variant"] == column].set_index(["claim", "words"])

        def runs(claim: str, words: str, of_column: pd.DataFrame = of_column) -> int:
            return int(of_column.loc[(claim, words), "part_runs"])

        for row in rows(store, column, runs):
            stored = of_column.loc[(row.claim, row.compared)]
            width = stored["upper"] - stored["lower"]
            agrees = (
                abs(row.estimate - stored["estimate"]) <= 1e-5 * max(1.0, abs(row.estimate))
                and row.lower >= stored["lower"] - 0.1 * width
                and row.upper <= stored["upper"] + 0.1 * width
            )
            wrong += not agrees
            compared.add(row.claim)
            ours, theirs = (
                "{:+.4f} [{:+.4f}, {:+.4f}]".format(*found)
                for found in (row[2:], stored[["estimate", "lower", "upper"]])
            )
            print(
                f"{row.claim:5} {column:9} {ours:28} {theirs:28} {'agrees' if agrees else 'DISAGREES'}  {row.compared}"
            )
    exact = float(coins_fail(20, 0.0208, 1000))
    stored = float(judged[judged["claim"] == "T.1"]["estimate"].iloc[0])
    wrong += abs(exact - stored) > 5e-4
    print(f"T.1   exactly {exact:.4f}, stored {stored:.4f}: Theorem 3's bound fails for 20 fair coins in task 1")
    compared.add("T.1")
    print(f"{len(compared)} claims, {wrong} comparisons disagree")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
