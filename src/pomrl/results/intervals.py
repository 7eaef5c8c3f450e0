"""Compute confidence intervals over runs, and bands of figures.

Tasks of a run are dependent, so whole runs are resampled.
"""

# SciPy and the labels of pandas have no types.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from pomrl.science.gamma_star import minimising
from verdicts.groups import Group, Linear
from verdicts.resampling import bootstrap_means

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

CONFIDENCE_PERCENT = 95
ERROR_RATE = (100 - CONFIDENCE_PERCENT) / 100
INTERVAL_QUANTILES = (ERROR_RATE / 2, 1 - ERROR_RATE / 2)

BAND_NAMES = {
    "ci": f"{CONFIDENCE_PERCENT} % intervals of the mean",
    "se": "Standard errors",
    "sd": "Standard deviations",
}
"""The name of each `Kind` of band in the notes of figures."""

RESAMPLES_OF_GAMMA_STAR = 1000
RESAMPLES_OF_SUMMARIES = 2000
"""The number of resamples for interquartile means and medians."""

MIN_BOOTSTRAP_RUNS = 5
"""The smallest number of runs for a bootstrap interval of a summary. With normal losses, intervals would hold in 50 %
of samples of 2 runs, 75 % of 3, and 90 % of 5."""

MAX_RESAMPLED_RUNS = 2**20
"""The largest number of runs resampled together. It bounds memory and changes no result."""

Kind = Literal["sd", "se", "ci"]
"""A band around the mean: a standard deviation, a standard error, or Student's confidence interval."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval; the ends are NaN with too few runs."""

    estimate: float
    lower: float
    upper: float

    def text(self, digits: int = 3, *, signed: bool = False) -> str:
        """Format as `0.437 [0.401, 0.473]`; omit NaN."""
        if isnan(self.estimate):
            return ""
        form = f"{'+' if signed else ''}.{digits}f"
        ends = "" if isnan(self.lower) else f" [{self.lower:{form}}, {self.upper:{form}}]"
        return f"{self.estimate:{form}}{ends}"

    def columns(self, name: str) -> dict[str, float]:
        """Return the table columns NAME, NAME_lower and NAME_upper."""
        return {name: self.estimate, f"{name}_lower": self.lower, f"{name}_upper": self.upper}


def percentile(estimate: float, resampled: Float[np.ndarray, " B"]) -> Interval:
    """Return an estimate with the percentile interval of its resamples."""
    lower, upper = np.quantile(resampled, INTERVAL_QUANTILES)
    return Interval(float(estimate), float(lower), float(upper))


