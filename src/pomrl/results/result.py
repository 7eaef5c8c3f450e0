"""Read the results of an experiment by run, task and gamma."""

# xarray may not be installed.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownParameterType=false

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float, Int, Shaped

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import HindsightChoice, Scope, hindsight_index, in_hindsight, minimising
from pomrl.science.stored_columns import MEASURED
from pomrl.store import StoredExperiment, StoreError

if TYPE_CHECKING:
    import pandas as pd
    from xarray import Dataset  # pyright: ignore[reportMissingImports]

LossPerRun = Float[np.ndarray, " n"]
"""A loss, or a difference of losses, in each of n independent runs."""

TaskChoice = Literal["all", "first", "last"] | int
"""The tasks to average: all, the first, the last, or one by its number, from 1."""


class NotInSweepError(LookupError):
    """An error for a missing experiment or task."""


@dataclass(frozen=True)
class StoredColumns(Mapping[str, np.ndarray]):
    """The columns of a stored experiment, each read on demand."""

    stored: StoredExperiment
    runs: int

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self:
            raise KeyError(name)
        return self.read([name])[name]

    def read(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Read several columns [n, T, G], each file once."""
        T, columns = self.stored.read_manifest().settings["T"], self.stored.columns(names, self.runs)
        return {name: column.reshape(self.runs, T, -1) for name, column in columns.items()}

    def __contains__(self, name: object) -> bool:
        return name in self.stored.column_names()

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored.column_names())

    def __len__(self) -> int:
        return len(self.stored.column_names())


@dataclass(frozen=True)
class Result:
    """The numbers of an experiment over n runs, T tasks and G discount factors.

    A default grid ends with gamma_eval. G is 1 if a schedule or an agent chose the discount factor.
    """

    columns: Mapping[str, Shaped[np.ndarray, "n T G"]]
    """The columns of stored tables by name; empty without stored runs."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings by dotted keys."""
    stored: StoredExperiment | None = None
    experiment: Experiment | None = None
    """The requested experiment."""
    name: str = ""
    """The name of the experiment in messages, such as the user's selector."""

    @staticmethod
    def of_losses(loss: Float[np.ndarray, "n T G"], gammas: Float[np.ndarray, " G"]) -> "Result":
        """Make a result from planning losses only."""
        return Result({"planning_loss": loss, "gamma": np.broadcast_to(gammas, loss.shape)})

    @staticmethod
    def of_table(table: "pd.DataFrame", **fields: Any) -> "Result":
        """Make a result from a complete table, sorted by run, task and gamma."""
        return Result(_arrays(table), **fields)

    @staticmethod
    def of_stored(stored: StoredExperiment, runs: int, experiment: Experiment | None = None, **fields: Any) -> "Result":
        """Return the first runs of a stored experiment.

        Columns are read on demand, except for a schedule in hindsight.

        Raises:
            StoreError: Runs are missing or damaged.
        """
        schedule = experiment.method.gamma_schedule if experiment else None
        columns: Mapping[str, np.ndarray] = StoredColumns(stored, runs) if runs else {}
        if runs and isinstance(schedule, Hindsight):
            columns = _arrays(in_hindsight(stored.table(runs), schedule))
        return Result(columns, stored=stored, experiment=experiment, **fields)

    @staticmethod
    def pooled(results: Sequence["Result"], names: Collection[str]) -> "Result":
        """Join the runs of experiments with different seeds, for these columns."""
        present = [name for name in results[0].columns if name in names]
        column_maps = [
            result.columns.read(present) if isinstance(result.columns, StoredColumns) else result.columns
            for result in results
        ]
        columns = {name: np.concatenate([column_map[name] for column_map in column_maps]) for name in present}
        settings = {key: value for key, value in results[0].settings.items() if key != "seed"}
        return Result(columns, settings, results[0].stored)

    @staticmethod
    def of_experiment(experiment: Experiment, runs: int) -> "Result":
        """Return the first runs of an experiment in the store."""
        return Result.of_stored(store.lookup(experiment), runs, experiment)

    def first_runs(self, runs: int) -> "Result":
        """Return the result of the first runs; a schedule in hindsight chooses by these runs."""
        if self.stored and self.experiment:
            return Result.of_stored(self.stored, runs, self.experiment, settings=self.settings, name=self.name)
        if isinstance(self.columns, StoredColumns):
            return replace(self, columns=replace(self.columns, runs=runs))
        return replace(self, columns={name: column[:runs] for name, column in self.columns.items()})

    @property
    def runs(self) -> int:
        if isinstance(self.columns, StoredColumns):
            return self.columns.runs
        return len(next(iter(self.columns.values()), ()))

    def table(self) -> "pd.DataFrame":
        """Return the stored table; StoreError if runs are damaged."""
        import pandas as pd

        if isinstance(self.columns, StoredColumns):
            return self.columns.stored.table(self.columns.runs)
        return pd.DataFrame({name: column.ravel() for name, column in self.columns.items()}, copy=False)

    def _chunks(self, name: str) -> Iterator[np.ndarray]:
        if isinstance(self.columns, StoredColumns):  # chunks of whole runs bound memory
            yield from (chunk[name] for chunk in self.columns.stored.iterate_columns([name], self.columns.runs))
        else:
            yield self.columns[name]

    def to_xarray(self) -> "Dataset":
        """Return the columns as an xarray dataset over run, task and gamma.

        If gammas were chosen, the last axis is `choice`, and `gamma` is a variable.

        Raises:
            ImportError: xarray is not installed.
        """
        try:
            import xarray  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise ImportError("to_xarray needs xarray, which is not installed; run `pip install xarray`") from error
        columns = {name: column for name, column in self.columns.items() if name not in ("run", "task")}
        n, T, _ = next(iter(columns.values())).shape
        coordinates = {"run": np.arange(n), "task": np.arange(1, T + 1)}
        last = "choice"
        if (columns["gamma"] == self.gammas).all():
            last = "gamma"
            coordinates["gamma"] = columns.pop("gamma")[0, 0]
        variables = {name: (("run", "task", last), column) for name, column in columns.items()}
        return xarray.Dataset(variables, coordinates, {key: str(value) for key, value in self.settings.items()})

    def at_largest_gamma(self, name: str) -> Float[np.ndarray, "n T"]:
        """Return a column or metric at the largest or chosen gamma."""
        return np.concatenate([chunk[..., -1].copy() for chunk in self._chunks(self._column(name))])

    def over_gammas(self, name: str, tasks: TaskChoice = "all") -> Float[np.ndarray, "n G"]:
        """Return a column or metric by discount factor, averaged over tasks."""
        return np.concatenate([self._select(chunk, tasks).mean(1) for chunk in self._chunks(self._column(name))])

    def per_run(self, name: str, tasks: TaskChoice = "all") -> Float[np.ndarray, " n"]:
        """Return a column or metric at the largest gamma, averaged over tasks.

        Raises:
            StoreError: A file is damaged, or a task is missing.
        """
        return self._select(self.at_largest_gamma(name), tasks).mean(1)

    def _column(self, name: str) -> str:
        return name if name in self.columns else MEASURED

    def _select(self, numbers: np.ndarray, tasks: TaskChoice) -> np.ndarray:
        if tasks == "all":
            return numbers
        T = numbers.shape[1]
        number = {"first": 1, "last": T}.get(str(tasks), tasks)
        if not isinstance(number, int) or not 1 <= number <= T:
            folder = self.stored.folder if self.stored else self.name
            prefix = f"{folder}: " if folder else ""
            raise StoreError(f"{prefix}task must be all, first, last or 1 to {T}, got {tasks}")
        return numbers[:, [number - 1]]

    @property
    def nbytes(self) -> int:
        """The size of the cached arrays, in bytes."""
        return sum(array.nbytes for array in vars(self).values() if isinstance(array, np.ndarray))

    @cached_property
    def gammas(self) -> Float[np.ndarray, " G"]:
        """The ascending discount factors of a grid, or the first chosen one."""
        if isinstance(self.columns, StoredColumns):
            return next(self.columns.stored.iterate_columns(["gamma"], 1))["gamma"][0, 0]
        return self.columns["gamma"][0, 0]

    @cached_property
    def loss(self) -> Float[np.ndarray, "n T G"]:
        """The planning losses, or the metric if there is one."""
        return self.columns[MEASURED if MEASURED in self.columns else "planning_loss"]

    @cached_property
    def at_eval(self) -> Float[np.ndarray, "n T"]:
        """The loss at the largest gamma, by default gamma_eval, or the chosen one."""
        return self._read_means()[0]

    @cached_property
    def average_curve(self) -> Float[np.ndarray, "n G"]:
        """The loss at each gamma, averaged over tasks."""
        return self._read_means()[1]

    def _read_means(self) -> tuple[np.ndarray, np.ndarray]:
        """Compute and cache `at_eval` and `average_curve` in one pass."""
        if isinstance(self.columns, StoredColumns):
            at_eval, average_curve, gammas = self.columns.stored.mean_losses(self.runs)
            vars(self)["gammas"] = gammas
        else:
            at_eval, average_curve = self.loss[..., -1], self.loss.mean(1)
        vars(self).update(at_eval=at_eval, average_curve=average_curve)
        return at_eval, average_curve

    def task(self, t: int) -> LossPerRun:
        """Return the loss in task t, from 1; NotInSweepError if missing."""
        return self.at_eval[:, self._index(t)]

    def tasks(self, numbers: Iterable[int]) -> LossPerRun:
        """Return the loss averaged over tasks; errors as for `task`."""
        return self.at_eval[:, [self._index(t) for t in numbers]].mean(1)

    @cached_property
    def regret(self) -> LossPerRun:
        """The task-averaged regret (Eq. 2): the average loss at the largest gamma."""
        return self.at_eval.mean(1)

    @cached_property
    def minimum(self) -> LossPerRun:
        """The average loss at each task's gamma*."""
        return self._take(_hindsight_index(self.loss, "each_task", "population")).mean(1)

    def curve(self, t: int) -> Float[np.ndarray, "n G"]:
        """Return the losses in task t by gamma; errors as for `task`."""
        return self.loss[:, self._index(t)]

    def _index(self, t: int) -> int:
        T = self.at_eval.shape[1]
        if not 1 <= t <= T:
            raise NotInSweepError(f"task must be 1 to {T}, got {t}")
        return t - 1

    def best(self, mean: Float[np.ndarray, "*B G"]) -> Float[np.ndarray, "*B"]:
        """Return gamma* of each curve of mean losses."""
        return minimising(self.gammas, mean)

    def in_hindsight(self, scope: Scope, choice: HindsightChoice) -> "Result":
        """Return the losses at discount factors chosen in hindsight (Sec. 6.3).

        With `per_run`, each run chooses for itself. With `population`, the mean of the odd runs chooses for the even
        runs, and vice versa; a single run chooses for itself. The result has G = 1.
        """
        if choice == "per_run" or len(self.loss) == 1:
            index = _hindsight_index(self.loss, scope, "per_run")
        else:
            halves = np.stack([self.loss[1::2].mean(0), self.loss[::2].mean(0)])
            index = _hindsight_index(halves, scope, "per_run")[np.arange(len(self.loss)) % 2]
        return Result.of_losses(self._take(index)[..., None], self.gammas[-1:])

    def at_best_fixed(self) -> LossPerRun:
        """Return the average loss at the best fixed gamma (`in_hindsight`)."""
        return self.in_hindsight("all_tasks", "population").regret

    def _take(self, index: np.ndarray) -> Float[np.ndarray, "n T"]:
        return np.take_along_axis(self.loss, index[..., None], -1)[..., 0]


def _arrays(table: "pd.DataFrame") -> dict[str, np.ndarray]:
    """Return columns [n, T, G], except a metric with missing values."""
    shape = table["run"].nunique(), table["task"].nunique(), -1
    complete = [name for name in table if name != MEASURED or table[name].notna().all()]
    return {str(name): table[name].to_numpy().reshape(shape) for name in complete}


def _hindsight_index(loss: Float[np.ndarray, "n T G"], scope: Scope, choice: HindsightChoice) -> Int[np.ndarray, "n T"]:
    """Return indices of gammas; 0 if all losses are NaN."""
    return np.zeros(loss.shape[:2], np.intp) if np.isnan(loss).all() else hindsight_index(loss, scope, choice)
