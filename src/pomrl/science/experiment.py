"""One experiment: a method (estimator, schedule, planner) on a problem, over independent runs, and its table.

Methods on the same problem see the same models, tasks and batches, which are drawn once for all of them, and the
optimal values are computed once. Tasks are planned in stacks of about `STACK_BYTES`, so that memory does not grow with
the number of tasks.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import groupby, islice, repeat
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from pydantic import Field, InstanceOf
from pydantic.dataclasses import dataclass

from pomrl.checks import CHECKED, read_only
from pomrl.science import checked
from pomrl.science.algorithm import PlanningInput, pomrl
from pomrl.science.data import Batch, Batches, Data, Generative, Trajectories
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.estimators.memory import Models
from pomrl.science.estimators.reward_models import RewardMemory, RewardModel, estimated_rewards, sampled_means
from pomrl.science.exploration import Exploration, explorations
from pomrl.science.gamma_schedules import GammaSchedule
from pomrl.science.mdp import LossNorm, Rewards, check_gamma_eval, expected_rewards, optimal_value, planning_loss
from pomrl.science.meta_batches import MetaBatch, Own
from pomrl.science.planners import Planner
from pomrl.science.randomness import Generators, Stream, generator
from pomrl.science.tasks.distribution import MeanModel, TaskDistribution
from pomrl.science.tasks.random_chains import RandomChains
from pomrl.science.tasks.streams import Stationary, TaskStream

STACK_BYTES = 4 * 2**20
"""Largest size of a stack of models that is planned at once, in bytes, unless the models of one task exceed it."""

SCHEMA = {
    "run": "int32",
    "task": "int16",
    "gamma": "float64",
    "planning_loss": "float64",
    "alpha": "float64",
    "sigma_hat": "float64",
    "model_error": "float64",
}
"""Columns of an experiment's table and their types; it has one row per (run, task, gamma) and is sorted by them."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Problem:
    """Everything but the method. All that is drawn in a run is a function of the problem and of the run's index."""

    S: Annotated[int, Field(ge=2)]
    """Number of states."""
    A: Annotated[int, Field(ge=1)]
    """Number of actions."""
    m: Annotated[int, Field(ge=1, le=10**9)]
    """Transitions sampled for each (s,a) in each task, or trajectories."""
    T: Annotated[int, Field(ge=1, le=32767)]
    """Number of tasks."""
    sigma: Annotated[float | None, Field(ge=0)]
    """Similarity of tasks, of the kind in task_distribution.measure; null: given by another key."""
    gamma_eval: Annotated[float, Field(ge=0, lt=1)]
    """Discount factor at which policies are judged."""
    seed: Annotated[int, Field(ge=0)]
    """Seed of all draws."""
    task_distribution: InstanceOf[TaskDistribution]
    """How tasks are drawn."""
    stream: InstanceOf[TaskStream] = Stationary()
    """Whether the mean model of the tasks changes."""
    data: InstanceOf[Data] = Generative()
    """How transitions are sampled."""
    meta_batch: InstanceOf[MetaBatch] = Own()
    """Which transitions later tasks learn from."""
    trials: Annotated[int, Field(ge=1, le=10**6)] = 1
    """Batches of each task over whose estimates losses are averaged."""
    reward_model: RewardModel = "known"
    """Rewards that are planned with: the true ones; means of the task's samples, or of those of all tasks; or a
    posterior mean between the two."""
    reward_noise: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Standard deviation of a sampled reward; ignored if reward_model=known."""
    loss: LossNorm = "max"
    """Norm over states of the planning loss: the worst state, or their mean."""

    def mean(self, run: int) -> MeanModel:
        """Return the mean model of a run; raise a ValueError if it cannot have this sigma or this many zeros."""
        return checked.draw_mean(self.task_distribution, self.seed, run, self.S, self.A, self.sigma)

    def means(self, run: int) -> Iterator[MeanModel]:
        """Return the mean model of each task of a run, without end; ValueError if one leaves no room for sigma."""
        if not isinstance(self.task_distribution, RandomChains):
            return repeat(self.mean(run))
        rng = generator(*self.task_distribution.mean_key(self.seed, run), Stream.CHANGES)
        return checked.means(self.stream, rng, self.mean(run), self.task_distribution, run)

    @property
    def bytes_of_model(self) -> int:
        """The size of the transition probabilities of one model, in bytes."""
        return self.S**2 * self.A * np.dtype(float).itemsize

    @property
    def copies(self) -> int:
        """The number of arrays of the size of a model that the batches of one task take."""
        return max(self.trials, self.meta_batch.drawn)


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Method:
    """The default agent in its parts: how it estimates models, chooses discount factors and plans.

    An agent maps a task's data, its memory of tasks before, the rewards and a generator to policies; this one does so
    by `algorithm` and the planner, which need no generator.
    """

    estimator: InstanceOf[Estimator[Any]]
    """How a task's model is estimated."""
    gamma_schedule: InstanceOf[GammaSchedule]
    """Which discount factors are planned with."""
    planner: InstanceOf[Planner]
    """How policies are found."""


