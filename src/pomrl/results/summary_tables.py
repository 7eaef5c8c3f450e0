"""Tables of stored experiments: their settings, summaries over runs, and comparisons with another method in pairs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pomrl.configuration.composed import METHOD_GROUPS
from pomrl.results.chosen_runs import Chosen, Tasks, per_run
from pomrl.results.intervals import Interval
from pomrl.results.summaries import STATISTICS, paired_difference, probability_of_improvement, summary

BETTER = "better"
"""The column of the probability that a run is better than the same run of the method that it is compared with."""


def summarised(
    chosen: Chosen,
    value: str = "planning_loss",
    tasks: Tasks = "all",
    statistics: Sequence[str] = STATISTICS,
    against: Mapping[str, Any] | None = None,
) -> "pd.DataFrame":
    """Return a row for each experiment: the settings that vary, its runs, and summaries of a number over runs.

    Args:
        chosen: The experiments.
        value: A column of stored tables, of which the row at the largest discount factor of each task counts.
        tasks: The tasks that it is averaged over.
        statistics: Names of summaries, from `summaries.STATISTICS`. Each has three columns: NAME, NAME_lower and
            NAME_upper, the ends of its 95 % interval.
        against: Settings of a method, such as `{"estimator": "pomrl"}`. Each experiment is compared with that of this
            method on the same problem: columns NAME_difference, less than 0 where the method of the row is smaller, and
            `better`, the probability that it is smaller in a run; with 95 % intervals of pairs of runs.

    Raises:
        ValueError: A setting in `against` is not of a method, or an experiment has no counterpart.
    """
    samples = _samples(chosen, value, tasks)
    places = counterparts(chosen, against) if against else {}
    rows: list[dict[str, Any]] = []
    for place, sample in enumerate(samples):
        row = {key: chosen.settings[place].get(key) for key in chosen.varying} | {"runs": chosen.runs}
        for name in statistics:
            row |= summary(sample, name).columns(name)
        if against:
            other = samples[places[place]]
            itself = places[place] == place
            for name, interval in _comparisons(other, sample, statistics):
                row |= (Interval(np.nan, np.nan, np.nan) if itself else interval).columns(name)
        rows.append(row)
    return pd.DataFrame(rows)


def compared(
    old: Chosen,
    new: Chosen,
    value: str = "planning_loss",
    tasks: Tasks = "all",
    statistics: Sequence[str] = STATISTICS,
) -> "pd.DataFrame":
    """Return a row for each experiment of which there are two versions, with the differences in pairs of runs.

    Args:
        old: The one version of each.
        new: The other version, of the same experiments in the same order.
        value: A column of stored tables, or a metric.
        tasks: The tasks that it is averaged over.
        statistics: Names of summaries, each of which has the columns NAME_difference, new less old, of `summarised`.

    Returns:
        The settings that vary, `old` and `new` (the labels of the versions), runs, the differences and `better`.
    """
    keys = [key for key in new.varying if key != "code"]
    samples = [_samples(side, value, tasks) for side in (old, new)]
    rows: list[dict[str, Any]] = []
    for before, after, a, b in zip(old.settings, new.settings, *samples, strict=True):
        row = {key: after.get(key) for key in keys} | {"old": before["code"], "new": after["code"], "runs": new.runs}
        for name, interval in _comparisons(a, b, statistics):
            row |= interval.columns(name)
        rows.append(row)
    return pd.DataFrame(rows)


def _samples(chosen: Chosen, value: str, tasks: Tasks) -> list[np.ndarray]:
    """Return the numbers of the runs of each experiment."""
    numbers = per_run(chosen, value, tasks=tasks)
    return [rows.to_numpy() for _, rows in numbers.sort_values("run").groupby("experiment")[value]]


def _comparisons(a: np.ndarray, b: np.ndarray, statistics: Sequence[str]) -> Iterator[tuple[str, Interval]]:
    for name in statistics:
        yield f"{name}_difference", paired_difference(a, b, name)
    yield BETTER, probability_of_improvement(a, b)


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


def as_text(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table of `summarised` with an estimate and its interval in one cell: 0.437 [0.401, 0.473]."""
    cells: dict[str, list[str]] = {}
    for name in (name for name in table if not str(name).endswith(("_lower", "_upper"))):
        if f"{name}_lower" in table:
            triples = table[[name, f"{name}_lower", f"{name}_upper"]].itertuples(index=False)
            cells[str(name).replace("_", " ")] = [Interval(*triple).text() for triple in triples]
        else:
            known = table[name].notna()  # an option has no value of a key that is another one's
            cells[str(name)] = [
                str(each) if is_known else "" for each, is_known in zip(table[name], known, strict=True)
            ]
    return pd.DataFrame(cells)


def pivoted(table: "pd.DataFrame", column: str, statistic: str) -> "pd.DataFrame":
    """Return a table of `summarised` with a row for each method and a column for each value of a setting.

    Args:
        table: The table.
        column: The setting, which varies in the table.
        statistic: The name of the summary that the cells have, with its interval.

    Raises:
        ValueError: The setting does not vary.
    """
    keys = list(table.columns[: list(table.columns).index("runs")])
    if column not in keys:
        raise ValueError(
            f"{column}: it does not vary in these experiments; what varies is {', '.join(keys) or 'nothing'}"
        )
    text = as_text(table)
    rows = [key for key in keys if key != column]
    values = list(dict.fromkeys(text[column]))
    cells = {
        value: of_value.set_index(rows)[statistic] if rows else of_value[statistic].reset_index(drop=True)
        for value, of_value in text.groupby(column, sort=False)
    }
    wide = pd.DataFrame(cells)[values].fillna("")
    wide.columns = [f"{column}={value}" for value in values]
    return wide.reset_index() if rows else wide
