"""Experiments with agents: the loop of `science.experiment` in which an agent has the place of the planner.

`science.experiment` is not changed for agents, because its source is part of the signatures of all stored experiments.
What is drawn, estimated and evaluated is therefore done by its own functions.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from jaxtyping import Int
from pydantic import InstanceOf
from pydantic.dataclasses import dataclass as checked_dataclass

from pomrl.checks import CHECKED, read_only
from pomrl.science import experiment
from pomrl.science.agents.agent import Agent, CertaintyEquivalence, Decision, TaskData
from pomrl.science.algorithm import PlanningInput
from pomrl.science.checked import _LARGEST, ComponentError, Where, _check_array, _check_range
from pomrl.science.data import Batch, Batches, Counts
from pomrl.science.experiment import (
    Method,
    Problem,
    _draw,
    _Judged,
    _learner,
    _plan_and_evaluate,
    _shared,
    _tabulate,
    _Task,
    tasks_at_a_time,
)
from pomrl.science.exploration import Belief, Exploration
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.mdp import expected_rewards, optimal_value
from pomrl.science.metrics.metric import COLUMN, Metric, Outcome, PlanningLoss, rewards_of_pairs
from pomrl.science.planners import Planner, _check_policies
from pomrl.science.randomness import Generators

STREAM = 7
"""The part of the key of an agent's generators that says what they are for; other streams have other numbers."""


@checked_dataclass(frozen=True, config=CHECKED, kw_only=True)
class AgentMethod(Method):
    """A method with its agent, which may ask the estimator, the schedule and the planner."""

    agent: InstanceOf[Agent[Any]] = CertaintyEquivalence()
    """How policies are made of what is known of a task."""
    metric: InstanceOf[Metric] = PlanningLoss()
    """What is said of policies beside their planning loss."""

    @property
    def is_default(self) -> bool:
        """Return whether the estimator, the schedule and the planner are the agent, and the loss is all that counts.

        `science.experiment` runs such methods.
        """
        return type(self.agent) is CertaintyEquivalence and not self.is_measured

    @property
    def is_measured(self) -> bool:
        """Return whether tables have a further column, that of the metric."""
        return type(self.metric) is not PlanningLoss


def check(problem: Problem, method: AgentMethod, runs: Sequence[int]) -> None:
    """Raise a ValueError if the method cannot be used on the problem (`science.experiment.check`)."""
    experiment.check(problem, method, runs)
    method.metric.check(problem.S)
    if method.agent.chooses_gamma and isinstance(method.gamma_schedule, Hindsight):
        name = type(method.agent).__name__
        raise ValueError(f"gamma_schedule: agent {name} chooses a discount factor of a grid itself; set it to grid")


def tables(problem: Problem, methods: Sequence[AgentMethod], runs: Sequence[int]) -> list[pd.DataFrame]:
    """Return the table of each method; what several methods share is drawn once for all agents but the default one."""
    default = [method for method in methods if method.is_default]
    others = [method for method in methods if not method.is_default]
    of_default = iter(experiment.tables(problem, default, runs) if default else [])
    of_others = iter(_tables(problem, others, runs) if others else [])
    return [next(of_default if method.is_default else of_others) for method in methods]


def _tables(problem: Problem, methods: Sequence[AgentMethod], runs: Sequence[int]) -> list[pd.DataFrame]:
    """Return the tables of methods with an agent or a metric, as `science.experiment.tables` does of those without."""
    size = tasks_at_a_time(problem, len(runs))
    alike = _without_metrics(methods)
    measured = [(alike.index(replace(method, metric=PlanningLoss())), method.is_measured) for method in methods]
    drawn, *copies = _shared(_draw(problem, runs, size), 1 + len(alike))
    played = [_played(problem, method, copy, runs) for method, copy in zip(alike, copies, strict=True)]
    results: list[list[Any]] = [[] for _ in methods]
    while stack := list(islice(drawn, size)):
        P, R, R_hat = (np.concatenate([getattr(task, name) for task in stack]) for name in ("P", "R", "R_hat"))
        judged = _Judged(P, R, R_hat, optimal_value(P, expected_rewards(R, P), problem.gamma_eval))
        read_only(*judged)
        of_stack = [list(islice(each, len(stack))) for each in played]
        columns = [_evaluated(each, judged, problem) for each in of_stack]
        outcomes = {i: _outcome(of_stack[i], judged, problem) for i, is_measured in measured if is_measured}
        for method, (i, is_measured), result in zip(methods, measured, results, strict=True):
            further = _measured(method.metric, outcomes[i], problem) if is_measured else {}
            result.append(columns[i] | further)
    return [_tabulated(result, runs, problem.T) for result in results]


