"""Logs of one's own: what transitions of earlier tasks say about the next task.

`from_log` counts the transitions of a table. `Log.prior` learns from them how the models of tasks are distributed, by
empirical Bayes (`pomrl.science.estimators.empirical_bayes`), and `Log.new_task` gives the model of a new task with its
uncertainty.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.special import betaincinv

from pomrl.checks import check_memory
from pomrl.models_and_logs.models import Model, numbers
from pomrl.science.data import Batch
from pomrl.science.estimators.empirical_bayes import DirichletMemory, EmpiricalBayes
from pomrl.science.mdp import expected_rewards

COLUMNS = ("task", "state", "action", "reward", "next_state")
"""What a log has for each transition, in the order of the arguments of `from_log`."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of the model of a task: an independent Dirichlet distribution of each row."""

    alpha: Float[np.ndarray, "S A S"]
    """The parameters of the distributions."""
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]

    @property
    def mean(self) -> Float[np.ndarray, "S A S"]:
        """The expected transition probabilities."""
        return self.alpha / self.alpha.sum(-1, keepdims=True)

    @property
    def deviation(self) -> Float[np.ndarray, "S A S"]:
        """The standard deviations of the transition probabilities."""
        return np.sqrt(self.mean * (1.0 - self.mean) / (self.alpha.sum(-1, keepdims=True) + 1.0))

    def sample(self, rng: np.random.Generator, n: int) -> Float[np.ndarray, "n S A S"]:
        """Draw n models."""
        draws = rng.standard_gamma(np.broadcast_to(self.alpha, (n, *self.alpha.shape)))
        total = draws.sum(-1, keepdims=True)
        return np.where(total > 0, draws / np.where(total > 0, total, 1.0), self.mean)

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return a row for each transition, with columns state, action, next_state, probability, lower, upper.

        Args:
            level: The probability with which a transition probability lies between lower and upper, in (0, 1).

        Raises:
            ValueError: The level is not in (0, 1).
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level={level!r} is no probability between 0 and 1, such as 0.95")
        rest = np.maximum(self.alpha.sum(-1, keepdims=True) - self.alpha, 1e-12)
        ends = [betaincinv(np.maximum(self.alpha, 1e-12), rest, q) for q in ((1 - level) / 2, (1 + level) / 2)]
        index = pd.MultiIndex.from_product([self.states, self.actions, self.states])
        frame = index.to_frame(index=False, name=["state", "action", "next_state"])
        return frame.assign(probability=self.mean.ravel(), lower=ends[0].ravel(), upper=ends[1].ravel())


