"""What an agent decides in the tasks of a stack, from what the loop over tasks has made of them (`algorithm`)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from pomrl.checks import make_read_only
from pomrl.science.agents.agent import Agent, CertaintyEquivalence, Decision, TaskData
from pomrl.science.algorithm import PlanningInput
from pomrl.science.checked import Returned
from pomrl.science.data import join
from pomrl.science.drawn_tasks import DrawnTask
from pomrl.science.exploration import believe
from pomrl.science.mdp import expected_rewards
from pomrl.science.planners import Planner, check_policies
from pomrl.science.problem import Method, Problem
from pomrl.science.randomness import Generators, Stream, generator


def generators(problem: Problem, method: Method, runs: Sequence[int]) -> Generators:
    """Return the generator of the agent in each memory of each run; none for the default agent, which draws nothing."""
    if type(method.agent) is CertaintyEquivalence:
        return []
    return [generator(problem.seed, run, Stream.AGENTS, index) for run in runs for index in range(problem.memories)]


def decide(
    problem: Problem,
    method: Method,
    tasks: Sequence[DrawnTask],
    known: Sequence[PlanningInput],
    memory: Any,
    rngs: Generators,
) -> tuple[Decision, Any]:
    """Return the policies of the agent in a stack of tasks, [N K, G, *S], and its memory after them.

    The default agent plans all of them at once.

    Args:
        problem: The problem.
        method: The method, which has the agent and its planner.
        tasks: The tasks, whose rewards are planned with.
        known: What the loop has made of each task.
        memory: What the agent keeps of the tasks before.
        rngs: The generators of the agent.
    """
    if type(method.agent) is CertaintyEquivalence:
        return plan(method.planner, tasks, known), memory
    decisions: list[Decision] = []
    for task, given in zip(tasks, known, strict=True):
        decision, memory = _act(problem, method, task, given, memory, rngs)
        decisions.append(decision)
    policies, gammas = zip(*decisions, strict=True)
    return Decision(join(policies), join(gammas)), memory


def plan(planner: Planner, tasks: Sequence[DrawnTask], known: Sequence[PlanningInput]) -> Decision:
    """Return the line `Planning` of Algorithms 1 and 2 for a stack of tasks: policies that are optimal in P_hat_t."""
    P_hat = join([given.P_hat.reshape(-1, *given.P_hat.shape[2:]) for given in known])
    gamma = join([np.repeat(given.gamma, given.P_hat.shape[1], axis=0) for given in known])
    R = expected_rewards(join([task.R_hat for task in tasks]), P_hat)
    make_read_only(P_hat, R)
    return Decision(planner.plan(P_hat, R, gamma), gamma)


def _act(
    problem: Problem, method: Method, task: DrawnTask, given: PlanningInput, memory: Any, rngs: Generators
) -> tuple[Decision, Any]:
    """Return what an agent decides in each trial of a task, [n K, G, *S], and its memory after the task."""
    own, P_hat, gamma = given.batches.own, given.P_hat, given.gamma
    R = task.R_hat.reshape(*own.P_bar.shape[:2], *task.R_hat.shape[1:])
    make_read_only(P_hat, gamma, R)
    further = method.planner, partial(believe, given.learner), rngs
    trials = [
        TaskData(given.t, problem.criterion, batch, R[:, k], P_hat[:, k], gamma, *further)
        for k, batch in enumerate(own.trials)
    ]
    decisions = [_decide(method.agent, trial, memory) for trial in trials]
    policy, gamma = (np.stack(parts, axis=1) for parts in zip(*decisions, strict=True))
    memory = method.agent.learn(memory, given.batches.meta, trials[0].R)
    return Decision(policy.reshape(-1, *policy.shape[2:]), gamma.reshape(-1, gamma.shape[-1])), memory


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
