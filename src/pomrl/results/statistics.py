"""Intervals over independent runs, and gamma*, the discount factor that minimises the mean over runs.

The functions take tables with one row per run in each group (see `pomrl.science.loss_tables.SCHEMA`). Runs are
independent and the tasks of one run are not, so that no interval is ever taken over tasks.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.special import stdtrit

from pomrl.results.bootstrap import bootstrap_means
from pomrl.results.intervals import ENDS, Interval
from pomrl.science.gamma_star import minimising

Kind = Literal["sd", "se", "ci"]
"""What a band over runs shows around their mean.

It is one standard deviation (sd), one standard error of the mean (se), or Student's 95 % confidence interval of the
mean (ci).
"""

NO_SPREAD = 1e-12
"""A spread over runs up to this, scaled by max(1, |estimate|), is a rounding error: the runs are all alike."""


def band(frame: "pd.DataFrame", by: Sequence[str], value: str = "planning_loss", kind: Kind = "sd") -> "pd.DataFrame":
    """Return the mean over runs of a value in each group, and a band around it.

    Args:
        frame: A table with the columns `by`, run and `value`.
        by: The columns whose values make the groups.
        value: The column that is averaged.
        kind: The half width of the band: one sample standard deviation (with n - 1), that divided by sqrt(n), or the
            latter times the quantile of Student's distribution with n - 1 degrees of freedom.

    Returns:
        A row per group, sorted, with the columns `by`, mean, lower, upper (all in units of the value) and n, the number
        of runs. With a single run lower and upper are NaN.

    Raises:
        ValueError: A group has several rows of one run, so that the band would be one over tasks or experiments.
    """
    _refuse_repeated_runs(frame, by)
    groups = frame.groupby(list(by), observed=True)[value]
    table = groups.agg(mean="mean", sd="std", n="count").reset_index()
    width = table["sd"]
    if kind != "sd":
        width = width / np.sqrt(table["n"])
    if kind == "ci":
        width = width * stdtrit(table["n"] - 1.0, ENDS[1])
    table["lower"] = table["mean"] - width
    table["upper"] = table["mean"] + width
    return table.loc[:, [*by, "mean", "lower", "upper", "n"]]


def half_width(numbers: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "..."]:
    """Return half the width of Student's 95 % interval of the mean over n runs, the first axis; NaN for one run."""
    runs = len(numbers)
    spread = numbers.std(0, ddof=1) if runs > 1 else np.full(numbers.shape[1:], np.nan)
    return stdtrit(runs - 1, ENDS[1]) * spread / np.sqrt(runs)


def best_gamma(frame: "pd.DataFrame", by: Sequence[str]) -> "pd.DataFrame":
    """Return gamma* of each group, the discount factor that minimises the mean over runs (Sec. 2).

    Ties are broken as everywhere, by `pomrl.science.gamma_star`.

    Returns:
        A row per group, sorted, with the columns `by` and gamma.

    Raises:
        ValueError: A run lacks a gamma of its group, or has one twice.
    """
    return _per_group(frame, by, ["gamma"], lambda gammas, losses: [minimising(gammas, losses.mean(0)).item()])


def best_gamma_band(frame: "pd.DataFrame", by: Sequence[str], kind: Kind = "sd") -> "pd.DataFrame":
    """Return `best_gamma` of each group with a band around it, by the bootstrap over runs.

    The band is one standard deviation of the resamples or, with the kind `ci`, their 95 % percentile interval, which is
    extended to `best_gamma` where that is outside of it. Groups with the same number of runs share their resamples, as
    if whole runs with all their groups were drawn.

    Returns:
        A row per group, sorted, with the columns `by`, mean (gamma*), lower and upper (in units of gamma; NaN with a
        single run).

    Raises:
        ValueError: A run lacks a gamma of its group, or has one twice.
    """

    def around(gammas: Float[np.ndarray, " G"], losses: Float[np.ndarray, "n G"]) -> list[float]:
        best = minimising(gammas, losses.mean(0, keepdims=True)).item()
        if len(losses) == 1:
            return [best, np.nan, np.nan]
        resampled = minimising(gammas, bootstrap_means(losses))
        if kind == "ci":
            lower, upper = np.quantile(resampled, ENDS)
            return [best, min(lower, best), max(upper, best)]
        deviation = resampled.std(ddof=1)
        return [best, best - deviation, best + deviation]

    return _per_group(frame, by, ["mean", "lower", "upper"], around)


def _per_group(
    frame: "pd.DataFrame",
    by: Sequence[str],
    names: Sequence[str],
    statistics: Callable[[np.ndarray, np.ndarray], Sequence[float]],
) -> "pd.DataFrame":
    """Return statistics of gammas[G] and losses[n, G] in each group, as columns of these names."""
    _refuse_repeated_runs(frame, [*by, "gamma"])
    groups = frame.groupby(list(by), observed=True)
    results = []
    for _, group in groups:
        losses = group.pivot(index="run", columns="gamma", values="planning_loss")
        if losses.isna().to_numpy().any():
            raise ValueError(f"not every run has every gamma where {_where(group.iloc[0].loc[list(by)])}")
        results.append(statistics(losses.columns.to_numpy(float), losses.to_numpy(float)))
    columns = np.array(results, float).reshape(-1, len(names)).T
    return groups.size().reset_index()[list(by)].assign(**dict(zip(names, columns, strict=True)))


def _refuse_repeated_runs(frame: "pd.DataFrame", by: Sequence[str]) -> None:
    repeated = frame.duplicated([*by, "run"])
    if repeated.any():
        where = _where(frame.loc[repeated, [*by, "run"]].iloc[0])
        raise ValueError(f"a band is one over runs, but there are several rows where {where}: group by what varies")


def _where(settings: "pd.Series") -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def difference(a: Float[np.ndarray, " n"], b: Float[np.ndarray, " m"], *, paired: bool) -> Interval:
    """Return the mean of b over runs less that of a, with its 95 % interval.

    The interval is Student's of the pairwise differences where runs are pairs (which needs n = m), and Welch's for
    independent samples otherwise. With a single run on one side it is NaN.
    """
    estimate = float(b.mean() - a.mean())
    if min(len(a), len(b)) < 2:
        return Interval(estimate, np.nan, np.nan)
    spread = np.ptp(b - a) if paired else max(np.ptp(a), np.ptp(b))
    if spread <= NO_SPREAD * max(1.0, abs(estimate)):
        return Interval(estimate, estimate, estimate)
    variances = np.array([np.var(b - a, ddof=1) / len(a)] if paired else [np.var(x, ddof=1) / len(x) for x in (a, b)])
    degrees = len(a) - 1.0
    if not paired:  # Welch's and Satterthwaite's
        degrees = variances.sum() ** 2 / (variances**2 / [len(a) - 1, len(b) - 1]).sum()
    half = float(stdtrit(degrees, ENDS[1]) * np.sqrt(variances.sum()))
    return Interval(estimate, estimate - half, estimate + half)