def _without_metrics(methods: Sequence[AgentMethod]) -> list[AgentMethod]:
    """Return the different methods without their metrics, so that policies are made once for all metrics."""
    alike: list[AgentMethod] = []
    for method in methods:
        if (bare := replace(method, metric=PlanningLoss())) not in alike:
            alike.append(bare)
    return alike


class _Played(NamedTuple):
    """What a method has made of a task."""

    given: PlanningInput
    """What is estimated, with the discount factors of the policies."""
    policy: Int[np.ndarray, "nK G S"]
    counts: Counts


def _evaluated(played: Sequence[_Played], judged: _Judged, problem: Problem) -> dict[str, np.ndarray]:
    """Return the columns that every table has, for a stack of tasks."""
    policy = np.concatenate([task.policy for task in played])
    return _plan_and_evaluate([task.given for task in played], _Planned(policy=policy), judged, problem)


def _outcome(played: Sequence[_Played], judged: _Judged, problem: Problem) -> Outcome:
    """Return what metrics may read of each trial of a stack of tasks."""
    policy = np.concatenate([task.policy for task in played])
    P_hat = np.concatenate([task.given.P_hat for task in played]).reshape(len(policy), *judged.P.shape[1:])
    P, R, V_star = (np.repeat(array, problem.trials, axis=0) for array in (judged.P, judged.R, judged.V_star))
    outcome = Outcome(
        P,
        rewards_of_pairs(R, P),
        P_hat,
        rewards_of_pairs(judged.R_hat, P_hat),
        np.concatenate([task.counts for task in played]).reshape(P.shape),
        policy,
        np.concatenate([task.given.gamma for task in played]),
        V_star,
        problem.gamma_eval,
        problem.loss,
    )
    read_only(*(array for array in vars(outcome).values() if isinstance(array, np.ndarray)))
    return outcome


def _measured(metric: Metric, outcome: Outcome, problem: Problem) -> dict[str, np.ndarray]:
    """Return the column of a metric, a mean over trials, which is refused unless it is finite."""
    found, (M, G) = metric.measure(outcome), outcome.gamma.shape
    where = Where(metric, "measure", "", COLUMN)
    _check_array(found, ((M, G),), where)
    _check_range(found, -_LARGEST, _LARGEST, where, "is not finite")
    return {COLUMN: found.reshape(-1, problem.trials, G).mean(1)}


def _tabulated(stacks: Sequence[dict[str, Any]], runs: Sequence[int], T: int) -> pd.DataFrame:
    """Return the table with the column of the metric, which is arranged as that of the loss is."""
    table = _tabulate(stacks, runs, T)
    if COLUMN in stacks[0]:
        in_its_place = [stack | {"planning_loss": stack[COLUMN]} for stack in stacks]
        table[COLUMN] = _tabulate(in_its_place, runs, T)["planning_loss"]
    return table


class _Planned(Planner):
    """Policies that an agent has made, in the place of the planner of `_plan_and_evaluate`."""

    policy: Any

    def plan(self, P: Any, R: Any, gammas: Any) -> np.ndarray:
        return self.policy

    def _plan(self, P: Any, R: Any, gammas: Any) -> np.ndarray:
        return self.policy


@dataclass
class _Asked:
    """The batches of a task; the loop of Algorithm 1 asks for them as for those of an `Exploration`.

    What it believes after any batch is kept for the agent.
    """

    given: Batches | Exploration
    batches: Batches = field(init=False)
    believe: Callable[[Batch], Belief] = field(init=False)

    def collect(self, believe: Callable[[Batch], Belief]) -> Batches:
        self.believe = believe
        self.batches = self.given if isinstance(self.given, Batches) else self.given.collect(believe)
        return self.batches


