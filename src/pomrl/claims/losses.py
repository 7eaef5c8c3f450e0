"""The tables of a sweep as arrays: the losses of one setting, over runs, tasks and discount factors."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.experiment import SCHEMA
from pomrl.statistics import minimising

FIRST = range(2, 6)
LAST = range(11, 16)
"""The first and the last tasks."""

PerRun = Float[np.ndarray, " n"]
"""A loss of each of n runs."""


Choice = Literal["population", "per_run"]
"""Whether a hindsight schedule chooses for the mean over runs, or in each run (A8)."""


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

    def in_hindsight(self, scope: Literal["all_tasks", "each_task"], choice: Choice) -> "Losses":
        """Of the schedule that chooses from the grid afterwards: in each run, or for half of the runs by the others.

        What is chosen for the mean over runs would look better than it is, if judged on the runs that chose it.
        """
        by = self.loss if choice == "per_run" or len(self.loss) == 1 else self._of_the_other_half
        chosen = self.best(by.mean(1, keepdims=True) if scope == "all_tasks" else by)
        index = np.searchsorted(self.gammas, np.broadcast_to(chosen, self.at_eval.shape))[..., None]
        return Losses(np.take_along_axis(self.loss, index, -1), self.gammas[-1:])

    @property
    def _of_the_other_half(self) -> Float[np.ndarray, "n T G"]:
        """For each run the mean losses of those whose number is odd where its own is even, and the other way round."""
        means = np.stack([self.loss[1::2].mean(0), self.loss[::2].mean(0)])
        return means[np.arange(len(self.loss)) % 2]

    def first_runs(self, runs: int) -> "Losses":
        """Of the first so many runs."""
        return Losses(self.loss[:runs], self.gammas)


@dataclass(frozen=True)
class Sweep:
    """The losses of all settings of a sweep."""

    names: tuple[str, ...]
    """Of the settings that vary."""
    losses: Mapping[tuple[Any, ...], Losses]
    """By their values."""
    choice: Choice = "population"

    @staticmethod
    def of_table(table: pd.DataFrame) -> "Sweep":
        """From rows sorted by run, task and discount factor in each setting, with as many runs in all of them."""
        varied = [str(column) for column in table.columns if column not in SCHEMA]
        groups = table.groupby(varied, sort=False, observed=True)
        return Sweep(tuple(map(last_part, varied)), {values: losses(rows) for values, rows in groups})

    def at(self, **settings: Any) -> Losses:
        """Of the setting with these values; the name of a setting is the last part of its key.

        LookupError where the sweep does not have it.
        """
        key = tuple(settings.get(name) for name in self.names)
        if key not in self.losses:
            raise LookupError(f"the sweep has no setting {settings}")
        return self.losses[key]


def last_part(key: str) -> str:
    """Of a dotted key."""
    return key.rpartition(".")[2]


def losses(rows: pd.DataFrame) -> Losses:
    """Those of one experiment's table."""
    runs, tasks = rows["run"].nunique(), rows["task"].nunique()
    loss = rows["planning_loss"].to_numpy(float).reshape(runs, tasks, -1)
    return Losses(loss, rows["gamma"].to_numpy(float)[: loss.shape[-1]])
