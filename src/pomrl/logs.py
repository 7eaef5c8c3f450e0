"""Logs of one's own: what transitions of earlier tasks say about the next task, and about the horizon to plan with.

`from_log` counts the transitions of a table. `Log.prior` learns from them how the models of tasks are distributed, by
empirical Bayes (`pomrl.empirical_bayes`), and `Log.new_task` gives the model of a new task with its uncertainty.
`horizon_report` compares discount factors, by what is lost in expectation under the posterior and by cross-validation.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.special import betaincinv

from pomrl.data import Batch
from pomrl.empirical_bayes import DirichletMemory, EmpiricalBayes
from pomrl.mdp import check_gamma_eval, expected_rewards, planning_loss
from pomrl.models import Model, check_memory
from pomrl.planners import PolicyIteration

COLUMNS = ("task", "state", "action", "reward", "next_state")
"""What a log has for each transition, in the order of the arguments of `from_log`."""

GAMMAS = tuple(round(0.05 * i, 2) for i in range(20))
"""The discount factors that are compared by default, to which gamma_eval is added."""

FEW_TASKS = 5
"""With fewer tasks a learned prior says little of the next one."""

FEW_TRANSITIONS = 0.5
"""If more than this share of the pairs of a task has no transition, the report says so."""

SPLITS = 10
"""The number of times that the transitions of each task are halved for cross-validation."""

Prior = Literal["learned", "uniform"]
"""The prior of a posterior: learned from the tasks of the log, or one transition to each state from each pair."""


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
            level: The probability with which a transition probability lies between lower and upper.
        """
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
        """Whether any task has a transition from the pair."""
        return self.counts.sum((0, 3)) > 0

    @cached_property
    def prior(self) -> Posterior:
        """What the tasks say of the next one: Dirichlet(c P_o) in each pair, with c and P_o from all tasks."""
        return self._prior_of(range(len(self.tasks)))

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
            ValueError: The counts have another shape.
        """
        if counts is None:
            return self.prior
        if np.shape(counts) != self.counts.shape[1:]:
            raise ValueError(f"counts have to be {list(self.counts.shape[1:])}, and are {list(np.shape(counts))}")
        return Posterior(self.prior.alpha + counts, self.states, self.actions)

    def model(self, posterior: Posterior, gamma: float = 0.99) -> Model:
        """Return the expected model, for `Model.plan` at discount factors up to this one.

        A pair of which the log has no transition pays so little that no plan contains it.
        """
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

    def _prior_of(self, tasks: Sequence[int]) -> Posterior:
        """Return the prior that the tasks with these numbers make."""
        learner = EmpiricalBayes()
        memory: DirichletMemory = learner.initial_memory(1, len(self.states), len(self.actions))
        for task in tasks:
            counts = self.counts[task]
            memory = learner.learn(memory, Batch.of_counts(counts[None], max(int(counts.sum(-1).max()), 1)))
        return Posterior((memory.c * memory.P_o)[0], self.states, self.actions)


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
    anything that is hashable; they are sorted where they can be, and else in the order of the log.

    Args:
        frame: A table with a row for each transition, or the path of one: a file of the format parquet, or CSV.
        task: The name of the column that says which task a transition belongs to.
        state: The column of states.
        action: The column of actions.
        reward: The column of rewards, which are numbers.
        next_state: The column of next states.

    Raises:
        ValueError: The table cannot be read, lacks a column, or has a bad entry; the message names the first one.
    """
    table, where = _read(frame)
    named = (task, state, action, reward, next_state)
    missing = [column for column in named if column not in table]
    if missing:
        raise ValueError(f"{where}: there is no column {missing[0]!r}; there are {', '.join(map(repr, table.columns))}")
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


def _read(frame: pd.DataFrame | str | Path) -> tuple[pd.DataFrame, str]:
    """Return the table of a log and a name for it in messages."""
    if isinstance(frame, pd.DataFrame):
        return frame, "the log"
    path = Path(frame)
    readers = {".parquet": pd.read_parquet, ".csv": pd.read_csv}
    if path.suffix not in readers:
        raise ValueError(f"{path}: a log is a file that ends with .parquet or .csv")
    try:
        return readers[path.suffix](path), str(path)
    except Exception as error:  # pandas and pyarrow raise errors of many kinds where a file is damaged
        raise ValueError(f"{path}: it cannot be read ({' '.join(str(error).split())})") from error