def components(problem: Problem, method: Method) -> dict[str, Any]:
    """Return the components of an experiment by the names of their groups: the fields that are no plain numbers."""
    parts = {field.name: getattr(owner, field.name) for owner in (problem, method) for field in fields(owner)}
    return {group: part for group, part in parts.items() if is_dataclass(part)}


def check(problem: Problem, method: Method, runs: Sequence[int]) -> None:
    """Raise a ValueError if the method cannot be used on the problem, or if one of the runs cannot have its sigma."""
    check_gamma_eval(problem.gamma_eval)
    problem.task_distribution.check(problem.S, problem.A)
    problem.stream.check(problem.T, problem.task_distribution)
    problem.data.check(problem.m)
    problem.meta_batch.check(problem.data, problem.m)
    if problem.data.is_adaptive and (problem.trials > 1 or problem.meta_batch != Own()):
        raise ValueError(
            f"trials={problem.trials}: where a learner collects its data, there is one batch for each task; "
            "set trials=1 and meta_batch=own, or data.behaviour=uniform"
        )
    if problem.data.is_adaptive and problem.reward_model != "known":
        raise ValueError(
            f"reward_model={problem.reward_model}: a learner that collects its data knows the rewards; set "
            "reward_model=known or data.behaviour=uniform"
        )
    method.estimator.check(problem.data.most_visits(problem.m))
    if method.estimator.needs_candidates and problem.task_distribution.candidates() is None:
        name, tasks = type(method.estimator).__name__, type(problem.task_distribution).__name__
        raise ValueError(f"estimator {name} needs tasks with one of finitely many models, unlike those of {tasks}")
    method.gamma_schedule.check(problem.gamma_eval)
    if method.gamma_schedule.needs_similarity and not method.estimator.has_similarity:
        name = type(method.gamma_schedule).__name__
        raise ValueError(f"gamma_schedule {name} needs an estimator with a similarity, which this one does not have")
    for run in runs:
        next(problem.means(run))


class _Task(NamedTuple):
    """The models P_t of a task in all runs, its rewards, and its batches."""

    P: Models
    R: Rewards
    R_hat: Rewards
    """The rewards that are planned with, of each of n K trials."""
    batches: Batches | Exploration
    truth: Truth


def tables(problem: Problem, methods: Sequence[Method], runs: Sequence[int]) -> list[pd.DataFrame]:
    """Return the table of each method, with the columns of `SCHEMA`.

    The numbers of a run do not depend on the other runs or on the other methods, to the last bit.

    Args:
        problem: The problem.
        methods: The methods that are compared on it.
        runs: The indices of the independent runs.
    """
    size = tasks_at_a_time(problem, len(runs))
    drawn, *copies = _shared(_draw(problem, runs, size), 1 + len(methods))
    learners = [_learner(problem, method, copy) for method, copy in zip(methods, copies, strict=True)]
    results: list[list[_Columns]] = [[] for _ in methods]
    while stack := list(islice(drawn, size)):
        P = np.concatenate([task.P for task in stack])
        R, R_hat = (np.concatenate(parts) for parts in ([task.R for task in stack], [task.R_hat for task in stack]))
        V_star = optimal_value(P, expected_rewards(R, P), problem.gamma_eval)
        read_only(P, R, R_hat, V_star)
        truth = _Judged(P, R, R_hat, V_star)
        for method, learner, result in zip(methods, learners, results, strict=True):
            inputs = list(islice(learner, len(stack)))
            result.append(_plan_and_evaluate(inputs, method.planner, truth, problem))
    return [_tabulate(result, runs, problem.T) for result in results]


def mixing_rates(problem: Problem, method: Method, runs: Sequence[int]) -> Float[np.ndarray, "n T"]:
    """Return the mixing rate alpha of a method in each run and task, without planning; a mean over trials."""
    learner = _learner(problem, method, _draw(problem, runs, tasks_at_a_time(problem, len(runs))))
    return np.stack([task.alpha.reshape(len(runs), -1).mean(1) for task in learner], axis=1)


