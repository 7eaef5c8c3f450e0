"""The loop in which agents act: what a method makes of one task after the other (`science.experiment`)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from pomrl.checks import make_read_only
from pomrl.science.agents.agent import Agent, CertaintyEquivalence, Decision, TaskData
from pomrl.science.algorithm import Learner, PlanningInput
from pomrl.science.checked import Returned
from pomrl.science.data import Batch, Batches, Counts, join
from pomrl.science.drawn_tasks import DrawnTask
from pomrl.science.exploration import Belief
from pomrl.science.mdp import Rewards, expected_rewards
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


class Player:
    """A method that meets one task after the other, with what its estimator and its agent keep of those before."""

    def __init__(self, problem: Problem, method: Method, runs: Sequence[int]) -> None:
        self._problem, self._method, self._t = problem, method, 0
        keys = [(run, Stream.AGENTS, index) for run in runs for index in range(problem.memories)]
        self._rngs = [] if self._is_default else [generator(problem.seed, *key) for key in keys]
        size = len(keys), problem.S, problem.A
        self._learned, self._memory = method.estimator.initial_memory(*size), method.agent.initial_memory(*size)

    @property
    def _is_default(self) -> bool:
        return type(self._method.agent) is CertaintyEquivalence

    def play(self, tasks: Sequence[DrawnTask]) -> list[Played]:
        """Return what the method makes of the next tasks; the default agent plans on all their estimates at once."""
        return self._plan(tasks) if self._is_default else [self._act(task) for task in tasks]

    def _plan(self, tasks: Sequence[DrawnTask]) -> list[Played]:
        known = [self._estimate(task)[1:] for task in tasks]
        P_hat = join([given.P_hat.reshape(-1, *given.P_hat.shape[2:]) for _, given in known])
        gammas = [np.repeat(given.gamma, given.P_hat.shape[1], axis=0) for _, given in known]
        R = expected_rewards(join([task.R_hat for task in tasks]), P_hat)
        make_read_only(P_hat, R)
        policies = np.split(self._method.planner.plan(P_hat, R, join(gammas)), len(tasks))
        return [
            Played(given, policy, gamma, task.R_hat, batches.own.counts)
            for task, (batches, given), policy, gamma in zip(tasks, known, policies, gammas, strict=True)
        ]

    def _act(self, task: DrawnTask) -> Played:
        learner, batches, given = self._estimate(task)
        trials = self._trials(task, given, batches.own, learner.believe)
        decisions = [_decide(self._method.agent, trial, self._memory) for trial in trials]
        policy, gamma = (np.stack(parts, axis=1) for parts in zip(*decisions, strict=True))
        self._memory = self._method.agent.learn(self._memory, batches.meta, trials[0].R)
        of_trials = policy.reshape(-1, *policy.shape[2:]), gamma.reshape(-1, gamma.shape[-1])
        return Played(given, *of_trials, task.R_hat, batches.own.counts)

    def _estimate(self, task: DrawnTask) -> tuple[Learner[Any], Batches, PlanningInput]:
        """Return the learner before a task, the batches of the task, and what it is to be planned with."""
        problem, method, self._t = self._problem, self._method, self._t + 1
        learner = Learner(method.estimator, self._t, self._learned, task.truth)
        batches = learner.collect(task.batches)
        self._learned, given = learner.estimate(batches, problem.m, method.gamma_schedule, problem.gamma_eval)
        return learner, batches, given

    def _trials(
        self, task: DrawnTask, given: PlanningInput, own: Batch, believe: Callable[[Batch], Belief]
    ) -> list[TaskData]:
        """Return the data of each trial that shares the memory."""
        P_hat, gamma, R = given.P_hat, given.gamma, task.R_hat.reshape(*own.P_bar.shape[:2], *task.R_hat.shape[1:])
        make_read_only(P_hat, gamma, R)
        criterion, planner = self._problem.criterion, self._method.planner
        return [
            TaskData(self._t, criterion, batch, R[:, k], P_hat[:, k], gamma, planner, believe, self._rngs)
            for k, batch in enumerate(own.trials)
        ]


def _decide(agent: Agent[Any], task: TaskData, memory: Any) -> Decision:
    """Return what an agent decides, which is refused unless there are policies and discount factors in range."""
    where = Returned(agent, "act", f" in task {task.t}")
    if agent.discounts and task.gammas.max() == 1.0:
        raise ValueError(f"{where.name}: set the discount factors of gamma_schedule below 1, because it discounts")
    policy, gamma = agent.act(task, memory)
    n, S, A = task.P_hat.shape[:3]
    G = 1 if agent.chooses_gamma else task.gammas.shape[-1]
    steps = policy.shape[2:-1] if task.criterion.horizon and np.ndim(policy) == 4 else ()
    check_policies(policy, (n, G, *steps, S), A, where.name)
    where.array(gamma, (n, G), part="gamma")
    where.between(gamma, 0.0, task.gamma_eval, "gamma")
    return Decision(policy, gamma)
