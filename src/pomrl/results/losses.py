"""Planning losses as arrays over runs, tasks and discount factors, for one experiment and for a whole sweep."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.science.gamma_schedules import GammaSchedule, Hindsight
from pomrl.science.gamma_star import HindsightChoice, Scope, hindsight_index, in_hindsight, minimising
from pomrl.science.loss_tables import MEASURED, loss_array

LossPerRun = Float[np.ndarray, " n"]
"""A loss, or a difference of losses, in each of n independent runs."""


class NotInSweepError(LookupError):
    """A sweep has no such experiment, or an experiment has no such task."""


def with_metric(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with the metric, where all of its rows have one, in the place of the planning loss."""
    measured = MEASURED in table and bool(table[MEASURED].notna().all())
    return table.assign(planning_loss=table[MEASURED]) if measured else table


@dataclass(frozen=True)
class Losses:
    """The planning losses of one experiment in n runs, T tasks and at G discount factors.

    With a grid of discount factors the last one is gamma_eval. Where a schedule chose the discount factors, G is 1, and
    `loss` holds the loss at the chosen ones.
    """

    given: Float[np.ndarray, "n T G"] | Callable[[], Float[np.ndarray, "n T G"]]
    """The losses, or a function that reads them when they are asked for as a whole, which is seldom."""
    gammas: Float[np.ndarray, " G"]
    """The discount factors, ascending; those of the first run and task where a schedule chose them."""

    @cached_property
    def loss(self) -> Float[np.ndarray, "n T G"]:
        """The losses in each run and task, and at each discount factor."""
        return self.given() if callable(self.given) else self.given

    @property
    def nbytes(self) -> int:
        """The size of the arrays that are in memory, in bytes."""
        return sum(array.nbytes for array in vars(self).values() if isinstance(array, np.ndarray))

    @staticmethod
    def of_table(table: "pd.DataFrame") -> "Losses":
        """Return the losses in an experiment's table, which is complete and sorted by run, task and gamma.

        The metric of an experiment that has one takes their place; a schedule in hindsight still chooses by the losses.

        Raises:
            ValueError: The number of rows is not a multiple of the number of runs times that of tasks.
        """
        return Losses(*loss_array(with_metric(table)))

    @staticmethod
    def of_experiment(experiment: Experiment, runs: int) -> "Losses":
        """Return the losses of the first `runs` runs of an experiment, from the store.

        Raises:
            StoreError: The experiment is not stored, or not with so many runs, or a block of runs is damaged.
        """
        return Losses.of_stored(store.lookup(experiment), runs, experiment.method.gamma_schedule)

    @staticmethod
    def of_stored(stored: store.StoredExperiment, runs: int, schedule: GammaSchedule | None = None) -> "Losses":
        """Return the losses of the first `runs` runs of what is stored, as a schedule in hindsight reads them, if any.

        Raises:
            StoreError: Not so many runs are stored, or a block of runs is damaged.
        """
        if isinstance(schedule, Hindsight):
            return Losses.of_table(in_hindsight(stored.table(runs), schedule))  # chosen from the losses of a grid
        at_eval, average_curve, gammas = stored.mean_losses(runs)
        losses = Losses(lambda: stored.losses(runs)[0], gammas)
        vars(losses).update(at_eval=at_eval, average_curve=average_curve)  # as these properties keep them
        return losses

    @cached_property
    def at_eval(self) -> Float[np.ndarray, "n T"]:
        """The loss in each run and task at the largest gamma: at gamma_eval, or at the gamma that a schedule chose."""
        return self.loss[..., -1]

    def task(self, t: int) -> LossPerRun:
        """Return the loss in task t, counted from 1, at the largest gamma; NotInSweepError if there is no such task."""
        return self.at_eval[:, self._place(t)]

    def tasks(self, numbers: Iterable[int]) -> LossPerRun:
        """Return the loss at the largest gamma, averaged over the tasks with these numbers, counted from 1.

        Raises:
            NotInSweepError: There is no task with one of the numbers.
        """
        return self.at_eval[:, [self._place(t) for t in numbers]].mean(1)

    @cached_property
    def regret(self) -> LossPerRun:
        """The task-averaged regret (Eq. 2): the loss at the largest gamma, averaged over all tasks."""
        return self.at_eval.mean(1)

    @cached_property
    def minimum(self) -> LossPerRun:
        """The loss at each task's gamma*, which minimises the mean over these runs, averaged over all tasks."""
        return self._at(_hindsight_index(self.loss, "each_task", "population")).mean(1)

    def curve(self, t: int) -> Float[np.ndarray, "n G"]:
        """Return the loss in task t, counted from 1, against the discount factor; NotInSweepError as for `task`."""
        return self.loss[:, self._place(t)]

    def _place(self, t: int) -> int:
        T = self.at_eval.shape[1]
        if not 1 <= t <= T:
            raise NotInSweepError(f"there is no task {t}: tasks count from 1, and the experiment has {T}")
        return t - 1

    @cached_property
    def average_curve(self) -> Float[np.ndarray, "n G"]:
        """The loss against the discount factor, averaged over all tasks."""
        return self.loss.mean(1)

    def best(self, mean: Float[np.ndarray, "*B G"]) -> Float[np.ndarray, "*B"]:
        """Return gamma* of each curve of mean losses against these discount factors."""
        return minimising(self.gammas, mean)

    def in_hindsight(self, scope: Scope, choice: HindsightChoice) -> "Losses":
        """Return the losses of the schedule that chooses from the grid in hindsight (Sec. 6.3), with G = 1.

        With choice `per_run` each run chooses for itself. With choice `population` the runs with odd numbers choose for
        those with even numbers, by their mean, and the other way round: a choice that is judged on the runs that made
        it looks better than it is. A single run chooses for itself in both cases.
        """
        if choice == "per_run" or len(self.loss) == 1:
            index = _hindsight_index(self.loss, scope, "per_run")
        else:
            of_halves = np.stack([self.loss[1::2].mean(0), self.loss[::2].mean(0)])
            index = _hindsight_index(of_halves, scope, "per_run")[np.arange(len(self.loss)) % 2]
        return Losses(self._at(index)[..., None], self.gammas[-1:])

    def _at(self, index: np.ndarray) -> Float[np.ndarray, "n T"]:
        return np.take_along_axis(self.loss, index[..., None], -1)[..., 0]