def _numbers(table: pd.DataFrame, column: str, where: str) -> Float[np.ndarray, " n"]:
    found = pd.to_numeric(table[column], errors="coerce").to_numpy(float)
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


@dataclass(frozen=True, eq=False)
class HorizonReport:
    """What each discount factor is expected to lose, on average over the tasks of a log."""

    table: pd.DataFrame
    """A row for each discount factor, with these columns, where losses are against the best policy, at gamma_eval:

    gamma; loss, lower and upper (the expectation under the posterior and its 95 % interval, for plans on the posterior
    mean); loss_of_frequencies and its lower and upper (the same for plans on the frequencies of each task alone);
    cross_validation and its standard error over tasks (plans on one half of a task's transitions, judged on the
    frequencies of the other half).
    """
    gamma_eval: float
    prior: str
    """The prior in words."""
    warnings: list[str]
    """When not to trust the numbers, a line each."""

    @property
    def best(self) -> dict[str, float]:
        """The discount factor with the smallest loss by each way to judge it; the largest of equal ones."""
        columns = {
            "posterior mean": "loss",
            "frequencies": "loss_of_frequencies",
            "cross-validation": "cross_validation",
        }
        gammas = self.table["gamma"].to_numpy(float)
        return {
            name: float(gammas[np.flatnonzero(np.isclose(losses, losses.min(), rtol=1e-9))[-1]])
            for name, losses in ((name, self.table[column].to_numpy(float)) for name, column in columns.items())
            if np.isfinite(losses).all()
        }

    @property
    def words(self) -> list[str]:
        """The result, the prior and the warnings as sentences."""
        best = [f"by {name} γ = {gamma:g}" for name, gamma in self.best.items()]
        return [f"Smallest loss at γ_eval = {self.gamma_eval:g}: {', '.join(best)}.", self.prior, *self.warnings]


def horizon_report(
    log: Log,
    gamma_eval: float = 0.99,
    gammas: Sequence[float] = GAMMAS,
    *,
    prior: Prior = "learned",
    samples: int = 200,
    seed: int = 0,
) -> HorizonReport:
    """Compare discount factors to plan with, by what the transitions of a log say of the loss at gamma_eval.

    It is a diagnostic under a prior that is named, and no default: where rows of models are tied to each other, or the
    prior is wrong, the expectation is wrong too. Losses are means over states, in the units of rewards.

    Args:
        log: The transitions.
        gamma_eval: The discount factor that policies are judged at; it is always among those compared.
        gammas: The other discount factors to plan with, each at most gamma_eval.
        prior: Whether the posterior's prior is learned from the log, or uniform.
        samples: The number of models that are drawn from the posterior of each task.
        seed: The seed of these draws and of the halves of cross-validation.

    Raises:
        ValueError: A discount factor is above gamma_eval or not in [0, 1), or there are too few samples.
    """
    check_gamma_eval(gamma_eval)
    grid = np.unique([*gammas, gamma_eval])
    if grid[-1] > gamma_eval:
        raise ValueError(f"gamma = {grid[-1]:g} is above gamma_eval = {gamma_eval:g}; it has to be at most that")
    if samples < 2:
        raise ValueError(f"samples = {samples}: an interval needs at least 2")
    rng = np.random.default_rng(seed)
    base = log.prior if prior == "learned" else _uniform(log)
    losses = np.zeros((2, samples, len(grid)))
    validated = []
    for counts in log.counts:
        losses += _posterior_losses(
            log, Posterior(base.alpha + counts, log.states, log.actions), counts, grid, rng, samples
        )
        validated.append(_validated(log, counts, grid, rng))
    losses /= len(log.tasks)
    table = _table(grid, losses, np.array(validated))
    return HorizonReport(table, gamma_eval, _prior_in_words(log, prior), _warnings(log, table))


def _uniform(log: Log) -> Posterior:
    return Posterior(np.ones(log.counts.shape[1:]), log.states, log.actions)


