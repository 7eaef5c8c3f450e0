"""One experiment: a method on a problem, over independent runs, and its table.

Methods on the same problem see the same models, tasks and batches, which are drawn once for all of them, and the
optimal values are computed once. Tasks are evaluated in stacks of about `drawn_tasks.STACK_BYTES`, so that memory does
not grow with the number of tasks.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.checks import make_read_only
from pomrl.science import checked
from pomrl.science.agents.acting import Played, Player
from pomrl.science.data import join
from pomrl.science.drawn_tasks import draw, tasks_at_a_time
from pomrl.science.loss_tables import MEASURED, Columns, tabulate
from pomrl.science.mdp import expected_rewards
from pomrl.science.metrics.metric import Metric, Outcome, PlanningLoss
from pomrl.science.problem import Method, Problem


class _Judged(NamedTuple):
    """A stack of N = tasks times runs models, on which policies are judged."""

    P: Float[np.ndarray, "N S A S"]
    R: Float[np.ndarray, "N S A"]
    V_star: Float[np.ndarray, "N S"]


def tables(problem: Problem, methods: Sequence[Method], runs: Sequence[int]) -> "list[pd.DataFrame]":
    """Return the table of each method, with the columns of `SCHEMA`, and with that of its metric if it has one.

    The numbers of a run do not depend on the other runs or on the other methods, to the last bit.

    Args:
        problem: The problem.
        methods: The methods that are compared on it.
        runs: The indices of the independent runs.
    """
    alike = _without_metrics(methods)
    players = [Player(problem, method, runs) for method in alike]
    results: list[list[Columns]] = [[] for _ in methods]
    for stack in draw(problem, runs, tasks_at_a_time(problem, len(runs))):
        P, R = (join([getattr(task, name) for task in stack]) for name in ("P", "R"))
        R = np.ascontiguousarray(expected_rewards(R, P))
        of_stack = [player.play(stack) for player in players]
        judged = _Judged(P, R, problem.criterion.optimal_value(P, R))
        make_read_only(*judged)
        columns = [_evaluate(tasks, judged, problem) for tasks in of_stack]
        for method, result in zip(methods, results, strict=True):
            i = alike.index(replace(method, metric=PlanningLoss()))
            further = _measure(method.metric, of_stack[i], judged, problem) if method.is_measured else {}
            result.append(columns[i] | further)
    return [tabulate(result, runs, problem.T) for result in results]


def _without_metrics(methods: Sequence[Method]) -> list[Method]:
    """Return the different methods without their metrics, so that policies are made once for all metrics."""
    alike: list[Method] = []
    for method in methods:
        if (bare := replace(method, metric=PlanningLoss())) not in alike:
            alike.append(bare)
    return alike


def _evaluate(tasks: Sequence[Played], judged: _Judged, problem: Problem) -> Columns:
    """Return the columns that every table has, for the policies of a stack of tasks.

    Rewards R(s, a, s') of transitions enter as their expectations, under the model that is planned on or evaluated.
    All numbers are means over the K trials of a task, whose policies are evaluated together.
    """
    N, K = len(judged.P), problem.trials
    P_hat = join([task.given.P_hat for task in tasks])
    gamma, policy = (join([getattr(task, name) for task in tasks]) for name in ("gamma", "policy"))
    policy = policy.reshape(N, -1, *policy.shape[2:])
    loss = problem.criterion.planning_loss(judged.P, judged.R, policy, judged.V_star)
    error = P_hat.reshape(N, K, -1) - judged.P.reshape(N, 1, -1)
    return {
        "gamma": _mean_of_trials(gamma.reshape(N, K, -1)),
        "planning_loss": loss.reshape(N, K, -1).mean(1),
        "alpha": np.concatenate([task.given.alpha for task in tasks]).reshape(N, -1).mean(1),
        "sigma_hat": np.concatenate([task.given.deviation for task in tasks]).reshape(N, -1).mean(1),
        "model_error": np.abs(error, out=error).max(-1).mean(1),
    }


def _mean_of_trials(gamma: Float[np.ndarray, "N K G"]) -> Float[np.ndarray, "N G"]:
    """Return the mean over trials, to the last bit the common value where all trials have the same."""
    return np.where((gamma == gamma[:, :1]).all(1), gamma[:, 0], gamma.mean(1))


def _measure(metric: Metric, tasks: Sequence[Played], judged: _Judged, problem: Problem) -> Columns:
    """Return the column of a metric, a mean over trials, which is refused unless it is finite."""
    found = checked.measure(metric, _outcome(tasks, judged, problem))
    return {MEASURED: found.reshape(-1, problem.trials, found.shape[1]).mean(1)}


def _outcome(tasks: Sequence[Played], judged: _Judged, problem: Problem) -> Outcome:
    """Return what metrics may read of each trial of a stack of tasks."""
    P, R, V_star = (np.repeat(array, problem.trials, axis=0) for array in (judged.P, judged.R, judged.V_star))
    P_hat = np.concatenate([task.given.P_hat for task in tasks]).reshape(P.shape)
    outcome = Outcome(
        P,
        R,
        P_hat,
        np.ascontiguousarray(expected_rewards(np.concatenate([task.R_hat for task in tasks]), P_hat)),
        np.concatenate([task.counts for task in tasks]).reshape(P.shape),
        np.concatenate([task.policy for task in tasks]),
        np.concatenate([task.gamma for task in tasks]),
        V_star,
        problem.criterion,
    )
    make_read_only(*(array for array in vars(outcome).values() if isinstance(array, np.ndarray)))
    return outcome