@dataclass(frozen=True, eq=False)
class Log:
    """The transitions of several tasks, counted; tasks, states and actions keep their names."""

    counts: Int[np.ndarray, "K S A S"]
    """The number of transitions of each of K tasks."""
    R: Float[np.ndarray, "S A S"]
    """The mean reward of each transition over all tasks; where one was never seen, that of its pair (s, a)."""
    tasks: tuple[Hashable, ...]
    states: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]

    @cached_property
    def seen(self) -> Bool[np.ndarray, "S A"]:
        """Return whether any task has a transition from each pair."""
        return self.counts.sum((0, 3)) > 0

    @cached_property
    def prior(self) -> Posterior:
        """What the tasks say of the next one: Dirichlet(c P_o) in each pair, with c and P_o from all tasks."""
        learner = EmpiricalBayes()
        memory: DirichletMemory = learner.initial_memory(1, len(self.states), len(self.actions))
        for counts in self.counts:
            memory = learner.learn(memory, Batch.of_counts(counts[None], max(int(counts.sum(-1).max()), 1)))
        return Posterior((memory.c * memory.P_o)[0], self.states, self.actions)

    @property
    def concentration(self) -> float:
        """The learned concentration c: the prior is worth so many transitions from each pair."""
        return float(self.prior.alpha[0, 0].sum())

    @property
    def remarks(self) -> list[str]:
        """A line for each thing that the log does not say, and that is assumed in its place."""
        ends = [self.states[state] for state in np.flatnonzero(~self.seen.any(1))]
        lines = [f"state {name!r} is never left: it counts as an end that pays nothing" for name in ends]
        missing = int((~self.seen).sum()) - len(ends) * len(self.actions)
        if missing:
            lines.append(f"{missing} pairs of a state and an action are in no task: they are never planned")
        starts = self.counts.sum((0, 1, 2)) == 0
        names = [name for name, unreached in zip(self.states, starts, strict=True) if unreached]
        return lines + [f"state {name!r} is reached by no transition" for name in names]

    def new_task(self, counts: Int[np.ndarray, "S A S"] | None = None) -> Posterior:
        """Return what is believed of the model of a new task, before or after its first transitions.

        Args:
            counts: The numbers of its transitions, with states and actions in the order of this log; none by default.

        Raises:
            ValueError: The counts have another shape, or one of them is negative or not finite.
        """
        if counts is None:
            return self.prior
        if np.shape(counts) != self.counts.shape[1:]:
            raise ValueError(f"counts have to be {list(self.counts.shape[1:])}, and are {list(np.shape(counts))}")
        found = numbers(counts, "counts")
        if (bad := ~(np.isfinite(found) & (found >= 0))).any():
            s, a, s_next = np.argwhere(bad)[0].tolist()
            raise ValueError(f"counts[{s}, {a}, {s_next}] = {found[s, a, s_next]:g} is no number of transitions")
        return Posterior(self.prior.alpha + found, self.states, self.actions)

    def model(self, posterior: Posterior, gamma: float = 0.99) -> Model:
        """Return the expected model, for `Model.plan` at discount factors up to this one.

        A pair of which the log has no transition pays so little that no plan contains it.

        Raises:
            ValueError: The discount factor is not in [0, 1).
        """
        if not 0.0 <= gamma < 1.0:
            raise ValueError(f"gamma={gamma!r} is not in [0, 1)")
        P, R = self.playable(posterior.mean[None], gamma)
        return Model(P[0], R[0], self.states, self.actions)

    def playable(
        self, P: Float[np.ndarray, "n S A S"], gamma: float
    ) -> tuple[Float[np.ndarray, "n S A S"], Float[np.ndarray, "n S A"]]:
        """Return models, and their expected rewards, in which ends are never left and unseen pairs never pay."""
        P = np.array(P)
        ends = np.flatnonzero(~self.seen.any(1))
        P[:, ends] = 0.0
        P[:, ends, :, ends] = 1.0
        R = expected_rewards(self.R[None], P)
        low, high = min(float(R[:, self.seen].min()), 0.0), max(float(R[:, self.seen].max()), 0.0)
        R[:, ~self.seen] = low - (high - low + 1.0) / (1.0 - gamma)
        R[:, ends] = 0.0
        return P, R


def from_log(
    frame: pd.DataFrame | str | Path,
    *,
    task: str = "task",
    state: str = "state",
    action: str = "action",
    reward: str = "reward",
    next_state: str = "next_state",
) -> Log:
    """Return the transitions of a log, counted.

    Tasks may have different numbers of transitions, and need not have any from some pairs. States and actions are
    anything that is hashable; they are sorted where they can be, and else in the order of the log. Names of different
    kinds differ: the state 1 is not the state '1', so that a column of numbers and one of texts share no state.

    Args:
        frame: A table with a row for each transition, or the path of one: a file of the format parquet, or CSV.
        task: The name of the column that says which task a transition belongs to.
        state: The column of states.
        action: The column of actions.
        reward: The column of rewards, which are numbers.
        next_state: The column of next states.

    Raises:
        TypeError: The log is neither a data frame nor a path.
        ValueError: The table cannot be read, lacks a column, or has a bad entry; the message names the first one.
    """
    table, where = _read(frame)
    _check_columns(table, where, (task, state, action, reward, next_state))
    if table.empty:
        raise ValueError(f"{where}: there are no transitions")
    rewards = _numbers(table, reward, where)
    for column in (task, state, action, next_state):
        _refuse(table[column].isna().to_numpy(), where, column, "is missing")
    tasks, k = _coded(table, where, task)
    actions, a = _coded(table, where, action)
    states, codes = _coded(table, where, state, next_state)
    s, s_next = codes.reshape(2, -1)
    check_memory(8 * len(tasks) * len(states) ** 2 * len(actions), f"{where}: {len(tasks)} tasks, {len(states)} states")
    counts = np.zeros((len(tasks), len(states), len(actions), len(states)), int)
    np.add.at(counts, (k, s, a, s_next), 1)
    total = np.zeros(counts.shape[1:])
    np.add.at(total, (s, a, s_next), rewards)
    return Log(counts, _mean_rewards(total, counts.sum(0)), tasks, states, actions)