def _played(problem: Problem, method: AgentMethod, tasks: Iterator[_Task], runs: Sequence[int]) -> Iterator[_Played]:
    """Yield what a method makes of each task."""
    agent, memories = method.agent, 1 if problem.meta_batch.is_shared else problem.trials
    rngs = [_generator(problem.seed, run, index) for run in runs for index in range(memories)]
    memory = agent.initial_memory(len(rngs), problem.S, problem.A)
    asking, seen = _shared((task._replace(batches=_Asked(task.batches)) for task in tasks), 2)
    for t, (given, task) in enumerate(zip(_learner(problem, method, asking), seen, strict=True), start=1):
        read_only(given.P_hat, given.gamma)
        asked = cast(_Asked, task.batches)
        trials = list(_trials(t, problem, method, given, task, asked, rngs))
        policies, gammas = zip(*(_acted(agent, trial, memory) for trial in trials), strict=True)
        policy, gamma = (np.stack(parts, axis=1) for parts in (policies, gammas))
        yield _Played(_of_trials(given, gamma), policy.reshape(-1, *policy.shape[2:]), asked.batches.own.counts)
        with _named(agent, "learn", t):
            memory = agent.learn(memory, asked.batches.meta, trials[0].R)


def _of_trials(given: PlanningInput, gamma: np.ndarray) -> PlanningInput:
    """Return what is estimated of each trial by itself, with its discount factors, [n, K, G]."""
    n, K, *model = given.P_hat.shape
    alpha, sigma = np.repeat(given.alpha, K), np.repeat(given.sigma, K)
    return PlanningInput(given.P_hat.reshape(n * K, 1, *model), gamma.reshape(n * K, -1), alpha, sigma)


def _generator(seed: int, run: int, memory: int) -> np.random.Generator:
    """Return the generator of an agent in a run, or in one of the trials of a run that have memories of their own."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(run, STREAM, memory))))


def _trials(
    t: int,
    problem: Problem,
    method: AgentMethod,
    given: PlanningInput,
    task: _Task,
    asked: _Asked,
    rngs: Generators,
) -> Iterator[TaskData]:
    """Yield the data of each trial that shares the memory."""
    own = asked.batches.own
    n, K = own.P_bar.shape[:2]
    R = task.R_hat.reshape(n, K, *task.R_hat.shape[1:])
    read_only(R)
    for k in range(K):
        batch = Batch(own.counts[:, k], own.P_bar[:, k], own.visits[:, k], own.counted[:, k], own.m)
        yield TaskData(
            t,
            problem.gamma_eval,
            problem.loss,
            batch,
            R[:, k],
            given.P_hat[:, k],
            given.gamma,
            method.planner,
            asked.believe,
            rngs,
        )


@contextmanager
def _named(agent: Agent[Any], method: str, t: int) -> Generator[str, None, None]:
    """Yield the name of an agent's method in a task, which an error in it begins with."""
    name = f"{type(agent).__module__}.{type(agent).__qualname__}.{method} in task {t}"
    try:
        yield name
    except Exception as error:
        raise ComponentError(f"{name} failed: {error}") from error


def _acted(agent: Agent[Any], task: TaskData, memory: Any) -> Decision:
    """Return what an agent decides, which is refused unless there are policies and discount factors in range."""
    where = Where(agent, "act", f" in task {task.t}", "gamma")
    with _named(agent, "act", task.t) as name:
        policy, gamma = agent.act(task, memory)
    n, S, A = task.P_hat.shape[:3]
    G = 1 if agent.chooses_gamma else task.gammas.shape[-1]
    _check_policies(policy, (n, G, S), A, name)
    _check_array(gamma, ((n, G),), where)
    _check_range(gamma, 0.0, task.gamma_eval, where, "is not between 0 and gamma_eval")
    return Decision(policy, gamma)
