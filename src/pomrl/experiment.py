"""One experiment: a method (estimator, schedule, planner) on a problem, over independent runs; and its table.

Methods at the same problem see the same models, tasks and batches, which are drawn once for all of them, as are the
optimal values. Tasks are planned in stacks as large as `STACK_BYTES` allows, so that memory does not grow with T.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass as plain_dataclass
from itertools import islice, tee
from typing import Annotated

import numpy as np
import pandas as pd
from jaxtyping import Float
from pydantic import Field, InstanceOf
from pydantic.dataclasses import dataclass

from pomrl.algorithm import ToPlan, pomrl
from pomrl.components import CHECKED
from pomrl.estimators import Estimator, Models, Truth
from pomrl.gamma_schedules import GammaSchedule
from pomrl.mdp import optimal_value, planning_loss
from pomrl.planners import Planner
from pomrl.randomness import Stream, generator
from pomrl.task_distributions import MeanModel, TaskDistribution

STACK_BYTES = 32 * 2**20
"""Size of a stack of models that is planned at once."""

SCHEMA = {
    "run": "int32",
    "task": "int16",
    "gamma": "float64",
    "planning_loss": "float64",
    "alpha": "float64",
    "sigma_hat": "float64",
    "model_error": "float64",
}
"""Columns of an experiment's table: one row per (run, task, gamma), sorted so."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Problem:
    """Everything but the method: what is drawn is a function of the problem and the index of the run."""

    S: Annotated[int, Field(ge=2, description="number of states")]
    A: Annotated[int, Field(ge=1, description="number of actions")]
    m: Annotated[int, Field(ge=1, le=10**9, description="transitions sampled for each (s,a) in each task")]
    T: Annotated[int, Field(ge=1, le=32767, description="number of tasks")]
    sigma: Annotated[float, Field(ge=0, description="similarity of tasks; task_distribution.measure says of what kind")]
    gamma_eval: Annotated[float, Field(ge=0, lt=1, description="discount factor at which policies are judged")]
    seed: Annotated[int, Field(ge=0, description="seed of all draws")]
    task_distribution: Annotated[InstanceOf[TaskDistribution], Field(description="how tasks are drawn")]

    def mean(self, run: int) -> MeanModel:
        """The mean model of a run. ValueError where it cannot have this sigma, or this many zeros."""
        return self.task_distribution.draw_mean(self.seed, run, self.S, self.A, self.sigma)


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Method:
    """What learns and plans."""

    estimator: Annotated[InstanceOf[Estimator], Field(description="how a task's model is estimated")]
    gamma_schedule: Annotated[InstanceOf[GammaSchedule], Field(description="which discount factors are planned with")]
    planner: Annotated[InstanceOf[Planner], Field(description="how policies are found")]


def check(problem: Problem, method: Method, runs: Sequence[int]) -> None:
    """Refuse, with a ValueError, what would fail: combinations that cannot be, and a sigma that a run cannot have."""
    problem.task_distribution.check(problem.S)
    method.estimator.check(problem.m)
    method.gamma_schedule.check(problem.gamma_eval)
    if method.gamma_schedule.needs_similarity and method.estimator.similarity is None:
        name = type(method.gamma_schedule).__name__
        raise ValueError(f"gamma_schedule {name} needs an estimator with a similarity, but estimator.similarity=None")
    for run in runs:
        problem.mean(run)