def _shared(tasks: Iterator[_Task], readers: int) -> list[Iterator[_Task]]:
    """Return iterators over the same tasks, which keep a task only until all of them have passed it.

    `itertools.tee` keeps up to 57 tasks that all have passed, with all their batches.
    """
    ahead: list[deque[_Task]] = [deque() for _ in range(readers)]

    def one_more() -> bool:
        drawn = list(islice(tasks, 1))
        for each in ahead:
            each.extend(drawn)
        return bool(drawn)

    def reader(own: deque[_Task]) -> Iterator[_Task]:
        while own or one_more():
            yield own.popleft()

    return [reader(own) for own in ahead]


class _Setting(NamedTuple):
    """What the tasks of all runs are drawn around, and its moments; tasks that share it follow one another."""

    means: Sequence[MeanModel]
    truth: Truth


def _settings(problem: Problem, runs: Sequence[int]) -> Iterator[_Setting]:
    """Yield the setting of each task, the same object as long as no mean model changes."""
    setting = None
    for means in islice(zip(*map(problem.means, runs), strict=True), problem.T):
        if setting is None or any(new is not old for new, old in zip(means, setting.means, strict=True)):
            author = problem.stream if setting else problem.task_distribution
            setting = _Setting(means, _truth(problem, means, author))
        yield setting


def _truth(problem: Problem, means: Sequence[MeanModel], author: TaskDistribution | TaskStream) -> Truth:
    """Return the true moments of the task distribution around the mean models of all runs, which `author` returned."""
    P_o, variance = checked.moments(problem.task_distribution, means, author)
    unsmoothed = [mean.unsmoothed for mean in means if mean.unsmoothed is not None]
    candidates = checked.candidates(problem.task_distribution, *P_o.shape[1:3])
    truth = Truth(P_o, variance, np.stack(unsmoothed) if unsmoothed else None, candidates)
    for mean in means:
        read_only(mean.P_o, mean.R, mean.varying)
    read_only(truth.P_o, truth.variance, *unsmoothed)
    return truth


