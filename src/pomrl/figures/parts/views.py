"""Views of a run's table: which of its rows, or what average of them, a series shows."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from pomrl.gamma_schedules import Hindsight
from pomrl.hindsight import in_hindsight

View = Callable[[pd.DataFrame], pd.DataFrame]
"""From the rows of one experiment to those that are drawn: columns run, task or gamma or both, and planning_loss."""


def everything(rows: pd.DataFrame) -> pd.DataFrame:
    """All of it."""
    return rows


def at_largest_gamma(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each run and task: that of the largest gamma, which on the default grid is gamma_eval."""
    if not rows.duplicated(["run", "task"]).any():
        return rows
    return rows.loc[rows["gamma"] == rows["gamma"].max()]


def at_gamma(gamma: float) -> View:
    """One row for each run and task: that of one gamma of the grid."""
    return lambda rows: rows.loc[np.isclose(rows["gamma"], gamma)]


def best_fixed(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each run and task: that of the one gamma of the grid which is best over all tasks."""
    return in_hindsight(rows, Hindsight(gammas=_gammas(rows), scope="all_tasks")) if len(rows) else rows


def dynamic_best(rows: pd.DataFrame) -> pd.DataFrame:
    """One row for each run and task: that of the gamma of the grid which is best in the task."""
    return in_hindsight(rows, Hindsight(gammas=_gammas(rows), scope="each_task")) if len(rows) else rows


def _gammas(rows: pd.DataFrame) -> list[float]:
    return np.unique(rows["gamma"]).tolist()


def running_average(view: View) -> View:
    """For each run and task t, the average over tasks 1..t of what another view shows."""

    def averaged(rows: pd.DataFrame) -> pd.DataFrame:
        shown = view(rows).sort_values(["run", "task"])
        total = shown.groupby("run")["planning_loss"].cumsum()
        return shown.assign(planning_loss=total / shown["task"])

    return averaged


def in_task(t: int) -> View:
    """The rows of task t."""
    return lambda rows: rows.loc[rows["task"] == t]


def average_of_first(t: int) -> View:
    """For each run and gamma, the average over tasks 1..t; nothing where there are fewer tasks (A10)."""

    def averaged(rows: pd.DataFrame) -> pd.DataFrame:
        if len(rows) and rows["task"].max() < t:
            return rows.iloc[:0]
        first = rows.loc[rows["task"] <= t]
        return first.groupby(["run", "gamma"])[["planning_loss"]].mean().reset_index()

    return averaged
