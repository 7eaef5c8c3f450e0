"""Summaries of a number over independent runs, their table, and comparisons in pairs.

Losses are heavy-tailed, so that the median and the interquartile mean (Agarwal et al. 2021) stand beside the mean.
Intervals of these two are the bootstrap's over runs, and those of the mean are Student's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from pomrl.configuration.composed import METHOD_GROUPS
from pomrl.results.intervals import Interval, bootstrap_interval, difference
from pomrl.results.result import LossPerRun, TaskChoice
from pomrl.results.sweep_results import SweepResults

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd


def interquartile_mean(sample: Float[np.ndarray, "*B n"]) -> Float[np.ndarray, "*B"]:
    """Return the mean of the middle half of the numbers: a quarter of them (rounded down) is cut off at each end."""
    n = sample.shape[-1]
    cut = n // 4
    return np.sort(sample, axis=-1)[..., cut : n - cut].mean(axis=-1)


def median(sample: Float[np.ndarray, "*B n"]) -> Float[np.ndarray, "*B"]:
    """Return the median, NaN if one of the numbers is; by sorting, in a fraction of the time of `np.median`."""
    n = sample.shape[-1]
    ordered = np.sort(sample, axis=-1)
    middle = ordered[..., (n - 1) // 2 : n // 2 + 1].mean(axis=-1)
    return np.where(np.isnan(ordered[..., -1]), np.nan, middle)


ROBUST: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "iqm": interquartile_mean,
    "median": median,
}
"""The robust summaries by name."""

STATISTICS = ("mean", *ROBUST)
"""The names of all summaries."""


def summary(sample: LossPerRun, statistic: str) -> Interval:
    """Return a summary of a number over runs, with its interval; with a single run the interval is NaN.

    Args:
        sample: The number in each of n runs.
        statistic: One of `STATISTICS`.
    """
    if statistic == "mean":
        return difference(np.zeros_like(sample), sample, paired=True)
    return bootstrap_interval(sample[None], ROBUST[statistic])


def paired_difference(a: LossPerRun, b: LossPerRun, statistic: str) -> Interval:
    """Return the summary of b less that of a, with its interval; run i of a and run i of b are a pair.

    For the robust summaries it is the difference of the summaries; pairs are resampled together.
    """
    if statistic == "mean":
        return difference(a, b, paired=True)
    of = ROBUST[statistic]
    return bootstrap_interval(np.stack([a, b]), lambda both: of(both[1]) - of(both[0]))


def summarise(
    results: SweepResults,
    value: str = "planning_loss",
    tasks: TaskChoice = "all",
    statistics: Sequence[str] = STATISTICS,
    against: Mapping[str, Any] | None = None,
) -> "pd.DataFrame":
    """Return a row for each experiment: the settings that vary, its runs, and summaries over runs.

    Args:
        results: The experiments.
        value: A column of stored tables, at the largest discount factor, or a metric.
        tasks: The tasks that it is averaged over.
        statistics: Names from `STATISTICS`; each has the columns NAME, NAME_lower and NAME_upper.
        against: Settings of a method, such as `{"estimator": "pomrl"}`, to subtract on the same problem in pairs of
            runs: columns NAME_difference and `pairs`.

    Raises:
        ValueError: A setting in `against` is not of a method, or an experiment has no counterpart.
    """
    import pandas as pd

    samples = [result.per_run(value, tasks) for result in results.results]
    places = counterparts(results, against) if against else {}
    rows: list[dict[str, Any]] = []
    for place, sample in enumerate(samples):
        result = results.results[place]
        row = {key: result.settings.get(key) for key in results.keys} | {"runs": result.runs}
        for name in statistics:
            row |= summary(sample, name).columns(name)
        if against:
            row |= _difference(samples[places[place]], sample, statistics, itself=places[place] == place)
        rows.append(row)
    return pd.DataFrame(rows)


def _difference(other: np.ndarray, sample: np.ndarray, statistics: Sequence[str], *, itself: bool) -> dict[str, Any]:
    """Return the number of pairs of runs, and by how much summaries exceed those of the method to compare with."""
    pairs = min(len(other), len(sample))
    unknown, of = Interval(np.nan, np.nan, np.nan), (other[:pairs], sample[:pairs])
    found = {name: unknown if itself else paired_difference(*of, name) for name in statistics}
    columns = {key: column for name in statistics for key, column in found[name].columns(f"{name}_difference").items()}
    return {"pairs": pairs, **columns}


def counterparts(results: SweepResults, against: Mapping[str, Any]) -> dict[int, int]:
    """Return the place of the experiment that each experiment is compared with."""
    groups = {key.partition(".")[0] for key in against}
    if strange := groups - set(METHOD_GROUPS):
        raise ValueError(
            f"{', '.join(sorted(strange))}: other values of it are other problems, whose runs are no pairs; compare "
            f"methods, which {', '.join(METHOD_GROUPS)} make"
        )
    shared = [key for key in results.keys if key.partition(".")[0] not in groups]
    asked = ", ".join(f"{key}={value}" for key, value in against.items())
    places: dict[tuple[str, ...], int] = {}
    for place, settings in enumerate(results.settings):
        if all(settings.get(key) == value for key, value in against.items()):
            first = places.setdefault(tuple(repr(settings.get(key)) for key in shared), place)
            if first != place:
                differing = (key for key in results.keys if results.settings[first].get(key) != settings.get(key))
                raise ValueError(f"{asked}: several experiments are meant, which differ in {', '.join(differing)}")
    keys = [tuple(repr(settings.get(key)) for key in shared) for settings in results.settings]
    if lacking := [key for key in keys if key not in places]:
        where = ", ".join(f"{name}={value}" for name, value in zip(shared, lacking[0], strict=True))
        raise ValueError(f"{asked}: no such experiment is chosen{' where ' * bool(where)}{where}")
    return {place: places[key] for place, key in enumerate(keys)}
