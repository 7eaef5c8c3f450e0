"""Tables of stored experiments: their settings, summaries over runs, and comparisons with another method in pairs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pomrl.configuration.composed import METHOD_GROUPS
from pomrl.results.chosen_runs import Chosen, Tasks, per_run
from pomrl.results.intervals import Interval
from pomrl.results.summaries import STATISTICS, paired_difference, summary


def summarise(
    chosen: Chosen,
    value: str = "planning_loss",
    tasks: Tasks = "all",
    statistics: Sequence[str] = STATISTICS,
    against: Mapping[str, Any] | None = None,
) -> "pd.DataFrame":
    """Return a row for each experiment: the settings that vary, its runs, and summaries of a number over runs.

    Args:
        chosen: The experiments.
        value: A column of stored tables. Of each task the row at the largest discount factor counts.
        tasks: The tasks that it is averaged over.
        statistics: Names of summaries, from `summaries.STATISTICS`. Each has three columns: NAME, NAME_lower and
            NAME_upper, the ends of its 95 % interval.
        against: Settings of a method, such as `{"estimator": "pomrl"}`. Each experiment is compared with that of this
            method on the same problem: columns NAME_difference, less than 0 where the method of the row is smaller,
            with 95 % intervals of pairs of runs; `pairs` is how many runs both have.

    Raises:
        ValueError: A setting in `against` is not of a method, or an experiment has no counterpart.
    """
    numbers = per_run(chosen, value, tasks=tasks).sort_values("run")
    samples = [rows.to_numpy() for _, rows in numbers.groupby("experiment")[value]]
    places = counterparts(chosen, against) if against else {}
    rows: list[dict[str, Any]] = []
    for place, sample in enumerate(samples):
        row = {key: chosen.settings[place].get(key) for key in chosen.varying} | {"runs": chosen.runs[place]}
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


def counterparts(chosen: Chosen, against: Mapping[str, Any]) -> dict[int, int]:
    """Return the place of the experiment that each experiment is compared with."""
    groups = {key.partition(".")[0] for key in against}
    if strange := groups - set(METHOD_GROUPS):
        raise ValueError(
            f"{', '.join(sorted(strange))}: other values of it are other problems, whose runs are no pairs; compare "
            f"methods, which {', '.join(METHOD_GROUPS)} make"
        )
    shared = [key for key in chosen.varying if key.partition(".")[0] not in groups]
    asked = ", ".join(f"{key}={value}" for key, value in against.items())
    places: dict[tuple[str, ...], int] = {}
    for place, settings in enumerate(chosen.settings):
        if all(settings.get(key) == value for key, value in against.items()):
            first = places.setdefault(tuple(repr(settings.get(key)) for key in shared), place)
            if first != place:
                differing = (key for key in chosen.varying if chosen.settings[first].get(key) != settings.get(key))
                raise ValueError(f"{asked}: several experiments are meant, which differ in {', '.join(differing)}")
    keys = [tuple(repr(settings.get(key)) for key in shared) for settings in chosen.settings]
    if lacking := [key for key in keys if key not in places]:
        where = ", ".join(f"{name}={value}" for name, value in zip(shared, lacking[0], strict=True))
        raise ValueError(f"{asked}: no such experiment is chosen{' where ' * bool(where)}{where}")
    return {place: places[key] for place, key in enumerate(keys)}
