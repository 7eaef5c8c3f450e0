"""The loop in which agents act: what a method makes of one task after the other (`science.experiment`)."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pomrl.checks import make_read_only
from pomrl.science.agents.agent import Agent, Decision, TaskData
from pomrl.science.algorithm import Learner, PlanningInput
from pomrl.science.checked import Returned
from pomrl.science.data import Batch, Batches, Counts
from pomrl.science.drawn_tasks import DrawnTask
from pomrl.science.exploration import Belief
from pomrl.science.mdp import Rewards
from pomrl.science.planners import check_policies
from pomrl.science.problem import Method, Problem
from pomrl.science.randomness import Stream, generator


class Played(NamedTuple):
    """What a method has made of a task, in each of K trials of each of n runs."""

    given: PlanningInput
    """What is estimated, with the discount factors of the schedule."""
    policy: Int[np.ndarray, "nK G *S"]
    gamma: Float[np.ndarray, "nK G"]
    """The discount factor of each policy."""
    R_hat: Rewards
    """The rewards that are planned with."""
    counts: Counts


def _refuse_belief(_: Batch) -> Belief:
    raise ValueError("an agent that `plans_only` cannot ask for beliefs")


class Player:
    """A method that meets one task after the other, with what its estimator and its agent keep of those before."""

    def __init__(self, problem: Problem, method: Method, runs: Sequence[int]) -> None:
        self._problem, self._method, self._t = problem, method, 0
        self._memories = 1 if problem.meta_batch.is_shared else problem.trials
        keys = [(run, Stream.AGENTS, index) for run in runs for index in range(self._memories)]
        self._rngs = [generator(problem.seed, *key) for key in keys if not method.agent.plans_only]
        size = len(keys), problem.S, problem.A
        self._learned, self._memory = method.estimator.initial_memory(*size), method.agent.initial_memory(*size)

    def play(self, tasks: Sequence[DrawnTask]) -> list[Played]:
        """Return what the method makes of the next tasks; an agent that `plans_only` is asked of all at a time."""
        at_a_time = len(tasks) if self._method.agent.plans_only else 1
        parts = [tasks[start : start + at_a_time] for start in range(0, len(tasks), at_a_time)]
        return [played for part in parts for played in self._play(part)]

    def _play(self, tasks: Sequence[DrawnTask]) -> Iterator[Played]:
        known = [self._estimate(task) for task in tasks]
        decisions = _act(self._method.agent, [trial for *_, trials in known for trial in trials], self._memory)
        for task, (given, batches, trials) in zip(tasks, known, strict=True):
            policies, gammas = zip(*islice(decisions, len(trials)), strict=True)
            policy, gamma = (np.stack(parts, axis=1) for parts in (policies, gammas))
            of_trials = policy.reshape(-1, *policy.shape[2:]), gamma.reshape(-1, gamma.shape[-1])
            yield Played(given, *of_trials, task.R_hat, batches.own.counts)
            self._memory = self._method.agent.learn(self._memory, batches.meta, trials[0].R)

    def _estimate(self, task: DrawnTask) -> tuple[PlanningInput, Batches, list[TaskData]]:
        """Return what a task is to be planned with, its batches, and the data of each trial that shares the memory.

        What the learner believes takes much memory, and is kept for agents that may ask.
        """
        problem, method, self._t = self._problem, self._method, self._t + 1
        learner = Learner(method.estimator, self._t, self._learned, task.truth.repeat(self._memories))
        batches = learner.collect(task.batches)
        self._learned, given = learner.estimate(batches, problem.m, method.gamma_schedule, problem.gamma_eval)
        believe = _refuse_belief if method.agent.plans_only else learner.believe
        return given, batches, self._trials(task, given, batches.own, believe)

    def _trials(
        self, task: DrawnTask, given: PlanningInput, own: Batch, believe: Callable[[Batch], Belief]
    ) -> list[TaskData]:
        """Return the data of each trial; for an agent that `plans_only`, trials are further runs."""
        P_hat, gamma, R = given.P_hat, given.gamma, task.R_hat
        n, K = own.P_bar.shape[:2]
        if self._method.agent.plans_only:
            own, P_hat = own.reshape(n * K, 1), P_hat.reshape(n * K, 1, *P_hat.shape[2:])
            gamma = np.repeat(gamma, K, axis=0)
            n, K = n * K, 1
        R = R.reshape(n, K, *R.shape[1:])
        make_read_only(P_hat, gamma, R)
        criterion, planner = self._problem.criterion, self._method.planner
        return [
            TaskData(self._t, criterion, batch, R[:, k], P_hat[:, k], gamma, planner, believe, self._rngs)
            for k, batch in enumerate(own.trials)
        ]


def _act(agent: Agent[Any], tasks: Sequence[TaskData], memory: Any) -> Iterator[Decision]:
    """Yield what an agent decides, which is refused unless there are policies and discount factors in range."""
    decisions = agent.act_together(tasks, memory)
    for task in tasks:
        where = Returned(agent, "act", f" in task {task.t}")
        if agent.discounts and task.gammas.max() == 1.0:
            raise ValueError(f"{where.name}: set the discount factors of gamma_schedule below 1, because it discounts")
        policy, gamma = next(decisions)
        n, S, A = task.P_hat.shape[:3]
        G = 1 if agent.chooses_gamma else task.gammas.shape[-1]
        steps = policy.shape[2:-1] if task.criterion.horizon and np.ndim(policy) == 4 else ()
        check_policies(policy, (n, G, *steps, S), A, where.name)
        where.array(gamma, (n, G), part="gamma")
        where.between(gamma, 0.0, task.gamma_eval, "gamma")
        yield Decision(policy, gamma)