def bootstrap_interval(sample: np.ndarray, statistic: Callable[[np.ndarray], np.ndarray]) -> Interval:
    """Return a statistic with its bootstrap percentile interval.

    The sample [K, n] has K paired numbers in each of n runs. `statistic` reduces the last axis. The ends are NaN with
    fewer than `MIN_BOOTSTRAP_RUNS` runs.
    """
    estimate = float(np.squeeze(statistic(sample)))
    n, resamples = sample.shape[-1], RESAMPLES_OF_SUMMARIES
    if n < MIN_BOOTSTRAP_RUNS:
        return Interval(estimate, np.nan, np.nan)
    generator = np.random.default_rng(0)
    chunk = max(1, MAX_RESAMPLED_RUNS // n)
    sizes = [min(chunk, resamples - first) for first in range(0, resamples, chunk)]
    resampled = [statistic(sample.take(generator.integers(n, size=(size, n)), axis=-1)).reshape(size) for size in sizes]
    return percentile(estimate, np.concatenate(resampled))


def band(frame: "pd.DataFrame", by: Sequence[str], value: str = "planning_loss", kind: Kind = "sd") -> "pd.DataFrame":
    """Return the mean over runs in each group, with a band.

    `frame` has the columns `by`, run and `value`.

    Returns:
        The sorted columns `by`, mean, lower, upper and n (runs); lower and upper are NaN for one run.

    Raises:
        ValueError: A group has several rows of one run.
    """
    _refuse_repeated_runs(frame, by)
    groups = frame.groupby(list(by), observed=True)[value]
    mean, width, n = groups.mean(), groups.std(), groups.count()
    if kind != "sd":
        width = width / np.sqrt(n)
    if kind == "ci":
        width = width * stdtrit(n - 1.0, INTERVAL_QUANTILES[1])
    bands = {"mean": mean, "lower": mean - width, "upper": mean + width, "n": n}
    return mean.index.to_frame(index=False).assign(**{name: column.array for name, column in bands.items()})


def half_width(numbers: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "..."]:
    """Return half the width of Student's interval of the mean; NaN for one run."""
    runs = len(numbers)
    spread = numbers.std(0, ddof=1) if runs > 1 else np.full(numbers.shape[1:], np.nan)
    return stdtrit(runs - 1, INTERVAL_QUANTILES[1]) * spread / np.sqrt(runs)


def best_gamma(frame: "pd.DataFrame", by: Sequence[str]) -> "pd.DataFrame":
    """Tabulate gamma* of each group (Sec. 2) in the columns `by` and gamma.

    Raises:
        ValueError: A run misses a gamma of its group, or has one twice.
    """
    return _per_group(frame, by, ["gamma"], lambda gammas, losses: [minimising(gammas, losses.mean(0)).item()])


def best_gamma_band(frame: "pd.DataFrame", by: Sequence[str], kind: Kind = "sd") -> "pd.DataFrame":
    """Return `best_gamma` of each group, with a bootstrap band over runs.

    The band is gamma* ± a standard deviation of the resamples or, with kind `ci`, their percentile interval, extended
    to gamma*. Groups with the same number of runs share resamples. Errors are as for `best_gamma`.

    Returns:
        The sorted columns `by`, mean (gamma*), lower and upper (NaN for one run).
    """

    def compute_band(gammas: Float[np.ndarray, " G"], losses: Float[np.ndarray, "n G"]) -> list[float]:
        best = minimising(gammas, losses.mean(0, keepdims=True)).item()
        if len(losses) == 1:
            return [best, np.nan, np.nan]
        resampled = minimising(gammas, bootstrap_means(losses, RESAMPLES_OF_GAMMA_STAR))
        if kind == "ci":
            lower, upper = np.quantile(resampled, INTERVAL_QUANTILES)
            return [best, min(lower, best), max(upper, best)]
        deviation = resampled.std(ddof=1)
        return [best, best - deviation, best + deviation]

    return _per_group(frame, by, ["mean", "lower", "upper"], compute_band)


def _per_group(
    frame: "pd.DataFrame",
    by: Sequence[str],
    names: Sequence[str],
    statistics: Callable[[np.ndarray, np.ndarray], Sequence[float]],
) -> "pd.DataFrame":
    """Apply a function of gammas [G] and losses [n, G] to groups."""
    _refuse_repeated_runs(frame, [*by, "gamma"])
    groups = frame.groupby(list(by), observed=True)
    results: list[Sequence[float]] = []
    for _, group in groups:
        losses = group.pivot(index="run", columns="gamma", values="planning_loss")
        if losses.isna().to_numpy().any():
            i, j = np.argwhere(losses.isna().to_numpy())[0]
            run, gamma = losses.index[i], losses.columns[j]
            where = _where(group.iloc[0].loc[list(by)])
            raise ValueError(
                f"every run must have every gamma, got no loss for run={run}, gamma={gamma:g} where {where}"
            )
        results.append(statistics(losses.columns.to_numpy(float), losses.to_numpy(float)))
    columns = np.array(results, float).reshape(-1, len(names)).T
    return groups.size().reset_index()[list(by)].assign(**dict(zip(names, columns, strict=True)))


def _refuse_repeated_runs(frame: "pd.DataFrame", by: Sequence[str]) -> None:
    repeated = frame.duplicated([*by, "run"])
    if repeated.any():
        where = _where(frame.loc[repeated, [*by, "run"]].iloc[0])
        raise ValueError(
            f"a group must have one row for each run, got several where {where}; add the varying settings to `by`"
        )


def _where(settings: "pd.Series") -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def difference(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " m"], *, paired: bool) -> Interval:
    """Return the difference of means, b minus a, with its interval.

    The interval is Student's for pairs (n = m), and Welch's for independent samples.
    """
    estimate = float(b.mean() - a.mean())
    if min(len(a), len(b)) < 2:
        return Interval(estimate, np.nan, np.nan)
    student = Linear.of([Group(1.0, b - a)] if paired else [Group(1.0, b), Group(-1.0, a)]).student
    half = float(stdtrit(student.degrees_of_freedom, INTERVAL_QUANTILES[1])) * student.deviation
    return Interval(estimate, estimate - half, estimate + half)
