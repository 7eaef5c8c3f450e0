"""Intervals over independent runs, and the discount factor that is best on their mean.

Everything here takes tables with one row per run in each group (see `pomrl.experiment.SCHEMA`): runs are independent,
tasks of one run are not, so that no interval is ever taken over tasks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy import stats

Kind = Literal["sd", "se"]
"""Half width of a band: the standard deviation over runs, or the standard error of their mean."""

TIE_TOLERANCE = 1e-12
"""Means of losses closer than this, scaled by max(1, smallest mean), are tied: rounding depends on the summation."""


def band(frame: pd.DataFrame, by: Sequence[str], value: str = "planning_loss", kind: Kind = "sd") -> pd.DataFrame:
    """The mean over runs of a value in each group, and a band around it.

    Returns a row per group, sorted, with the columns `by`, mean, lower, upper (all in units of the value) and n, the
    number of runs. lower and upper are the mean minus and plus one sample standard deviation (n - 1), or that divided
    by sqrt(n); with a single run both are NaN. ValueError where a group has several rows of one run, for the band
    would then be one over tasks, or settings, and not over runs.
    """
    _refuse_repeated_runs(frame, by)
    groups = frame.groupby(list(by), observed=True)[value]
    table = groups.agg(mean="mean", sd="std", n="count").reset_index()
    width = {"sd": table["sd"], "se": table["sd"] / np.sqrt(table["n"])}[kind]
    table["lower"] = table["mean"] - width
    table["upper"] = table["mean"] + width
    return table.loc[:, [*by, "mean", "lower", "upper", "n"]]


def best_gamma(frame: pd.DataFrame, by: Sequence[str], value: str = "planning_loss") -> pd.DataFrame:
    """The discount factor that minimises the mean over runs, gamma* of Sec. 2, in each group. Ties: the largest gamma.

    Returns a row per group, sorted, with the columns `by` and gamma. ValueError where a run lacks a gamma of its group.
    """
    return _per_group(
        frame, by, value, "gamma", lambda gammas, losses: minimising(gammas, losses.mean(0, keepdims=True)).item()
    )


def best_gamma_deviation(
    frame: pd.DataFrame, by: Sequence[str], value: str = "planning_loss", resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """The bootstrap standard deviation over runs of `best_gamma`, in each group.

    Returns a row per group, sorted, with the columns `by` and deviation (in units of gamma; NaN with a single run).
    Groups of equally many runs share their resamples: runs are drawn as a whole, with all their groups.
    """

    def deviation(gammas: Float[np.ndarray, " G"], losses: Float[np.ndarray, "n G"]) -> float:
        n = len(losses)
        if n == 1:
            return np.nan
        means = bootstrap_weights(n, resamples, seed) @ losses
        return float(minimising(gammas, means).std(ddof=1))

    return _per_group(frame, by, value, "deviation", deviation)


def bootstrap_weights(n: int, resamples: int, seed: int) -> Float[np.ndarray, "B n"]:
    """How often each of n runs is in each of B resamples of n runs, divided by n: rows sum to 1."""
    counts: Int[np.ndarray, "B n"] = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=resamples)
    return counts / n


def minimising(gammas: Float[np.ndarray, " G"], mean: Float[np.ndarray, "B G"]) -> Float[np.ndarray, " B"]:
    """The largest of the gammas, which ascend, whose mean is the smallest."""
    smallest = mean.min(-1, keepdims=True)
    tied = mean <= smallest + TIE_TOLERANCE * np.maximum(1.0, smallest)
    return np.where(tied, gammas, -np.inf).max(-1)


def _per_group(
    frame: pd.DataFrame,
    by: Sequence[str],
    value: str,
    name: str,
    statistic: Callable[[np.ndarray, np.ndarray], float],
) -> pd.DataFrame:
    """A statistic of (gammas[G], values[n, G]) in each group, as a column."""
    _refuse_repeated_runs(frame, [*by, "gamma"])
    groups = frame.groupby(list(by), observed=True)
    results = []
    for _, group in groups:
        losses = group.pivot(index="run", columns="gamma", values=value)
        if losses.isna().to_numpy().any():
            raise ValueError(f"not every run has every gamma where {_where(group.iloc[0].loc[list(by)])}")
        results.append(statistic(losses.columns.to_numpy(float), losses.to_numpy(float)))
    table = groups.size().reset_index()
    return table.loc[:, list(by)].assign(**{name: np.array(results, float)})


def _refuse_repeated_runs(frame: pd.DataFrame, by: Sequence[str]) -> None:
    repeated = frame.duplicated([*by, "run"])
    if repeated.any():
        where = _where(frame.loc[repeated, [*by, "run"]].iloc[0])
        raise ValueError(f"a band is one over runs, but there are several rows where {where}: group by what varies")


def _where(settings: pd.Series) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval of 95 % confidence."""

    estimate: float
    lower: float
    upper: float


def difference(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " m"], paired: bool) -> Interval:
    """The mean of b less that of a, over runs, with Student's interval: of the pairs, or Welch's where there are none.

    Pairs need n = m. With a single run the interval is NaN.
    """
    estimate = float(b.mean() - a.mean())
    if min(len(a), len(b)) < 2:
        return Interval(estimate, np.nan, np.nan)
    spread = np.ptp(b - a) if paired else max(np.ptp(a), np.ptp(b))
    if spread <= TIE_TOLERANCE * max(1.0, abs(estimate)):
        return Interval(estimate, estimate, estimate)
    result = stats.ttest_rel(b, a) if paired else stats.ttest_ind(b, a, equal_var=False)
    bounds = result.confidence_interval(0.95)
    return Interval(estimate, float(bounds.low), float(bounds.high))