def tables(problem: Problem, methods: Sequence[Method], runs: Sequence[int]) -> list[pd.DataFrame]:
    """The table of each method over the given runs, with the columns of `SCHEMA`."""
    means, truth = _truth(problem, runs)
    R = np.stack([mean.R for mean in means])

    drawn, *copies = tee(_draw(problem, means, runs), 1 + len(methods))
    learners = [
        pomrl(
            (P_bar for _, P_bar in tasks), problem.m, truth, method.estimator, method.gamma_schedule, problem.gamma_eval
        )
        for method, tasks in zip(methods, copies, strict=True)
    ]
    size = max(1, STACK_BYTES // truth.P_o.nbytes)
    outcomes: list[list[_Outcome]] = [[] for _ in methods]
    while stack := list(islice(drawn, size)):
        P = np.concatenate([P_t for P_t, _ in stack])
        R_stack = np.tile(R, (len(stack), 1, 1))
        V_star = optimal_value(P, R_stack, problem.gamma_eval)
        for method, learner, outcome in zip(methods, learners, outcomes, strict=True):
            to_plan = list(islice(learner, len(stack)))
            outcome.append(_plan_and_evaluate(to_plan, method.planner, P, R_stack, V_star, problem.gamma_eval))
    return [_tabulate(outcome, runs, problem.T) for outcome in outcomes]


def mixing_rates(problem: Problem, method: Method, runs: Sequence[int]) -> Float[np.ndarray, "n T"]:
    """alpha in each run and task, without planning."""
    means, truth = _truth(problem, runs)
    batches = (P_bar for _, P_bar in _draw(problem, means, runs))
    loop = pomrl(batches, problem.m, truth, method.estimator, method.gamma_schedule, problem.gamma_eval)
    return np.stack([task.alpha for task in loop], axis=1)


def _truth(problem: Problem, runs: Sequence[int]) -> tuple[list[MeanModel], Truth]:
    means = [problem.mean(run) for run in runs]
    variance = np.stack([problem.task_distribution.variance(mean) for mean in means])
    return means, Truth(np.stack([mean.P_o for mean in means]), variance)


def _draw(problem: Problem, means: Sequence[MeanModel], runs: Sequence[int]) -> Iterator[tuple[Models, Models]]:
    """For each task, its models P_t and the frequencies P_bar_t of m transitions from them, for all runs."""
    task_streams = [generator(problem.seed, run, Stream.TASKS) for run in runs]
    batch_streams = [generator(problem.seed, run, Stream.BATCHES) for run in runs]
    for _ in range(problem.T):
        draws = [problem.task_distribution.draw_task(rng, mean) for rng, mean in zip(task_streams, means, strict=True)]
        counts = [rng.multinomial(problem.m, P_t) for rng, P_t in zip(batch_streams, draws, strict=True)]
        yield np.stack(draws), np.stack(counts) / problem.m


@plain_dataclass(frozen=True)
class _Outcome:
    """What came of a stack of N = tasks times runs models."""

    gamma: Float[np.ndarray, "N G"]
    loss: Float[np.ndarray, "N G"]
    alpha: Float[np.ndarray, " N"]
    sigma_hat: Float[np.ndarray, " N"]
    model_error: Float[np.ndarray, " N"]


def _plan_and_evaluate(
    to_plan: Sequence[ToPlan],
    planner: Planner,
    P: Float[np.ndarray, "N S A S"],
    R: Float[np.ndarray, "N S A"],
    V_star: Float[np.ndarray, "N S"],
    gamma_eval: float,
) -> _Outcome:
    P_hat = np.concatenate([task.P_hat for task in to_plan])
    gamma = np.concatenate([task.gamma for task in to_plan])
    policy = planner.plan(P_hat, R, gamma)
    return _Outcome(
        gamma=gamma,
        loss=planning_loss(P, R, policy, gamma_eval, V_star),
        alpha=np.concatenate([task.alpha for task in to_plan]),
        sigma_hat=np.concatenate([task.sigma for task in to_plan]),
        model_error=np.abs(P_hat - P).max((1, 2, 3)),
    )


def _tabulate(outcomes: Sequence[_Outcome], runs: Sequence[int], T: int) -> pd.DataFrame:
    """Rows sorted by run, task and gamma, from stacks that are sorted by task and run."""

    def rows(field: str, G: int) -> np.ndarray:
        values = np.concatenate([getattr(outcome, field) for outcome in outcomes])
        by_run = values.reshape(T, len(runs), -1).swapaxes(0, 1)
        return np.broadcast_to(by_run, (len(runs), T, G)).ravel()

    G = outcomes[0].gamma.shape[1]
    columns = {
        "run": np.repeat(runs, T * G),
        "task": np.tile(np.repeat(np.arange(1, T + 1), G), len(runs)),
        "gamma": rows("gamma", G),
        "planning_loss": rows("loss", G),
        "alpha": rows("alpha", G),
        "sigma_hat": rows("sigma_hat", G),
        "model_error": rows("model_error", G),
    }
    return pd.DataFrame({name: column.astype(SCHEMA[name]) for name, column in columns.items()})