def tasks_at_a_time(problem: Problem, runs: int) -> int:
    """Return how many tasks are drawn, planned and evaluated together, in each of so many runs."""
    return int(np.clip(STACK_BYTES // (runs * problem.bytes_of_model * problem.copies), 1, problem.T))


def _draw(problem: Problem, runs: Sequence[int], at_a_time: int) -> Iterator[_Task]:
    """Yield the models P_t of each task and its batches, for all runs.

    The models and batches of several tasks are drawn together for each run, in the order that its streams demand.
    """
    task_streams, batch_streams, meta_streams, reward_streams = (
        [generator(problem.seed, run, stream) for run in runs]
        for stream in (Stream.TASKS, Stream.BATCHES, Stream.META_BATCHES, Stream.REWARDS)
    )
    settings, memory, distribution = _settings(problem, runs), RewardMemory(), problem.task_distribution
    while together := list(islice(settings, at_a_time)):
        alike = [list(group) for _, group in groupby(together, key=id)]
        drawn = [checked.draw_tasks(distribution, task_streams, group[0].means, len(group)) for group in alike]
        P, R = (np.concatenate(parts) for parts in ([tasks.P for tasks in drawn], [tasks.R for tasks in drawn]))
        if isinstance(problem.data, Trajectories) and problem.data.is_adaptive:
            batches = explorations(problem.data, batch_streams, P, R, problem.m, problem.gamma_eval)
            R_hat = R
        else:
            own = checked.draw_batch(problem.data, batch_streams, P, problem.m, problem.trials)
            meta = checked.of_tasks(problem.meta_batch, own, problem.data, meta_streams, P)
            R_hat, memory = _rewards(problem, reward_streams, memory, R, own)
            of_memories = own if problem.meta_batch.is_shared else own.reshaped(*meta.P_bar.shape[:2], 1)
            batches = map(Batches, of_memories, meta)
        read_only(P, R)
        truths = (setting.truth for setting in together)
        yield from (_Task(*each) for each in zip(P, R, R_hat, batches, truths, strict=True))


def _rewards(
    problem: Problem, rngs: Generators, memory: RewardMemory, R: Rewards, own: Batch
) -> tuple[Rewards, RewardMemory]:
    """Return the rewards that T tasks are planned with, [T, n K, ...], and what is known of rewards after them."""
    trials = problem.trials
    if problem.reward_model == "known":
        return np.repeat(R, trials, axis=1), memory
    estimates = []
    for of_task, batch in zip(R, own, strict=True):
        mean = sampled_means(rngs, problem.reward_noise, batch, of_task)
        N = np.broadcast_to(batch.visits, mean.shape)
        estimated, memory = estimated_rewards(problem.reward_model, problem.reward_noise, memory, mean, N)
        estimates.append(estimated.reshape(-1, *mean.shape[2:]))
    return np.stack(estimates), memory


def _learner(problem: Problem, method: Method, tasks: Iterator[_Task]) -> Iterator[PlanningInput]:
    """Run the algorithm with a method on the batches of the drawn tasks, once for each memory."""
    memories = 1 if problem.meta_batch.is_shared else problem.trials
    told, learned_from = _shared(tasks, 2)
    truths = (task.truth.repeated(memories) for task in told)
    batches = (task.batches for task in learned_from)
    return pomrl(batches, problem.m, truths, method.estimator, method.gamma_schedule, problem.gamma_eval)


class _Judged(NamedTuple):
    """A stack of N = tasks times runs models, on which policies are judged."""

    P: Float[np.ndarray, "N S A S"]
    R: Rewards
    R_hat: Rewards
    """The rewards that are planned with, of each of N K trials."""
    V_star: Float[np.ndarray, "N S"]


_Columns = dict[str, np.ndarray]
"""Columns of a table for a stack of N = tasks times runs models, of shape [N] or [N, G]."""


def _plan_and_evaluate(inputs: Sequence[PlanningInput], planner: Planner, tasks: _Judged, problem: Problem) -> _Columns:
    """Plan on the estimated models of a stack of tasks and evaluate the policies on the true models P.

    Rewards R(s, a, s') of transitions enter as their expectations, under the model that is planned on or evaluated.
    All numbers are means over the K trials of a task, whose policies are evaluated together.
    """
    (N, S, A, _), K, P, R = tasks.P.shape, problem.trials, tasks.P, tasks.R
    P_hat = np.concatenate([task.P_hat for task in inputs]).reshape(N * K, S, A, S)
    gamma = np.concatenate([task.gamma for task in inputs])
    gamma = np.repeat(gamma, N * K // len(gamma), axis=0)  # trials that share a memory share it
    read_only(P_hat, gamma)
    policy = planner.plan(P_hat, expected_rewards(tasks.R_hat, P_hat), gamma).reshape(N, -1, S)
    loss = planning_loss(P, expected_rewards(R, P), policy, problem.gamma_eval, tasks.V_star, problem.loss)
    error = np.abs(P_hat.reshape(N, K, S, A, S) - P[:, None]).max((2, 3, 4))
    return {
        "gamma": _mean_of_trials(gamma.reshape(N, K, -1)),
        "planning_loss": loss.reshape(N, K, -1).mean(1),
        "alpha": np.concatenate([task.alpha for task in inputs]).reshape(N, -1).mean(1),
        "sigma_hat": np.concatenate([task.sigma for task in inputs]).reshape(N, -1).mean(1),
        "model_error": error.mean(1),
    }


def _mean_of_trials(gamma: Float[np.ndarray, "N K G"]) -> Float[np.ndarray, "N G"]:
    """Return the mean over trials, to the last bit the common value where all trials have the same."""
    return np.where((gamma == gamma[:, :1]).all(1), gamma[:, 0], gamma.mean(1))


def _tabulate(stacks: Sequence[_Columns], runs: Sequence[int], T: int) -> pd.DataFrame:
    """Return the table, sorted by run, task and gamma, of stacks that are sorted by task and run."""
    n, G = len(runs), stacks[0]["gamma"].shape[1]
    columns = {"run": np.repeat(runs, T * G), "task": np.tile(np.repeat(np.arange(1, T + 1), G), n)}
    for name in stacks[0]:
        by_task = np.concatenate([stack[name] for stack in stacks]).reshape(T, n, -1)
        columns[name] = np.broadcast_to(by_task.swapaxes(0, 1), (n, T, G)).ravel()
    return pd.DataFrame({name: columns[name].astype(dtype) for name, dtype in SCHEMA.items()})


def loss_array(table: pd.DataFrame) -> tuple[Float[np.ndarray, "n T G"], Float[np.ndarray, " G"]]:
    """Return the planning losses of a table as an array over runs, tasks and discount factors, and the latter.

    Where a schedule chose the discount factors, G is 1, and the discount factor returned is that of the first row.

    Args:
        table: A complete table that is sorted by run, task and discount factor, as every stored table is.

    Raises:
        ValueError: If the number of rows is not a multiple of the number of runs times the number of tasks.
    """
    shape = table["run"].nunique(), table["task"].nunique(), -1
    loss = table["planning_loss"].to_numpy(float).reshape(shape)
    return loss, table["gamma"].to_numpy(float)[: loss.shape[-1]]
