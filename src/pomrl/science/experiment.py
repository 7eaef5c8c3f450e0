"""One experiment: a method on a problem, over independent runs, and its table.

Methods on the same problem see the same models, tasks and batches, which are drawn once for all of them, and the
optimal values are computed once. Tasks are planned and evaluated in stacks of about `drawn_tasks.STACK_BYTES`, so that
memory does not grow with the number of tasks.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

import numpy as np
import pandas as pd

from pomrl.checks import make_read_only
from pomrl.science import checked
from pomrl.science.agents.acting import MetTask, act, generators
from pomrl.science.agents.agent import CertaintyEquivalence, Decision
from pomrl.science.algorithm import PlanningInput, Task, plan, pomrl
from pomrl.science.data import join
from pomrl.science.drawn_tasks import DrawnTask, draw, tasks_at_a_time
from pomrl.science.estimators.estimator import Truth
from pomrl.science.loss_tables import MEASURED, Columns, PlannedStack, evaluate, tabulate
from pomrl.science.mdp import expected_rewards
from pomrl.science.metrics.metric import Outcome, PlanningLoss
from pomrl.science.problem import Method, Problem

Item = TypeVar("Item")


def tables(problem: Problem, methods: Sequence[Method], runs: Sequence[int]) -> "list[pd.DataFrame]":
    """Return the table of each method, with the columns `COLUMNS`, and that of its metric if it has one.

    The numbers of a run do not depend on the other runs or on the other methods, to the last bit.

    Args:
        problem: The problem.
        methods: The methods that are compared on it.
        runs: The indices of the independent runs.
    """
    players = _without_metrics(methods)
    results: list[list[Columns]] = [[] for _ in methods]
    waiting = [deque[list[DrawnTask]]() for _ in players]  # a stack is gone as soon as it has been played
    stacks = map(_taken_from, waiting)
    played = [play(problem, method, runs, of_method) for method, of_method in zip(players, stacks, strict=True)]
    for tasks in draw(problem, runs, tasks_at_a_time(problem, len(runs))):
        for queue in waiting:
            queue.append(tasks)
        known_and_decided = [*map(next, played)]
        P, R = (join([getattr(task, name) for task in tasks]) for name in ("P", "R"))
        R = np.ascontiguousarray(expected_rewards(R, P))
        V_star = problem.criterion.optimal_value(P, R)
        make_read_only(P, R, V_star)
        for player, (known, decision) in zip(players, known_and_decided, strict=True):
            stack = _stack(problem, P, R, V_star, known, decision)
            columns = evaluate(stack)
            for method, result in zip(methods, results, strict=True):
                if replace(method, metric=PlanningLoss()) == player:
                    result.append(columns | _measure(method, stack, tasks, known))
            del known, decision, stack  # before the next one is made
        del tasks, known_and_decided  # before the next tasks are drawn
    return [tabulate(result, runs, problem.T) for result in results]


def play(
    problem: Problem, method: Method, runs: Sequence[int], stacks: Iterable[Sequence[DrawnTask]]
) -> Iterator[tuple[list[PlanningInput], Decision]]:
    """Yield what a method learns in the tasks of each stack, and the policies that its agent decides on, [N K, G, *S].

    Args:
        problem: The problem.
        method: The method.
        runs: The indices of the runs.
        stacks: The tasks, in stacks that are planned together.
    """
    batches, truths = deque[Task](), deque[Truth]()
    learned = pomrl(
        _taken_from(batches),
        problem.m,
        _taken_from(truths),
        method.estimator,
        method.gamma_schedule,
        problem.gamma_eval,
    )
    acts = type(method.agent) is not CertaintyEquivalence  # which plans without looking at anything else
    rngs = generators(problem, runs) if acts else []
    memory = method.agent.initial_memory(len(runs) * problem.memories, problem.S, problem.A)
    for tasks in stacks:
        met = [MetTask(task.batches) for task in tasks]
        batches.extend(met if acts else [task.batches for task in tasks])
        truths.extend(task.truth for task in tasks)
        known = list(islice(learned, len(tasks)))
        if acts:
            decision, memory = act(problem, method, tasks, met, known, memory, rngs)
        else:
            decision = Decision(*plan(method.planner, known, join([task.R_hat for task in tasks])))
        yield known, decision
        del tasks, met, known, decision  # before the next tasks are drawn


def _taken_from(queue: deque[Item]) -> Iterator[Item]:
    """Yield what a queue has at the time, and remove it."""
    return iter(queue.popleft, None)


def _without_metrics(methods: Sequence[Method]) -> list[Method]:
    """Return the different methods without their metrics, so that policies are made once for all metrics."""
    players: list[Method] = []
    for method in methods:
        if (player := replace(method, metric=PlanningLoss())) not in players:
            players.append(player)
    return players


def _stack(
    problem: Problem,
    P: np.ndarray,
    R: np.ndarray,
    V_star: np.ndarray,
    known: Sequence[PlanningInput],
    decision: Decision,
) -> PlannedStack:
    """Return true models, and what was made of them, in one stack."""
    N, K = len(P), problem.trials
    policy, gamma = (array.reshape(N, K, *array.shape[1:]) for array in decision)
    P_hat = join([task.P_hat for task in known]).reshape(N, K, *P.shape[1:])
    alpha, sigma = (np.concatenate([getattr(task, name) for task in known]) for name in ("alpha", "sigma"))
    return PlannedStack(
        problem.criterion, P, R, V_star, P_hat, policy, gamma, alpha.reshape(N, -1), sigma.reshape(N, -1)
    )


def _measure(
    method: Method, stack: PlannedStack, tasks: Sequence[DrawnTask], known: Sequence[PlanningInput]
) -> Columns:
    """Return the column of the metric of a method if it has one, a mean over trials, which must be finite."""
    if not method.is_measured:
        return {}
    N, K = stack.P_hat.shape[:2]
    P, R, V_star = (np.repeat(array, K, axis=0) for array in (stack.P, stack.R, stack.V_star))
    policy, gamma = (array.reshape(N * K, *array.shape[2:]) for array in (stack.policy, stack.gamma))
    P_hat = stack.P_hat.reshape(P.shape)
    R_hat = np.ascontiguousarray(expected_rewards(join([task.R_hat for task in tasks]), P_hat))
    counts = join([given.batches.own.counts for given in known]).reshape(P.shape)
    make_read_only(P, R, P_hat, R_hat, counts, policy, gamma, V_star)
    outcome = Outcome(P, R, P_hat, R_hat, counts, policy, gamma, V_star, stack.criterion)
    return {MEASURED: checked.measure(method.metric, outcome).reshape(N, K, -1).mean(1)}
