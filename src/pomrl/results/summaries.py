"""Summarise a number over runs, and compare methods in pairs.

The mean has Student's interval. The median and the interquartile mean (Agarwal et al. 2021), for heavy-tailed losses,
have bootstrap intervals.
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
    """Return the mean without the lowest and highest quarter (rounded down)."""
    n = sample.shape[-1]
    cut = n // 4
    return np.sort(sample, axis=-1)[..., cut : n - cut].mean(axis=-1)


def median(sample: Float[np.ndarray, "*B n"]) -> Float[np.ndarray, "*B"]:
    """Return the median, faster than `np.median`."""
    n = sample.shape[-1]
    ordered = np.sort(sample, axis=-1)
    middle = ordered[..., (n - 1) // 2 : n // 2 + 1].mean(axis=-1)
    return np.where(np.isnan(ordered[..., -1]), np.nan, middle)


ROBUST: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {"iqm": interquartile_mean, "median": median}

STATISTICS = ("mean", *ROBUST)
"""The names of all summaries."""


def summary(sample: LossPerRun, statistic: str) -> Interval:
    """Return one of `STATISTICS` of a number over runs, with its interval."""
    if statistic == "mean":
        return difference(np.zeros_like(sample), sample, paired=True)
    return bootstrap_interval(sample[None], ROBUST[statistic])


def paired_difference(a: LossPerRun, b: LossPerRun, statistic: str) -> Interval:
    """Return the difference of summaries, b minus a, with its interval."""
    if statistic == "mean":
        return difference(a, b, paired=True)
    summarise_runs = ROBUST[statistic]
    return bootstrap_interval(np.stack([a, b]), lambda pair: summarise_runs(pair[1]) - summarise_runs(pair[0]))


def summarise(
    results: SweepResults,
    value: str = "planning_loss",
    tasks: TaskChoice = "all",
    statistics: Sequence[str] = STATISTICS,
    against: Mapping[str, Any] | None = None,
) -> "pd.DataFrame":
    """Tabulate summaries of each experiment, with its varying settings and runs.

    `value` is a stored column, at the largest discount factor, or a metric. Each of `statistics` has the columns NAME,
    NAME_lower and NAME_upper. `against` has settings of a reference method, such as `{"estimator": "pomrl"}`. Its
    numbers are subtracted in pairs of runs, in the columns `pairs` and NAME_difference.

    Raises:
        ValueError: A setting in `against` does not belong to a method, or an experiment has no or several counterparts.
    """
    import pandas as pd

    samples = [result.per_run(value, tasks) for result in results.results]
    counterpart_indices = counterparts(results, against) if against else {}
    rows: list[dict[str, Any]] = []
    for index, (result, sample) in enumerate(zip(results.results, samples, strict=True)):
        row = {key: result.settings.get(key) for key in results.keys} | {"runs": result.runs}
        for name in statistics:
            row |= summary(sample, name).columns(name)
        if against:
            other = counterpart_indices[index]
            row |= _difference(samples[other], sample, statistics, itself=other == index)
        rows.append(row)
    return pd.DataFrame(rows)


def _difference(other: np.ndarray, sample: np.ndarray, statistics: Sequence[str], *, itself: bool) -> dict[str, Any]:
    pairs = min(len(other), len(sample))
    row: dict[str, Any] = {"pairs": pairs}
    for name in statistics:
        unknown = Interval(np.nan, np.nan, np.nan)
        interval = unknown if itself else paired_difference(other[:pairs], sample[:pairs], name)
        row |= interval.columns(f"{name}_difference")
    return row


def counterparts(results: SweepResults, against: Mapping[str, Any]) -> dict[int, int]:
    """Map the index of each experiment to its counterpart.

    A counterpart has the settings `against` and the same problem. Errors are as for `summarise`.
    """
    groups = {key.partition(".")[0] for key in against}
    if strange := groups - set(METHOD_GROUPS):
        raise ValueError(
            f"against must be settings of a method ({', '.join(METHOD_GROUPS)}), got {', '.join(sorted(strange))}; "
            "runs of different problems cannot be paired"
        )
    shared = [key for key in results.keys if key.partition(".")[0] not in groups]
    method = ", ".join(f"{key}={value}" for key, value in against.items())
    problems = [tuple(repr(settings.get(key)) for key in shared) for settings in results.settings]
    indices: dict[tuple[str, ...], int] = {}
    for index, settings in enumerate(results.settings):
        if all(settings.get(key) == value for key, value in against.items()):
            first = indices.setdefault(problems[index], index)
            if first != index:
                differing = (key for key in results.keys if results.settings[first].get(key) != settings.get(key))
                raise ValueError(
                    f"against {method}: several experiments match, which differ in {', '.join(differing)}; "
                    "also give their values in against"
                )
    for problem in problems:
        if problem not in indices:
            where = ", ".join(f"{name}={value}" for name, value in zip(shared, problem, strict=True))
            raise ValueError(
                f"against {method}: no selected experiment matches{' where ' * bool(where)}{where}; also select it"
            )
    return {index: indices[problem] for index, problem in enumerate(problems)}