def _check_columns(table: pd.DataFrame, where: str, named: Sequence[str]) -> None:
    """Raise a ValueError unless each of these columns is there once, and none has two roles."""
    for role, column in zip(COLUMNS, named, strict=True):
        times = list(table.columns).count(column)
        if not times:
            raise ValueError(f"{where}: there is no column {column!r}; there are {', '.join(map(repr, table.columns))}")
        if times > 1:
            raise ValueError(f"{where}: there are {times} columns {column!r}, and one of them has to be the {role}")
        if (first := COLUMNS[named.index(column)]) != role:
            raise ValueError(f"{where}: the column {column!r} is given twice, for {first} and for {role}")


def _read(frame: object) -> tuple[pd.DataFrame, str]:
    """Return the table of a log and a name for it in messages."""
    if isinstance(frame, pd.DataFrame):
        return frame, "the log"
    if not isinstance(frame, str | Path):
        raise TypeError(f"a log is a pandas.DataFrame or the path of a file, and not a {type(frame).__name__}")
    path = Path(frame)
    readers = {".parquet": pd.read_parquet, ".csv": pd.read_csv}
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: a log is a file that ends with .parquet or .csv")
    try:
        return readers[path.suffix.lower()](path), str(path)
    except Exception as error:  # pandas and pyarrow raise errors of many kinds where a file is damaged
        raise ValueError(f"{path}: it cannot be read ({' '.join(str(error).split())})") from error


def _numbers(table: pd.DataFrame, column: str, where: str) -> Float[np.ndarray, " n"]:
    parsed = pd.to_numeric(table[column], errors="coerce")
    _refuse(np.full(len(table), np.iscomplexobj(parsed)), where, column, "is a complex number")
    found = parsed.to_numpy(float, na_value=np.nan)
    _refuse(~np.isfinite(found), where, column, "is no finite number")
    return found


def _refuse(bad: np.ndarray, where: str, column: str, why: str) -> None:
    """Raise a ValueError that names the first bad row, counted from 0, if there is one."""
    if bad.any():
        raise ValueError(f"{where}: row {int(bad.argmax())}: the value of {column!r} {why}")


def _coded(table: pd.DataFrame, where: str, *columns: str) -> tuple[tuple[Hashable, ...], Int[np.ndarray, " n"]]:
    """Return the names in some columns, and the number of the name in each of their rows, column by column."""
    values = pd.concat([table[column] for column in columns], ignore_index=True)
    try:
        codes, names = pd.factorize(values)
    except TypeError as error:
        raise ValueError(f"{where}: the values of {columns[0]!r} cannot be names ({error})") from error
    try:
        order = sorted(range(len(names)), key=lambda number: names[number])
    except TypeError:  # names of several kinds have no order
        order = list(range(len(names)))
    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    plain = (names[number] for number in order)
    return tuple(name.item() if isinstance(name, np.generic) else name for name in plain), place[codes]


def _mean_rewards(total: Float[np.ndarray, "S A S"], counts: Int[np.ndarray, "S A S"]) -> Float[np.ndarray, "S A S"]:
    """Return the mean reward of each transition; of one that was never seen, that of its pair; else 0."""
    of_pair = np.divide(total.sum(-1), counts.sum(-1), out=np.zeros(total.shape[:2]), where=counts.sum(-1) > 0)
    return np.divide(total, counts, out=np.repeat(of_pair[..., None], total.shape[-1], -1), where=counts > 0)
