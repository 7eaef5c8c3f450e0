"""Agents in the loop over tasks: each decides on the policies of one task after the other (`algorithm` has the loop).

The default agent needs none of this: it plans the tasks of a stack at once (`algorithm.plan`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from pomrl.checks import make_read_only
from pomrl.science.agents.agent import Agent, Decision, TaskData
from pomrl.science.algorithm import Learner, PlanningInput, Task
from pomrl.science.checked import Returned
from pomrl.science.data import Batches, join
from pomrl.science.drawn_tasks import DrawnTask
from pomrl.science.exploration import believe
from pomrl.science.planners import check_policies
from pomrl.science.problem import Method, Problem
from pomrl.science.randomness import Generators, Stream, generator


@dataclass
class MetTask:
    """A task that keeps the learner that met it, which an agent may ask for further estimates."""

    task: Task
    learner: Learner = field(init=False)

    def collect(self, learner: Learner) -> Batches:
        """Return the data of the task."""
        self.learner = learner
        return self.task.collect(learner)


def generators(problem: Problem, runs: Sequence[int]) -> Generators:
    """Return the generator of the agent in each memory of each run."""
    return [generator(problem.seed, run, Stream.AGENTS, index) for run in runs for index in range(problem.memories)]


def act(
    problem: Problem,
    method: Method,
    tasks: Sequence[DrawnTask],
    met: Sequence[MetTask],
    known: Sequence[PlanningInput],
    memory: Any,
    rngs: Generators,
) -> tuple[Decision, Any]:
    """Return what an agent decides in a stack of tasks, [N K, G, *S], and its memory after them.

    Args:
        problem: The problem.
        method: The method, which has the agent and its planner.
        tasks: The tasks, whose rewards are planned with.
        met: The same tasks, each with the learner that met it.
        known: What the loop has made of each task.
        memory: What the agent keeps of the tasks before.
        rngs: The generators of the agent.
    """
    decisions: list[Decision] = []
    for task, met_task, given in zip(tasks, met, known, strict=True):
        own = given.batches.own
        R = task.R_hat.reshape(*own.P_bar.shape[:2], *task.R_hat.shape[1:])
        make_read_only(given.P_hat, given.gamma, R)
        further = method.planner, partial(believe, met_task.learner), rngs
        trials = [
            TaskData(given.t, problem.criterion, batch, R[:, k], given.P_hat[:, k], given.gamma, *further)
            for k, batch in enumerate(own.trials)
        ]
        of_trials = zip(*(_decide(method.agent, trial, memory) for trial in trials), strict=True)
        policy, gamma = (np.stack(parts, axis=1) for parts in of_trials)
        decisions.append(Decision(policy.reshape(-1, *policy.shape[2:]), gamma.reshape(-1, gamma.shape[-1])))
        memory = method.agent.learn(memory, given.batches.meta, trials[0].R)
    policies, gammas = zip(*decisions, strict=True)
    return Decision(join(policies), join(gammas)), memory


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
