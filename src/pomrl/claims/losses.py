"""The tables of a sweep as arrays: the losses of one setting, over runs, tasks and discount factors."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.experiment import SCHEMA
from pomrl.gamma_schedules import Hindsight
from pomrl.statistics import minimising

FIRST = range(2, 6)
LAST = range(11, 16)
"""The first and the last tasks."""

PerRun = Float[np.ndarray, " n"]
"""A loss of each of n runs."""


@dataclass(frozen=True)
class Losses:
    """The losses of one setting. Its last discount factor is gamma_eval where they are those of a grid."""

    loss: Float[np.ndarray, "n T G"]
    gammas: Float[np.ndarray, " G"]

    @cached_property
    def at_eval(self) -> Float[np.ndarray, "n T"]:
        """At gamma_eval, or at the one that a schedule chose."""
        return self.loss[..., -1]

    def task(self, t: int) -> PerRun:
        """In task t, from 1, at gamma_eval."""
        return self.at_eval[:, t - 1]

    def tasks(self, which: Iterable[int]) -> PerRun:
        """On average over these tasks, at gamma_eval."""
        return self.at_eval[:, [t - 1 for t in which]].mean(1)

    @cached_property
    def regret(self) -> PerRun:
        """On average over all tasks, at gamma_eval."""
        return self.at_eval.mean(1)

    def curve(self, t: int) -> Float[np.ndarray, "n G"]:
        """In task t, from 1, against the discount factor."""
        return self.loss[:, t - 1]

    @cached_property
    def average_curve(self) -> Float[np.ndarray, "n G"]:
        """On average over all tasks, against the discount factor."""
        return self.loss.mean(1)

    def best(self, mean: Float[np.ndarray, "*B G"]) -> Float[np.ndarray, "*B"]:
        """gamma* of curves of mean losses."""
        return minimising(self.gammas, mean.reshape(-1, len(self.gammas))).reshape(mean.shape[:-1])

    def in_hindsight(self, scope: Literal["all_tasks", "each_task"]) -> "Losses":
        """Of the schedule that chooses from the grid afterwards, on the mean over these runs."""
        chosen = Hindsight(gammas=self.gammas.tolist(), scope=scope).choose(self.loss)
        index = np.searchsorted(self.gammas, chosen)[..., None]
        return Losses(np.take_along_axis(self.loss, index, -1), self.gammas[-1:])

    def first_runs(self, runs: int) -> "Losses":
        """Of the first so many runs."""
        return Losses(self.loss[:runs], self.gammas)


class Sweep:
    """The losses of all settings of a sweep."""

    def __init__(self, table: pd.DataFrame) -> None:
        """From rows sorted by run, task and discount factor in each setting, with as many runs in all of them."""
        varied = [str(column) for column in table.columns if column not in SCHEMA]
        self._names = [column.rpartition(".")[2] for column in varied]
        self._losses = {values: _losses(rows) for values, rows in table.groupby(varied, sort=False)}

    def at(self, **settings: Any) -> Losses:
        """Of the setting with these values; the name of a setting is the last part of its key."""
        key = tuple(settings[name] for name in self._names)
        if key not in self._losses:
            raise ValueError(f"the sweep has no setting {settings}")
        return self._losses[key]


def _losses(rows: pd.DataFrame) -> Losses:
    runs, tasks = rows["run"].nunique(), rows["task"].nunique()
    loss = rows["planning_loss"].to_numpy(float).reshape(runs, tasks, -1)
    return Losses(loss, rows["gamma"].to_numpy(float)[: loss.shape[-1]])
