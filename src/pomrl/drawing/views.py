"""Views of the table of one experiment: the rows, or the averages of rows, that a series shows."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import Scope, in_hindsight

View = Callable[[pd.DataFrame], pd.DataFrame]
"""A function from the rows of one experiment to those that are drawn.

The result has the columns run, planning_loss, and task or gamma or both.
"""


def everything(rows: pd.DataFrame) -> pd.DataFrame:
    """Return all rows."""
    return rows


def at_largest_gamma(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each run and task: that of the largest gamma, which on the default grid is gamma_eval."""
    return rows.loc[rows["gamma"] == rows.groupby(["run", "task"])["gamma"].transform("max")]


def at_gamma(gamma: float) -> View:
    """Return the view of one row for each run and task: that of this gamma of the grid."""
    return lambda rows: rows.loc[np.isclose(rows["gamma"], gamma)]


def best_fixed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each run and task: that of the single gamma with the smallest mean loss over all tasks."""
    return _in_hindsight(rows, "all_tasks")


def dynamic_best(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each run and task: that of the gamma with the smallest mean loss in the task."""
    return _in_hindsight(rows, "each_task")


def _in_hindsight(rows: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    return in_hindsight(rows, Hindsight(gammas=np.unique(rows["gamma"]).tolist(), scope=scope)) if len(rows) else rows


def running_average(view: View) -> View:
    """Return the view that averages the losses of another view over tasks 1 to t, for each run and task t."""

    def averaged(rows: pd.DataFrame) -> pd.DataFrame:
        shown = view(rows).sort_values(["run", "task"])
        total = shown.groupby("run")["planning_loss"].cumsum()
        return shown.assign(planning_loss=total / shown["task"])

    return averaged


def in_task(t: int) -> View:
    """Return the view of the rows of task t."""
    return lambda rows: rows.loc[rows["task"] == t]