def _posterior_losses(
    log: Log,
    posterior: Posterior,
    counts: Int[np.ndarray, "S A S"],
    grid: Float[np.ndarray, " G"],
    rng: np.random.Generator,
    samples: int,
) -> Float[np.ndarray, "2 n G"]:
    """Return the losses of plans on the posterior mean, and on the frequencies, in models from the posterior."""
    truth, rewards = log.playable(posterior.sample(rng, samples), grid[-1])
    frequencies = Batch.of_counts(counts[None], 1).P_bar[0]
    found = []
    for P_hat in (posterior.mean, frequencies):
        policies = _policies(log, P_hat, grid)
        found.append(planning_loss(truth, rewards, np.repeat(policies, samples, 0), float(grid[-1]), norm="mean"))
    return np.stack(found)


def _policies(log: Log, P_hat: Float[np.ndarray, "S A S"], grid: Float[np.ndarray, " G"]) -> Int[np.ndarray, "1 G S"]:
    P, R = log.playable(P_hat[None], float(grid[-1]))
    return PolicyIteration().plan(P, R, grid)


def _validated(
    log: Log, counts: Int[np.ndarray, "S A S"], grid: Float[np.ndarray, " G"], rng: np.random.Generator
) -> Float[np.ndarray, " G"]:
    """Return the losses of plans on one half of a task's transitions, in the frequencies of the other half."""
    losses = np.zeros(len(grid))
    for _ in range(SPLITS):
        half = rng.binomial(counts, 0.5)
        one, other = (Batch.of_counts(part[None], 1).P_bar for part in (half, counts - half))
        truth, rewards = log.playable(other, float(grid[-1]))
        losses += planning_loss(truth, rewards, _policies(log, one[0], grid), float(grid[-1]), norm="mean")[0]
    return losses / SPLITS


def _table(
    grid: Float[np.ndarray, " G"], losses: Float[np.ndarray, "2 n G"], validated: Float[np.ndarray, "K G"]
) -> pd.DataFrame:
    columns: dict[str, Any] = {"gamma": grid}
    for name, of_plans in zip(("", "_of_frequencies"), losses, strict=True):
        lower, upper = np.quantile(of_plans, [0.025, 0.975], axis=0)
        columns |= {f"loss{name}": of_plans.mean(0), f"lower{name}": lower, f"upper{name}": upper}
    spread = validated.std(0, ddof=1) / np.sqrt(len(validated)) if len(validated) > 1 else np.full(len(grid), np.nan)
    return pd.DataFrame(columns | {"cross_validation": validated.mean(0), "standard_error": spread})


def _prior_in_words(log: Log, prior: Prior) -> str:
    if prior == "uniform":
        return "The prior is uniform: one transition from each pair to each state, whatever other tasks show."
    return (
        f"The prior is learned from {_tasks(log)}: in each pair a Dirichlet distribution around their mean, "
        f"worth {log.concentration:.1f} transitions, with independent rows."
    )


def _tasks(log: Log) -> str:
    return "one task" if len(log.tasks) == 1 else f"{len(log.tasks)} tasks"


def _warnings(log: Log, table: pd.DataFrame) -> list[str]:
    """Return a sentence on each reason not to trust a report."""
    lines = []
    if len(log.tasks) < FEW_TASKS:
        lines.append(f"Do not trust the prior: it comes from {_tasks(log)}, fewer than {FEW_TASKS}.")
    empty = float((log.counts.sum(-1) == 0)[:, log.seen].mean())
    if empty > FEW_TRANSITIONS:
        lines.append(f"The prior decides: {100 * empty:.0f} % of the pairs of a task have no transition of its own.")
    gammas = table["gamma"].to_numpy(float)
    by = {name: float(gammas[table[name].to_numpy(float).argmin()]) for name in ("loss", "cross_validation")}
    if abs(by["loss"] - by["cross_validation"]) > 0.1:
        lines.append(
            f"The posterior and cross-validation disagree (γ = {by['loss']:g} and {by['cross_validation']:g}): the "
            "prior may be wrong, or halves of the data are too few."
        )
    if table["lower"].iloc[-1] <= table["loss"].min():
        lines.append(f"No γ is better than {gammas[-1]:g} beyond the uncertainty of the posterior.")
    return lines
