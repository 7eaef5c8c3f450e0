"""One experiment: a method on a problem, over independent runs, and its table.

Methods on the same problem see the same models, tasks and batches, which are drawn once for all of them, and the
optimal values are computed once. Tasks are planned and evaluated in stacks of about `drawn_tasks.STACK_BYTES`, so that
memory does not grow with the number of tasks.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, tee

import numpy as np
import pandas as pd

from pomrl.checks import make_read_only
from pomrl.science import checked
from pomrl.science.agents.acting import decide, generators
from pomrl.science.agents.agent import Decision
from pomrl.science.algorithm import PlanningInput, pomrl
from pomrl.science.data import join
from pomrl.science.drawn_tasks import DrawnTask, draw, tasks_at_a_time
from pomrl.science.loss_tables import MEASURED, Columns, PlannedStack, evaluate, tabulate
from pomrl.science.mdp import expected_rewards
from pomrl.science.metrics.metric import Metric, Outcome, PlanningLoss
from pomrl.science.problem import Method, Problem


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
    stacks, *copies = tee(draw(problem, runs, tasks_at_a_time(problem, len(runs))), 1 + len(players))
    played = [play(problem, method, runs, copy) for method, copy in zip(players, copies, strict=True)]
    for tasks, *known_and_decided in zip(stacks, *played, strict=True):
        P, R = (join([getattr(task, name) for task in tasks]) for name in ("P", "R"))
        R = np.ascontiguousarray(expected_rewards(R, P))
        V_star = problem.criterion.optimal_value(P, R)
        make_read_only(P, R, V_star)
        planned = [_stack(problem, P, R, V_star, *pair) for pair in known_and_decided]
        columns = [*map(evaluate, planned)]
        for method, result in zip(methods, results, strict=True):
            i = players.index(replace(method, metric=PlanningLoss()))
            further = _measure(method.metric, planned[i], tasks, known_and_decided[i][0]) if method.is_measured else {}
            result.append(columns[i] | further)
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
    stacks, of_batches, of_truths = tee(stacks, 3)
    learned = pomrl(
        (task.batches for task in chain.from_iterable(of_batches)),
        problem.m,
        (task.truth for task in chain.from_iterable(of_truths)),
        method.estimator,
        method.gamma_schedule,
        problem.gamma_eval,
    )
    rngs = generators(problem, method, runs)
    memory = method.agent.initial_memory(len(runs) * problem.memories, problem.S, problem.A)
    for tasks in stacks:
        known = list(islice(learned, len(tasks)))
        decision, memory = decide(problem, method, tasks, known, memory, rngs)
        yield known, decision


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
    metric: Metric, stack: PlannedStack, tasks: Sequence[DrawnTask], known: Sequence[PlanningInput]
) -> Columns:
    """Return the column of a metric, a mean over trials, which is refused unless it is finite."""
    N, K = stack.P_hat.shape[:2]
    P, R, V_star = (np.repeat(array, K, axis=0) for array in (stack.P, stack.R, stack.V_star))
    policy, gamma = (array.reshape(N * K, *array.shape[2:]) for array in (stack.policy, stack.gamma))
    P_hat = stack.P_hat.reshape(P.shape)
    R_hat = np.ascontiguousarray(expected_rewards(join([task.R_hat for task in tasks]), P_hat))
    counts = join([given.batches.own.counts for given in known]).reshape(P.shape)
    make_read_only(P, R, P_hat, R_hat, counts, policy, gamma, V_star)
    outcome = Outcome(P, R, P_hat, R_hat, counts, policy, gamma, V_star, stack.criterion)
    return {MEASURED: checked.measure(metric, outcome).reshape(N, K, -1).mean(1)}
