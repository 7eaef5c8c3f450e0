"""The hindsight schedules, read from the table of a grid."""

import numpy as np
import pandas as pd

from pomrl.gamma_schedules import Hindsight


def in_hindsight(table: pd.DataFrame, schedule: Hindsight) -> pd.DataFrame:
    """The rows of a grid's table that a hindsight schedule chooses, over the runs in the table."""
    tasks = len(np.unique(table["task"]))
    loss = table["planning_loss"].to_numpy().reshape(-1, tasks, len(schedule.gammas))
    chosen = np.repeat(schedule.choose(loss).ravel(), len(schedule.gammas))
    return table.loc[table["gamma"].to_numpy() == chosen].reset_index(drop=True)
