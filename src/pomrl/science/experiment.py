"""One experiment: a method on a problem, over independent runs, and its table.

Methods on the same problem see the same models, tasks and batches, which are drawn once for all of them, and the
optimal values are computed once. Tasks are planned and evaluated in stacks of about `drawn_tasks.STACK_BYTES`, so that
memory does not grow with the number of tasks.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from pomrl.checks import make_read_only
from pomrl.science import checked
from pomrl.science.agents.acting import decide, meet
from pomrl.science.agents.agent import Decision
from pomrl.science.algorithm import PlanningInput
from pomrl.science.data import join
from pomrl.science.drawn_tasks import DrawnTask, draw, tasks_at_a_time
from pomrl.science.loss_tables import MEASURED, Columns, PlannedStack, evaluate, tabulate
from pomrl.science.mdp import Rewards, expected_rewards
from pomrl.science.metrics.metric import Outcome, PlanningLoss
from pomrl.science.problem import Method, Problem

if TYPE_CHECKING:  # because it takes long to load
    import pandas


def tables(problem: Problem, methods: Sequence[Method], runs: Sequence[int]) -> "list[pandas.DataFrame]":
    """Return the table of each method, with the columns `COLUMNS`, and that of its metric if it has one.

    The numbers of a run do not depend on the other runs or on the other methods, to the last bit.

    Args:
        problem: The problem.
        methods: The methods that are compared on it.
        runs: The indices of the independent runs.
    """
    results: list[list[Columns]] = [[] for _ in methods]
    players = _without_metrics(methods)
    queues = [deque[DrawnTask]() for _ in players]  # of tasks that a player has not met yet
    loops = [meet(problem, player, runs, queue) for player, queue in zip(players, queues, strict=True)]
    for tasks in draw(problem, runs, tasks_at_a_time(problem, len(runs))):
        P, R, R_hat = (join([getattr(task, name) for task in tasks]) for name in ("P", "R", "R_hat"))
        R = np.ascontiguousarray(expected_rewards(R, P))
        V_star = problem.criterion.optimal_value(P, R)
        make_read_only(P, R, V_star)
        for player, queue, loop in zip(players, queues, loops, strict=True):
            queue.extend(tasks)
            met = list(islice(loop, len(tasks)))
            inputs, decision = decide(player, met, R_hat)
            stack = _stack(problem, P, R, V_star, inputs, decision)
            columns = evaluate(stack)
            for method, result in zip(methods, results, strict=True):
                if replace(method, metric=PlanningLoss()) == player:
                    result.append(columns | _measure(method, stack, R_hat, inputs))
            del met, inputs, decision, stack  # before the next player plans
    return [tabulate(result, runs, problem.T) for result in results]


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
    inputs: Sequence[PlanningInput],
    decision: Decision,
) -> PlannedStack:
    """Return true models, and what was made of them, in one stack."""
    N, K = len(P), problem.trials
    policy, gamma = (array.reshape(N, K, *array.shape[1:]) for array in decision)
    P_hat = join([task.P_hat for task in inputs]).reshape(N, K, *P.shape[1:])
    alpha, sigma = (np.concatenate([getattr(task, name) for task in inputs]) for name in ("alpha", "sigma"))
    return PlannedStack(
        problem.criterion, P, R, V_star, P_hat, policy, gamma, alpha.reshape(N, -1), sigma.reshape(N, -1)
    )


def _measure(method: Method, stack: PlannedStack, R_hat: Rewards, inputs: Sequence[PlanningInput]) -> Columns:
    """Return the column of the metric of a method if it has one, a mean over trials, which must be finite."""
    if not method.is_measured:
        return {}
    N, K = stack.P_hat.shape[:2]
    P, R, V_star = (np.repeat(array, K, axis=0) for array in (stack.P, stack.R, stack.V_star))
    policy, gamma = (array.reshape(N * K, *array.shape[2:]) for array in (stack.policy, stack.gamma))
    P_hat = stack.P_hat.reshape(P.shape)
    R_hat = np.ascontiguousarray(expected_rewards(R_hat, P_hat))
    counts = join([given.batches.own.counts for given in inputs]).reshape(P.shape)
    make_read_only(P, R, P_hat, R_hat, counts, policy, gamma, V_star)
    outcome = Outcome(P, R, P_hat, R_hat, counts, policy, gamma, V_star, stack.criterion)
    return {MEASURED: checked.measure(method.metric, outcome).reshape(N, K, -1).mean(1)}
