"""Recomputes claims of the paper's study from its stored tables, with pandas and NumPy alone.

    python -m benchmarks.recomputed_claims OUTPUTS

OUTPUTS is the folder of a finished `pomrl reproduce pomrl2023`. Nothing of the package is imported: experiments are
found
by their stored configurations, tables are read with pandas, and each comparison is written anew from the statement of
its claim. Intervals are plain paired t intervals, or the bootstrap's, of 95 %. Those of the study are wider, because
its claims share one error. A row agrees where the estimate is the stored one and the plain interval lies within the
stored one, up to a tenth of its width. The counterexample to Theorem 3 is computed in fractions. The exit status is 1
if a row disagrees.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd

Losses = np.ndarray
"""Planning losses [runs, tasks, gammas]; the last gamma is gamma_eval."""

FIRST, LAST = slice(1, 5), slice(10, 15)
"""Tasks 2 to 5 and 11 to 15."""

SIGMAS = (0.01, 0.025, 0.047)

DIRICHLET = "pomrl.science.tasks.random_chains.Dirichlet"

COMMON = {
    "S": 10,
    "m": 5,
    "T": 15,
    "seed": 20261130,
    "gamma_schedule._target_": "pomrl.science.gamma_schedules.Grid",
    "task_distribution._target_": DIRICHLET,
    "task_distribution.mean_model": "per_run",
    "task_distribution.varying": 1.0,
}
TEXT = {"trials": 1, "estimator.scope": "max"}
COLUMNS = {
    "printed": COMMON | TEXT | {"task_distribution.measure": "std"},
    "repaired": COMMON | TEXT | {"task_distribution.measure": "variance"},
    "computed": COMMON | {"trials": 5, "task_distribution.measure": "notebook"},
}
"""Settings by which the experiments of each column are found."""

UNKNOWN = ("inclusive", "exclusive")
"""Priors that are averages of earlier tasks. The study has one of them."""

WITHOUT = {"without": {"estimator.mixing": 0.0}, "aggregating": {"estimator.mixing": 1.0}}
OF_TEXT = WITHOUT | {
    "ada-POMRL": {"estimator.similarity": "welford", "estimator.mixing": "paper", "estimator.start_deviation": 0.5},
    "POMRL": {"estimator.similarity": "known", "estimator.mixing": "paper", "estimator.prior": UNKNOWN},
    "oracle": {"estimator.prior": "known", "estimator.mixing": "paper"},
}
OF_NOTEBOOK = WITHOUT | {
    "ada-POMRL": {"estimator.similarity": "welford", "estimator.start_deviation": 0.31622776601683794},
    "POMRL": {"estimator.similarity": "known", "estimator.prior": "exclusive"},
    "oracle": {"estimator.prior": "unsmoothed"},
}

Found = tuple[float, float, float]
"""An estimate, and its plain interval."""

Comparison = tuple[str, str, Sequence[tuple[str, float]], Callable[..., Found]]
"""A claim, its words in the study, the methods at similarities whose losses it needs, and what is made of them."""


def stored_settings(outputs: Path) -> pd.DataFrame:
    """Return the settings of all stored experiments, by their folders."""
    stored = {path.parent: json.loads(path.read_text())["settings"] for path in outputs.glob("runs/*/experiment.json")}
    return pd.json_normalize(list(stored.values())).set_axis(list(stored))


def folder_of(settings: pd.DataFrame, column: str, method: str, sigma: float) -> Path:
    """Return the folder of a method at a similarity, for which there is exactly one experiment."""
    wanted = COLUMNS[column] | (OF_NOTEBOOK if column == "computed" else OF_TEXT)[method]
    wanted |= {"sigma": sigma}
    (folder,) = settings.index[np.all([settings[key].isin(np.atleast_1d(of)) for key, of in wanted.items()], axis=0)]
    return folder


@lru_cache(maxsize=8)
def losses_of(folder: Path) -> Losses:
    """Return all stored losses of an experiment."""
    table = pd.read_parquet(sorted(folder.glob("*.parquet")), columns=["run", "task", "gamma", "planning_loss"])
    table = table.sort_values(["run", "task", "gamma"])
    shape = [table[key].nunique() for key in ("run", "task", "gamma")]
    return table["planning_loss"].to_numpy().reshape(shape)


def mean(of_runs: np.ndarray) -> Found:
    """Return a mean with its t interval; with so many runs the quantile is that of the normal distribution."""
    error = 1.96 * of_runs.std(ddof=1) / np.sqrt(len(of_runs))
    return float(of_runs.mean()), float(of_runs.mean() - error), float(of_runs.mean() + error)


def smooth(statistic: Callable[[np.ndarray], np.ndarray], *samples: np.ndarray) -> Found:
    """Return a function of means over runs with the interval of the jackknife."""
    sample = np.stack(samples, 1)
    n = len(sample)
    without_each = statistic((sample.sum(0) - sample) / (n - 1))
    value = float(statistic(sample.mean(0)))
    error = 1.96 * float(np.sqrt((n - 1) * without_each.var()))
    return value, value - error, value + error


def share(a: np.ndarray, b: np.ndarray) -> Found:
    """Return mean(a) / mean(b) - 1 over pairs of runs."""
    return smooth(lambda means: means[..., 0] / means[..., 1] - 1.0, a, b)


def smallest(a: np.ndarray, b: np.ndarray) -> Found:
    """Return the smallest mean of the columns of a less that of b, with the interval of the bootstrap over runs."""
    draws = np.random.default_rng(0)
    n = len(a)
    weights = draws.multinomial(n, np.full(n, 1 / n), 2000) / n
    resampled = (weights @ a).min(1) - (weights @ b).min(1)
    lower, upper = np.quantile(resampled, [0.025, 0.975])
    return float(a.mean(0).min() - b.mean(0).min()), float(lower), float(upper)


STEPS = np.arange(15) - 7.0
SLOPE = STEPS / (STEPS @ STEPS) * 14
"""The weights of the least-squares slope over tasks, times the number of steps."""


def last(x: Losses) -> np.ndarray:
    """Return the loss in the last tasks of each run."""
    return x[:, LAST, -1].mean(1)


def first(x: Losses) -> np.ndarray:
    """Return the loss in the first tasks of each run."""
    return x[:, FIRST, -1].mean(1)


def regret(x: Losses) -> np.ndarray:
    """Return the loss over all tasks of each run."""
    return x[..., -1].mean(1)


def between(at: Callable[[Losses], np.ndarray]) -> Callable[..., Found]:
    """Compare two methods by the difference of a loss."""
    return lambda a, b: mean(at(a) - at(b))


def relative(at: Callable[[Losses], np.ndarray]) -> Callable[..., Found]:
    """Compare two methods by the ratio of a loss."""
    return lambda a, b: share(at(a), at(b))


def fall(x: Losses) -> Found:
    """Return the loss in task 15 less that in task 1."""
    return mean(x[:, 14, -1] - x[:, 0, -1])


def relative_slope(x: Losses) -> Found:
    """Return the slope of the loss over tasks, times the number of steps, relative to the mean."""
    return share(regret(x) + x[..., -1] @ SLOPE, regret(x))


def spread(x: Losses) -> Found:
    """Return the logarithm of the deviation over runs in task 15 over that in task 1."""
    powers = [power for t in (14, 0) for power in (x[:, t, -1], x[:, t, -1] ** 2)]
    return smooth(lambda m: 0.5 * np.log((m[..., 1] - m[..., 0] ** 2) / (m[..., 3] - m[..., 2] ** 2)), *powers)


def inside(lower: float, upper: float, curve: Callable[[Losses], np.ndarray]) -> Callable[[Losses], Found]:
    """Compare the smallest loss on a curve over discount factors within a range, ends included, with that elsewhere."""

    def compare(x: Losses) -> Found:
        gammas = np.append(np.arange(0.0, 0.99, 0.1 if x.shape[-1] == 11 else 0.05), 0.99)
        where, losses = (gammas >= lower - 1e-9) & (gammas <= upper + 1e-9), curve(x)
        return smallest(losses[:, where], losses[:, ~where])

    return compare


def between_gains(without: Losses, ours: Losses, others: Losses, other_ours: Losses) -> Found:
    """Return what is gained at one similarity less what is gained at another."""
    return mean(regret(without) - regret(ours) - regret(others) + regret(other_ours))


def pair(claim: str, words: str, how: Callable[..., Found], sigma: float, more: str = "") -> Comparison:
    """Compare the two methods that the words name."""
    return claim, f"{words}{more}, in pairs", [(method, sigma) for method in words.split(" less ")], how


def _comparisons() -> Iterator[Comparison]:
    ada, (low, middle, high) = "ada-POMRL", SIGMAS
    for claim, method in (("Q1.1", ada), ("Q1.7", "POMRL")):
        yield claim, f"{method}, task 15 less task 1, in pairs", [(method, low)], fall
    yield "Q1.2", "log ratio of deviations, task 15 to task 1, in pairs", [(ada, low)], spread
    yield "Q1.3", "without meta-learning, slope times 14 relative to mean", [("without", low)], relative_slope
    for words in ("oracle less POMRL", "oracle less ada-POMRL", "POMRL less without", "ada-POMRL less without"):
        yield pair("Q1.4", words, between(last), low, ", last tasks")
    how = between(lambda x: last(x) - first(x))
    yield pair("Q1.6", "ada-POMRL less oracle", how, low, ", last tasks less first")
    for sigma, words in product((middle, high), ("POMRL less without", "ada-POMRL less without")):
        yield pair("Q3.6", words, between(last), sigma, f", σ = {sigma}")
    yield pair("Q3.7", "ada-POMRL less without", between(regret), middle, ", σ = 0.025")
    yield pair("Q3.9", "ada-POMRL less without", relative(regret), high, ", relative")
    yield pair("A.1", "aggregating less POMRL", relative(regret), low, ", relative")
    for sigma, words in product(SIGMAS, ("POMRL less oracle", "ada-POMRL less oracle")):
        yield pair("Q3.4", words, relative(last), sigma, f", σ = {sigma}, last tasks, relative")
    gains = [(method, sigma) for sigma in (high, low) for method in ("without", ada)]
    yield "Q3.1", "gain at 0.047 less that at 0.01, in pairs", gains, between_gains
    for a, b in pairwise(SIGMAS):
        yield "Q3.5", f"regret at σ = {a} less that at {b}, in pairs", [(ada, a), (ada, b)], between(regret)
    for sigma in (low, middle):
        how = between(lambda x: x.mean((1, 2)))
        yield "Q3.8", f"σ = {sigma} less 0.047, mean over γ, in pairs", [(ada, sigma), (ada, high)], how
    how = inside(0.4, 0.6, lambda x: x.mean(1))
    yield "Q3.3", "smallest loss near 0.5 less that elsewhere", [(ada, high)], how


def coins_fail(coins: int, bound: float, m: int) -> Fraction:
    """Return the probability that, of fair coins tossed m times each, some frequency is off by more than a bound."""
    within = sum(comb(m, k) for k in range(m + 1) if abs(k / m - 0.5) <= bound)
    return 1 - Fraction(within, 2**m) ** coins


def main() -> None:
    """Print a line for each comparison, and exit with status 1 if one disagrees with what the study stored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", type=Path)
    outputs = parser.parse_args().outputs
    judged = pd.read_csv(outputs / "studies/pomrl2023/claims.csv")
    judged["words"] = judged["compared"].str.replace(r" \(γ\* = [0-9.]+\), in pairs$", "", regex=True)
    judged = judged.set_index(["variant", "claim", "words"])
    settings, wrong, claims = stored_settings(outputs), 0, {"T.1"}
    for column, (claim, words, methods, how) in product(COLUMNS, _comparisons()):
        stored = judged.loc[(column, claim, words)]
        losses = [losses_of(folder_of(settings, column, *method))[: int(stored["part_runs"])] for method in methods]
        ours, theirs = how(*losses), tuple(stored[["estimate", "lower", "upper"]])
        slack = 0.1 * (theirs[2] - theirs[1])
        agrees = (
            abs(ours[0] - theirs[0]) <= 1e-5 * max(1.0, abs(ours[0]))
            and ours[1] >= theirs[1] - slack
            and ours[2] <= theirs[2] + slack
        )
        wrong += not agrees
        claims.add(claim)
        shown = (f"{interval[0]:+.4f} [{interval[1]:+.4f}, {interval[2]:+.4f}]" for interval in (ours, theirs))
        print(f"{claim:5} {column:9}", *(f"{text:28}" for text in shown), "agrees" if agrees else "DISAGREES", words)
    exact = float(coins_fail(20, 0.0208, 1000))
    parts = judged.xs("T.1", level="claim")["estimate"]
    stored = float(
        parts[parts.index.get_level_values("compared").str.contains("in task 1, σ = 0, m = 1,000, S = 10")].iloc[0]
    )
    wrong += abs(exact - stored) > 5e-4
    print(f"T.1   exactly {exact:.4f}, stored {stored:.4f}: Theorem 3's bound fails for 20 fair coins in task 1")
    print(f"{len(claims)} claims, {wrong} comparisons disagree")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
