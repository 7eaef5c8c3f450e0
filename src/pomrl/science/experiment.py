"""Computation of experiments: the result tables of methods on a problem.

All methods see the same tasks and batches. Only about `drawn_tasks.STACK_BYTES` of models are in memory at a time.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from pomrl.base import make_read_only
from pomrl.science.agents.agent import Agent, CertaintyEquivalence, Decision, TaskData
from pomrl.science.algorithm import Learner, PlanningInput, join_models, plan, process_task
from pomrl.science.component_output import ComponentOutput
from pomrl.science.data import join
from pomrl.science.drawn_tasks import DrawnTask, draw, tasks_at_a_time
from pomrl.science.estimators.memory import Models
from pomrl.science.exploration import believe
from pomrl.science.mdp import Rewards, expected_rewards
from pomrl.science.metrics.metric import Metric, MetricInput, PlanningLoss
from pomrl.science.problem import Method, Problem
from pomrl.science.randomness import Stream, generator
from pomrl.science.solvers import input_checks
from pomrl.science.stored_columns import MEASURED, Columns, PlannedStack, evaluate, tabulate

if TYPE_CHECKING:  # because it takes long to load
    import pandas


def tables(problem: Problem, methods: Sequence[Method], runs: Sequence[int]) -> "list[pandas.DataFrame]":
    """Compute the result table of each method, with the columns of `stored_columns`.

    The numbers of a run do not depend on other runs or methods, to the last bit.
    """
    results: list[list[Columns]] = [[] for _ in methods]
    base_methods = _strip_metrics(methods)  # to plan once for all metrics
    loops = [_Loop(problem, base_method, runs) for base_method in base_methods]
    for tasks, P, R, R_hat in draw(problem, runs, tasks_at_a_time(problem, len(runs))):
        R = np.ascontiguousarray(expected_rewards(R, P))
        V_star = problem.criterion.optimal_value(P, R)
        make_read_only(P, R, V_star)
        for base_method, loop in zip(base_methods, loops, strict=True):
            inputs, P_hat, decision = loop.process(tasks, R_hat)
            stack = _stack(problem, P, R, V_star, inputs, P_hat, decision)
            columns = evaluate(stack)
            for method, result in zip(methods, results, strict=True):
                if replace(method, metric=PlanningLoss()) == base_method:
                    result.append(columns | _measure(method, stack, R_hat, inputs))
            del inputs, P_hat, decision, stack  # frees memory before the next method plans
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
    P_hat: Models,
    decision: Decision,
) -> PlannedStack:
    N, K = len(P), problem.trials
    P_hat, policy, gamma = (array.reshape(N, K, *array.shape[1:]) for array in (P_hat, *decision))
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
    return {MEASURED: measure(method.metric, metric_input).reshape(N, K, -1).mean(1)}


class _Loop:
    """The loop of a method over tasks in n runs, a stack of tasks at a time."""

    def __init__(self, problem: Problem, method: Method, runs: Sequence[int]) -> None:
        self.problem, self.method = problem, method
        keys = [(run, Stream.AGENTS, index) for run in runs for index in range(problem.memories)]
        self.rngs = [generator(problem.seed, *key) for key in keys] if self.has_agent else []
        sizes = len(keys), problem.S, problem.A
        self.t, self.memory = 0, method.estimator.initial_memory(*sizes)
        self.agent_memory = method.agent.initial_memory(*sizes)

    @property
    def has_agent(self) -> bool:
        return type(self.method.agent) is not CertaintyEquivalence

    def process(self, tasks: Sequence[DrawnTask], R_hat: Rewards) -> tuple[list[PlanningInput], Models, Decision]:
        """Learn from the next tasks; return the planning inputs, their M models, and the policies.

        R_hat is [M, S, A] or [M, S, A, S].
        """
        method, problem = self.method, self.problem
        inputs, decisions = list[PlanningInput](), list[Decision]()
        for task in tasks:
            self.t += 1
            learner = Learner(method.estimator, self.t, self.memory, task.truth)
            self.memory, planning_input = process_task(
                learner, task.batches, problem.m, method.gamma_schedule, problem.gamma_eval
            )
            inputs.append(planning_input)
            if self.has_agent:
                decisions.append(self._act(task, learner, planning_input))
        if not decisions:
            P_hat, policy, gamma = plan(method.planner, inputs, R_hat)
            return inputs, P_hat, Decision(policy, gamma)
        policies, gammas = zip(*decisions, strict=True)
        return inputs, join_models(inputs), Decision(join(policies), join(gammas))

    def _act(self, task: DrawnTask, learner: Learner, planning_input: PlanningInput) -> Decision:
        agent, P_hat, gamma = self.method.agent, planning_input.P_hat, planning_input.gamma
        R = task.R_hat.reshape(*P_hat.shape[:2], *task.R_hat.shape[1:])
        make_read_only(P_hat, gamma, R)
        shared = self.method.planner, partial(believe, learner), self.rngs
        trials = [
            TaskData(self.t, self.problem.criterion, batch, R[:, k], P_hat[:, k], gamma, *shared)
            for k, batch in enumerate(planning_input.batches.own.trials)
        ]
        decisions = [ask_agent(agent, trial, self.agent_memory) for trial in trials]
        policy, gamma = (np.stack(arrays, axis=1) for arrays in zip(*decisions, strict=True))
        self.agent_memory = agent.learn(self.agent_memory, planning_input.batches.meta, trials[0].R)
        return Decision(policy.reshape(-1, *policy.shape[2:]), gamma.reshape(-1, gamma.shape[-1]))


def ask_agent(agent: Agent[Any], task: TaskData, memory: Any) -> Decision:
    """Return the checked decision of an agent."""
    output = ComponentOutput(agent, "act", f" in task {task.t}")
    if agent.discounts and task.gammas.max() == 1.0:
        raise ValueError(f"{output.name} needs discount factors below 1, got 1; set gamma_eval below 1")
    policy, gamma = agent.act(task, memory)
    n, S, A = task.P_hat.shape[:3]
    G = 1 if agent.chooses_gamma else task.gammas.shape[-1]
    steps = policy.shape[2:-1] if task.criterion.horizon and np.ndim(policy) == 4 else ()
    input_checks.check_policies(policy, (n, G, *steps, S), A, output.name)
    output.check_array(gamma, (n, G), field="gamma")
    output.check_range(gamma, 0.0, task.gamma_eval, "gamma")
    return Decision(policy, gamma)


def measure(metric: Metric, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
    """Return the checked numbers of a metric."""
    values, output = metric.measure(tasks), ComponentOutput(metric, "measure")
    output.check_array(values, tasks.gamma.shape)
    output.check_finite(values)
    return values
