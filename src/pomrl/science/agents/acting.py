"""Agents in the loop over tasks (`algorithm`).

The default agent plans the tasks of a stack at once. Others act in one task after the other, with what they keep of
those before.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from pomrl.checks import make_read_only
from pomrl.science.agents.agent import Agent, CertaintyEquivalence, Decision, TaskData
from pomrl.science.algorithm import Learner, PlanningInput, Task, plan, pomrl
from pomrl.science.checked import Returned
from pomrl.science.data import Batches, join
from pomrl.science.drawn_tasks import DrawnTask
from pomrl.science.estimators.estimator import Truth
from pomrl.science.exploration import believe
from pomrl.science.mdp import Rewards
from pomrl.science.planners import check_policies
from pomrl.science.problem import Method, Problem
from pomrl.science.randomness import Stream, generator


@dataclass
class RecordingTask:
    """A task that keeps the learner that meets it, which an agent may ask for further estimates."""

    task: Task
    learner: Learner = field(init=False)

    def collect(self, learner: Learner) -> Batches:
        """Return the data of the task."""
        self.learner = learner
        return self.task.collect(learner)


def meet(problem: Problem, method: Method, runs: Sequence[int], queue: deque[DrawnTask]) -> Iterator[Any]:
    """Return what a method makes of one task after the other, which `decide` understands.

    Args:
        problem: The problem.
        method: The method.
        runs: The indices of the runs.
        queue: The next tasks, each of which is removed when it is met.
    """
    tasks = iter(queue.popleft, None)
    if type(method.agent) is not CertaintyEquivalence:
        return _act(problem, method, runs, tasks)
    return _learn(problem, method, ((task.batches, task.truth) for task in tasks))


def decide(method: Method, met: Sequence[Any], R_hat: Rewards) -> tuple[list[PlanningInput], Decision]:
    """Return what is known of tasks that were met, and the policies in them, [M, G, *S], of M models.

    The default agent plans all tasks at once; another one has decided when it met each.

    Args:
        method: The method.
        met: What `meet` has yielded for the tasks.
        R_hat: The rewards to plan with, [M, S, A] or [M, S, A, S].
    """
    if type(method.agent) is CertaintyEquivalence:
        return list(met), Decision(*plan(method.planner, met, R_hat))
    policies, gammas = zip(*[decision for _, decision in met], strict=True)
    return [given for given, _ in met], Decision(join(policies), join(gammas))


def _learn(problem: Problem, method: Method, tasks: Iterable[tuple[Task, Truth]]) -> Iterator[PlanningInput]:
    """Return the loop over these tasks of the method's estimator and schedule."""
    return pomrl(tasks, problem.m, method.estimator, method.gamma_schedule, problem.gamma_eval)


def _act(
    problem: Problem, method: Method, runs: Sequence[int], tasks: Iterable[DrawnTask]
) -> Iterator[tuple[PlanningInput, Decision]]:
    """Let an agent act in one task after the other; yield what is known of each, and what it decides."""
    keys = [(run, Stream.AGENTS, index) for run in runs for index in range(problem.memories)]
    rngs = [generator(problem.seed, *key) for key in keys]
    memory = method.agent.initial_memory(len(keys), problem.S, problem.A)
    ahead = deque[tuple[RecordingTask, Truth]]()
    loop = _learn(problem, method, iter(ahead.popleft, None))
    for task in tasks:
        recording = RecordingTask(task.batches)
        ahead.append((recording, task.truth))
        given = next(loop)
        own = given.batches.own
        R = task.R_hat.reshape(*own.P_bar.shape[:2], *task.R_hat.shape[1:])
        make_read_only(given.P_hat, given.gamma, R)
        further = method.planner, partial(believe, recording.learner), rngs
        trials = [
            TaskData(given.t, problem.criterion, batch, R[:, k], given.P_hat[:, k], given.gamma, *further)
            for k, batch in enumerate(own.trials)
        ]
        decisions = [_ask(method.agent, trial, memory) for trial in trials]
        policy, gamma = (np.stack(parts, axis=1) for parts in zip(*decisions, strict=True))
        memory = method.agent.learn(memory, given.batches.meta, trials[0].R)
        yield given, Decision(policy.reshape(-1, *policy.shape[2:]), gamma.reshape(-1, gamma.shape[-1]))


def _ask(agent: Agent[Any], task: TaskData, memory: Any) -> Decision:
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
