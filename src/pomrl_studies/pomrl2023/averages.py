"""Averages of losses over the first tasks, against gamma and by task (R10)."""

from collections.abc import Mapping, Sequence

import pandas as pd

from pomrl.study import TASKS, Series, View, dynamic_best, sequence


def average_panels(sweep: str, settings: Mapping[str, int | float | str], tasks: Sequence[int] = TASKS) -> list[Series]:
    """Return a series of the loss averaged over tasks 1 to t for each t (R10)."""
    looks = sequence(tasks, lambda t: f"tasks 1 to {t}" if t > 1 else "task 1")
    return [Series(look, sweep, settings, average_of_first(t)) for t, look in looks.items()]


def average_of_first(t: int) -> View:
    """Return the view of losses averaged over tasks 1 to t, by run and gamma (R10).

    It is empty for an experiment with fewer than t tasks.
    """

    def averaged(rows: pd.DataFrame) -> pd.DataFrame:
        if len(rows) and rows["task"].max() < t:
            return rows.iloc[:0]
        first = rows.loc[rows["task"] <= t]
        return first.groupby(["run", "gamma"])[["planning_loss"]].mean().reset_index()

    return averaged


def best_so_far(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the least average loss over tasks 1 to t of a single gamma.

    The gamma minimises the mean over runs, and may change from task to task.
    """
    if rows.empty:
        return rows
    total = rows.sort_values(["run", "gamma", "task"]).groupby(["run", "gamma"])["planning_loss"].cumsum()
    return dynamic_best(rows.assign(planning_loss=total / rows["task"]).sort_values(["run", "task", "gamma"]))
