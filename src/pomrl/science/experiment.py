"""Computation of experiments: the result tables of methods on a problem.

All methods see the same tasks and batches. Only about `drawn_tasks.STACK_BYTES` of models are in memory at a time.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pomrl.base import make_read_only
from pomrl.science import validation
from pomrl.science.agents.agent import CertaintyEquivalence, Decision, TaskData
from pomrl.science.algorithm import Learner, PlanningInput, Task, plan, pomrl
from pomrl.science.data import Batches, join
from pomrl.science.drawn_tasks import DrawnTask, draw, tasks_at_a_time
from pomrl.science.estimators.estimator import Truth
from pomrl.science.exploration import believe
from pomrl.science.mdp import Rewards, expected_rewards
from pomrl.science.metrics.metric import MetricInput, PlanningLoss
from pomrl.science.problem import Method, Problem
from pomrl.science.randomness import Stream, generator
from pomrl.science.stored_columns import MEASURED, Columns, PlannedStack, evaluate, tabulate

if TYPE_CHECKING:  # because it takes long to load
    import pandas


def tables(problem: Problem, methods: Sequence[Method], runs: Sequence[int]) -> "list[pandas.DataFrame]":
    """Compute the result table of each method, with the columns of `stored_columns`.

    The numbers of a run do not depend on other runs or methods, to the last bit.
    """
    results: list[list[Columns]] = [[] for _ in methods]
    base_methods = _strip_metrics(methods)  # to plan once for all metrics
    queues = [deque[DrawnTask]() for _ in base_methods]  # tasks that a method has not processed yet
    loops = [
        loop_over_tasks(problem, base_method, runs, queue)
        for base_method, queue in zip(base_methods, queues, strict=True)
    ]
    for tasks in draw(problem, runs, tasks_at_a_time(problem, len(runs))):
        P, R, R_hat = (join([getattr(task, name) for task in tasks]) for name in ("P", "R", "R_hat"))
        R = np.ascontiguousarray(expected_rewards(R, P))
        V_star = problem.criterion.optimal_value(P, R)
        make_read_only(P, R, V_star)
        for base_method, queue, loop in zip(base_methods, queues, loops, strict=True):
            queue.extend(tasks)
            outputs = list(islice(loop, len(tasks)))
            inputs, decision = choose_policies(base_method, outputs, R_hat)
            stack = _stack(problem, P, R, V_star, inputs, decision)
            columns = evaluate(stack)
            for method, result in zip(methods, results, strict=True):
                if replace(method, metric=PlanningLoss()) == base_method:
                    result.append(columns | _measure(method, stack, R_hat, inputs))
            del outputs, inputs, decision, stack  # frees memory before the next method plans
    return [tabulate(result, runs, problem.T) for result in results]


def _strip_metrics(methods: Sequence[Method]) -> list[Method]:
    base_methods: list[Method] = []
    for method in methods:
        if (base_method := replace(method, metric=PlanningLoss())) not in base_methods:
            base_methods.append(base_method)
    return base_methods


def _stack(
    problem: Problem,
    P: np.ndarray,
    R: np.ndarray,
    V_star: np.ndarray,
    inputs: Sequence[PlanningInput],
    decision: Decision,
) -> PlannedStack:
    N, K = len(P), problem.trials
    policy, gamma = (array.reshape(N, K, *array.shape[1:]) for array in decision)
    P_hat = join([task.P_hat for task in inputs]).reshape(N, K, *P.shape[1:])
    alpha, sigma = (np.concatenate([getattr(task, name) for task in inputs]) for name in ("alpha", "sigma"))
    return PlannedStack(
        problem.criterion, P, R, V_star, P_hat, policy, gamma, alpha.reshape(N, -1), sigma.reshape(N, -1)
    )


def _measure(method: Method, stack: PlannedStack, R_hat: Rewards, inputs: Sequence[PlanningInput]) -> Columns:
    """Return the metric's column, averaged over trials; empty without a metric."""
    if not method.is_measured:
        return {}
    N, K = stack.P_hat.shape[:2]
    P, R, V_star = (np.repeat(array, K, axis=0) for array in (stack.P, stack.R, stack.V_star))
    policy, gamma = (array.reshape(N * K, *array.shape[2:]) for array in (stack.policy, stack.gamma))
    P_hat = stack.P_hat.reshape(P.shape)
    R_hat = np.ascontiguousarray(expected_rewards(R_hat, P_hat))
    counts = join([metric_input.batches.own.counts for metric_input in inputs]).reshape(P.shape)
    make_read_only(P, R, P_hat, R_hat, counts, policy, gamma, V_star)
    metric_input = MetricInput(P, R, P_hat, R_hat, counts, policy, gamma, V_star, stack.criterion)
    return {MEASURED: validation.measure(method.metric, metric_input).reshape(N, K, -1).mean(1)}