def _hindsight_index(loss: Float[np.ndarray, "n T G"], scope: Scope, choice: HindsightChoice) -> Int[np.ndarray, "n T"]:
    """Return what a schedule chooses in hindsight; anything where no loss is known, so that NaN is chosen."""
    return np.zeros(loss.shape[:2], np.intp) if np.isnan(loss).all() else hindsight_index(loss, scope, choice)


def at_best_fixed(losses: Losses) -> LossPerRun:
    """Return the loss of each run at the discount factor that is the best for the other half of the runs."""
    return losses.in_hindsight("all_tasks", "population").regret


@dataclass(frozen=True)
class SweepLosses:
    """The losses of all experiments of a sweep, over the same runs."""

    names: tuple[str, ...]
    """The names of the settings that vary: the last parts of their dotted keys."""
    losses: Mapping[tuple[Any, ...], Losses]
    """The losses of each combination of values of these settings, in the order of `names`."""
    choice: HindsightChoice = "population"
    """How the schedules that choose in hindsight do so, under the reading of the paper in question (R8)."""

    def where(self, **fixed: Any) -> "SweepLosses":
        """Return the experiments with these values of some names, as a sweep that varies the others."""
        whole = {
            tuple(value for name, value in zip(self.names, key, strict=True) if name not in fixed): key
            for key in self.losses
            if fixed.items() <= dict(zip(self.names, key, strict=True)).items()
        }
        names = tuple(name for name in self.names if name not in fixed)
        losses = {part: self.losses[key] for part, key in whole.items()}
        return SweepLosses(names, losses, self.choice)

    def at(self, **settings: Any) -> Losses:
        """Return the losses of the experiment with these values; a name that is left out does not vary there.

        Raises:
            NotInSweepError: The sweep has no such experiment, or does not vary a key.
        """
        key = tuple(settings.get(name) for name in self.names)
        asked = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        if key not in self.losses or not settings.keys() <= {*self.names}:
            values = zip(self.names, zip(*self.losses, strict=True), strict=True)
            known = "; ".join(f"{name} is {', '.join(map(repr, dict.fromkeys(of)))}" for name, of in values)
            raise NotInSweepError(f"the sweep has no experiment with {asked}; in it {known or 'nothing varies'}")
        return self.losses[key]
