"""The result of an experiment over the axes run, task and gamma, for plots, tables, claims, figures and `diff`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float, Int, Shaped

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import HindsightChoice, Scope, hindsight_index, in_hindsight, minimising
from pomrl.science.loss_tables import MEASURED
from pomrl.store import StoredExperiment, StoreError

if TYPE_CHECKING:
    import pandas as pd
    from xarray import Dataset  # pyright: ignore[reportMissingImports]

LossPerRun = Float[np.ndarray, " n"]
"""A loss, or a difference of losses, in each of n independent runs."""

TaskChoice = Literal["all", "first", "last"] | int
"""The tasks that a number is of: the mean over all, the first, the last, or the one with this number, from 1."""


class NotInSweepError(LookupError):
    """A sweep has no such experiment, or an experiment has no such task."""


@dataclass(frozen=True)
class StoredColumns(Mapping[str, np.ndarray]):
    """The columns of a stored experiment, each read when it is asked for."""

    stored: StoredExperiment
    runs: int
    schedule: Hindsight | None = None
    """The schedule that chooses from the stored grid of discount factors, if one does."""

    def table(self) -> "pd.DataFrame":
        """Return the table; StoreError if runs are missing or damaged."""
        table = self.stored.table(self.runs)
        return in_hindsight(table, self.schedule) if self.schedule else table

    def parts(self, names: Sequence[str]) -> Iterator[Mapping[str, np.ndarray]]:
        """Yield columns [n, T, G] in parts of whole runs, which bounds memory."""
        if not self.schedule:
            yield from self.stored.iterate_columns(names, self.runs)
        elif self.runs:
            columns = _arrays(self.table())
            yield {name: columns[name] for name in names}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self:
            raise KeyError(name)
        if self.schedule:
            return _arrays(self.table())[name]
        T = self.stored.read_manifest().settings["T"]
        return self.stored.columns([name], self.runs)[name].reshape(self.runs, T, -1)

    def __contains__(self, name: object) -> bool:
        return name in self.stored.column_names()

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored.column_names())

    def __len__(self) -> int:
        return len(self.stored.column_names())


@dataclass(frozen=True)
class Result:
    """The numbers of one experiment over the axes run, task and gamma: n runs, T tasks, G discount factors.

    With a grid of discount factors the last one is gamma_eval. Where a schedule or an agent chose, G is 1.
    """

    columns: Mapping[str, Shaped[np.ndarray, "n T G"]]
    """The columns of stored tables by name; empty where no runs are stored."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings by dotted keys."""
    stored: StoredExperiment | None = None
    experiment: Experiment | None = None
    """The experiment as it was asked for; None if it was not."""
    name: str = ""
    """The words that it was asked for by."""

    @staticmethod
    def of_losses(loss: Float[np.ndarray, "n T G"], gammas: Float[np.ndarray, " G"]) -> "Result":
        """Return a result with these planning losses alone."""
        return Result({"planning_loss": loss, "gamma": np.broadcast_to(gammas, loss.shape)})

    @staticmethod
    def of_table(table: "pd.DataFrame", **known: Any) -> "Result":
        """Return the result in a table that is complete and sorted by run, task and gamma, as stored tables are.

        Raises:
            ValueError: The number of rows is no multiple of the number of runs times that of tasks.
        """
        return Result(_arrays(table), **known)

    @staticmethod
    def of_stored(stored: StoredExperiment, runs: int, experiment: Experiment | None = None, **known: Any) -> "Result":
        """Return the first runs of a stored experiment, read when they are asked for; without runs, no columns.

        Args:
            stored: The experiment.
            runs: The number of runs.
            experiment: The experiment as it was asked for; its schedule may choose in hindsight.
            known: Further fields.
        """
        schedule = experiment.method.gamma_schedule if experiment else None
        columns = StoredColumns(stored, runs, schedule if isinstance(schedule, Hindsight) else None) if runs else {}
        return Result(columns, stored=stored, experiment=experiment, **known)

    @staticmethod
    def of_experiment(experiment: Experiment, runs: int) -> "Result":
        """Return the first runs of an experiment in the store."""
        return Result.of_stored(store.lookup(experiment), runs, experiment)

    @property
    def runs(self) -> int:
        """The number of runs n."""
        if isinstance(self.columns, StoredColumns):
            return self.columns.runs
        return len(next(iter(self.columns.values()), ()))

    def with_runs(self, runs: int) -> "Result":
        """Return the first runs alone of what is stored."""
        columns = replace(self.columns, runs=runs) if isinstance(self.columns, StoredColumns) else self.columns
        return replace(self, columns=columns)

    def table(self) -> "pd.DataFrame":
        """Return a row for each run, task and discount factor; StoreError if runs are missing or damaged."""
        import pandas as pd

        if isinstance(self.columns, StoredColumns):
            return self.columns.table()
        return pd.DataFrame({name: column.ravel() for name, column in self.columns.items()}, copy=False)

    def parts(self, *names: str) -> Iterator[Mapping[str, np.ndarray]]:
        """Yield columns in parts of whole runs."""
        if isinstance(self.columns, StoredColumns):
            yield from self.columns.parts(names)
        else:
            yield self.columns

    def to_xarray(self) -> "Dataset":
        """Return the columns as a dataset of xarray over run, task and gamma.

        Where discount factors were chosen, the last axis is `choice`, and `gamma` is a variable.

        Raises:
            ImportError: xarray is not installed.
        """
        try:
            import xarray  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise ImportError("to_xarray must have xarray, which pip install xarray installs") from error
        columns = {name: column for name, column in self.columns.items() if name not in ("run", "task")}
        n, T, _ = next(iter(columns.values())).shape
        coordinates = {"run": np.arange(n), "task": np.arange(1, T + 1)}
        last = "choice"
        if (columns["gamma"] == self.gammas).all():
            last = "gamma"
            coordinates["gamma"] = columns.pop("gamma")[0, 0]
        return xarray.Dataset(
            {name: (("run", "task", last), column) for name, column in columns.items()},
            coordinates,
            {key: str(value) for key, value in self.settings.items()},
        )

    def at_largest_gamma(self, name: str) -> Float[np.ndarray, "n T"]:
        """Return a column, or the metric of this name, at the largest gamma, or at the one that was chosen."""
        column = self._column(name)
        return np.concatenate([part[column][..., -1].copy() for part in self.parts(column)])

    def over_gammas(self, name: str, tasks: TaskChoice = "all") -> Float[np.ndarray, "n G"]:
        """Return a column, or the metric of this name, at each discount factor, on average over tasks."""
        column = self._column(name)
        return np.concatenate([self._choose(part[column], tasks).mean(1) for part in self.parts(column)])

    def per_run(self, name: str, tasks: TaskChoice = "all") -> Float[np.ndarray, " n"]:
        """Return a column, or the metric of this name, at the largest gamma, on average over tasks.

        Raises:
            StoreError: A file is damaged, or there is no such task.
        """
        return self._choose(self.at_largest_gamma(name), tasks).mean(1)

    def _column(self, name: str) -> str:
        return name if name in self.columns else MEASURED

    def _choose(self, numbers: np.ndarray, tasks: TaskChoice) -> np.ndarray:
        """Return the numbers [n, T, ...] of these tasks."""
        if tasks == "all":
            return numbers
        T = numbers.shape[1]
        number = {"first": 1, "last": T}.get(str(tasks), tasks)
        if not isinstance(number, int) or not 1 <= number <= T:
            folder = self.stored.folder if self.stored else self.name
            raise StoreError(f"{folder}: it has the tasks 1 to {T}, not {tasks}")
        return numbers[:, [number - 1]]

    @property
    def nbytes(self) -> int:
        """The size of the losses that are in memory, in bytes."""
        return sum(array.nbytes for array in vars(self).values() if isinstance(array, np.ndarray))

    @cached_property
    def gammas(self) -> Float[np.ndarray, " G"]:
        """The discount factors, ascending; those of the first run and task where they were chosen."""
        first = self.with_runs(1) if isinstance(self.columns, StoredColumns) and not self.columns.schedule else self
        return next(iter(first.parts("gamma")))["gamma"][0, 0]

    @cached_property
    def loss(self) -> Float[np.ndarray, "n T G"]:
        """The planning losses, or the metric in their place if the experiment has one."""
        return self.columns[MEASURED if MEASURED in self.columns else "planning_loss"]

    @cached_property
    def at_eval(self) -> Float[np.ndarray, "n T"]:
        """The loss in each run and task at the largest gamma: at gamma_eval, or at the gamma that a schedule chose."""
        return self._read_means()[0]

    @cached_property
    def average_curve(self) -> Float[np.ndarray, "n G"]:
        """The loss against the discount factor, averaged over all tasks."""
        return self._read_means()[1]

    def _read_means(self) -> tuple[np.ndarray, np.ndarray]:
        """Read the two reductions of losses that claims ask for in one pass, and keep both."""
        if isinstance(self.columns, StoredColumns) and not self.columns.schedule:
            at_eval, average_curve, gammas = self.columns.stored.mean_losses(self.runs)
            vars(self)["gammas"] = gammas
        else:
            at_eval, average_curve = self.loss[..., -1], self.loss.mean(1)
        vars(self).update(at_eval=at_eval, average_curve=average_curve)
        return at_eval, average_curve

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

    def best(self, mean: Float[np.ndarray, "*B G"]) -> Float[np.ndarray, "*B"]:
        """Return gamma* of each curve of mean losses against these discount factors."""
        return minimising(self.gammas, mean)

    def in_hindsight(self, scope: Scope, choice: HindsightChoice) -> "Result":
        """Return the losses of the schedule that chooses from the grid in hindsight (Sec. 6.3), with G = 1.

        With choice `per_run` each run chooses for itself. With `population`, odd runs choose for even ones by their
        mean, and even for odd, because runs that chose would flatter their choice. A single run chooses for itself.
        """
        if choice == "per_run" or len(self.loss) == 1:
            index = _hindsight_index(self.loss, scope, "per_run")
        else:
            of_halves = np.stack([self.loss[1::2].mean(0), self.loss[::2].mean(0)])
            index = _hindsight_index(of_halves, scope, "per_run")[np.arange(len(self.loss)) % 2]
        return Result.of_losses(self._at(index)[..., None], self.gammas[-1:])

    def at_best_fixed(self) -> LossPerRun:
        """Return the loss of each run at the discount factor that is the best for the other half of the runs."""
        return self.in_hindsight("all_tasks", "population").regret

    def _at(self, index: np.ndarray) -> Float[np.ndarray, "n T"]:
        return np.take_along_axis(self.loss, index[..., None], -1)[..., 0]


def _arrays(table: "pd.DataFrame") -> dict[str, np.ndarray]:
    """Return the columns of a table over runs, tasks and discount factors, without a metric that some rows lack."""
    shape = table["run"].nunique(), table["task"].nunique(), -1
    known = [name for name in table if name != MEASURED or table[name].notna().all()]
    return {str(name): table[name].to_numpy().reshape(shape) for name in known}


def _hindsight_index(loss: Float[np.ndarray, "n T G"], scope: Scope, choice: HindsightChoice) -> Int[np.ndarray, "n T"]:
    """Return what a schedule chooses in hindsight; anything where no loss is known, so that NaN is chosen."""
    return np.zeros(loss.shape[:2], np.intp) if np.isnan(loss).all() else hindsight_index(loss, scope, choice)