def loop_over_tasks(problem: Problem, method: Method, runs: Sequence[int], queue: deque[DrawnTask]) -> Iterator[Any]:
    """Return an iterator over the learning results of queued tasks, for `choose_policies`."""
    tasks = iter(queue.popleft, None)
    if type(method.agent) is not CertaintyEquivalence:
        return _act(problem, method, runs, tasks)
    return _learn(problem, method, ((task.batches, task.truth) for task in tasks))


def choose_policies(method: Method, outputs: Sequence[Any], R_hat: Rewards) -> tuple[list[PlanningInput], Decision]:
    """Return the planning inputs of several tasks, and the policies for their M models.

    `outputs` come from `loop_over_tasks`. R_hat is [M, S, A] or [M, S, A, S].
    """
    if type(method.agent) is CertaintyEquivalence:
        return list(outputs), Decision(*plan(method.planner, outputs, R_hat))
    policies, gammas = zip(*[decision for _, decision in outputs], strict=True)
    return [task for task, _ in outputs], Decision(join(policies), join(gammas))


def _learn(problem: Problem, method: Method, tasks: Iterable[tuple[Task, Truth]]) -> Iterator[PlanningInput]:
    return pomrl(tasks, problem.m, method.estimator, method.gamma_schedule, problem.gamma_eval)


def _act(
    problem: Problem, method: Method, runs: Sequence[int], tasks: Iterable[DrawnTask]
) -> Iterator[tuple[PlanningInput, Decision]]:
    keys = [(run, Stream.AGENTS, index) for run in runs for index in range(problem.memories)]
    rngs = [generator(problem.seed, *key) for key in keys]
    memory = method.agent.initial_memory(len(keys), problem.S, problem.A)
    queue = deque[tuple[RecordingTask, Truth]]()
    loop = _learn(problem, method, iter(queue.popleft, None))
    for task in tasks:
        recording = RecordingTask(task.batches)
        queue.append((recording, task.truth))
        plan_input = next(loop)
        own = plan_input.batches.own
        R = task.R_hat.reshape(*own.P_bar.shape[:2], *task.R_hat.shape[1:])
        make_read_only(plan_input.P_hat, plan_input.gamma, R)
        shared = method.planner, partial(believe, recording.learner), rngs
        trials = [
            TaskData(plan_input.t, problem.criterion, batch, R[:, k], plan_input.P_hat[:, k], plan_input.gamma, *shared)
            for k, batch in enumerate(own.trials)
        ]
        decisions = [validation.ask_agent(method.agent, trial, memory) for trial in trials]
        policy, gamma = (np.stack(arrays, axis=1) for arrays in zip(*decisions, strict=True))
        memory = method.agent.learn(memory, plan_input.batches.meta, trials[0].R)
        yield plan_input, Decision(policy.reshape(-1, *policy.shape[2:]), gamma.reshape(-1, gamma.shape[-1]))


@dataclass
class RecordingTask:
    """A task with a record of the last learner, for the beliefs of agents."""

    task: Task
    learner: Learner = field(init=False)

    def collect(self, learner: Learner) -> Batches:
        self.learner = learner
        return self.task.collect(learner)
