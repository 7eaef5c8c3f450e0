"""Small experiments with a component, to check its contracts."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from pomrl.science.agents.agent import Agent
from pomrl.science.data import Data, Generative, Trajectories
from pomrl.science.estimators.estimator import Estimator
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.gamma_schedules import Fixed, GammaSchedule, Grid
from pomrl.science.meta_batches import MetaBatch, Separate
from pomrl.science.planners import Planner, PolicyIteration
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.distribution import Candidates, FiniteTasks, TaskDistribution
from pomrl.science.tasks.random_chains import Dirichlet
from pomrl.science.tasks.streams import TaskStream

RUNS = 3
SIGMA = 0.002
UNEQUAL = {"data": Trajectories(length=3), "meta_batch": Separate(batches=2), "trials": 2}
"""Settings of a problem with unequal numbers of transitions per pair (s, a) and several trials."""

SMALL_METHOD = Method(
    estimator=RegularisedLeastSquares(mixing="paper", similarity="welford"),
    gamma_schedule=Grid(gammas=[0.0, 0.5, 0.9]),
    planner=PolicyIteration(),
)
"""The method of small experiments; some schedules need the similarity of its estimator."""


class TwoModels(FiniteTasks):
    """A distribution of two equally likely models, for estimators with `needs_candidates`."""

    @property
    def size(self) -> tuple[int, int]:
        return 4, 2

    def candidate_models(self) -> Candidates:
        rng = np.random.default_rng(7)
        return Candidates(np.arange(2.0), rng.dirichlet(np.ones(4), (2, 4, 2)), rng.random((4, 2)))


def small_problem(task_distribution: TaskDistribution | None = None, sigma: float | None = 0.01) -> Problem:
    """Return a small problem, by default with Dirichlet tasks."""
    tasks = task_distribution or Dirichlet(zeros=2)
    S, A = small_size(tasks)
    return Problem(S=S, A=A, m=5, T=4, sigma=sigma, gamma_eval=0.9, seed=0, task_distribution=tasks)


def small_size(tasks: TaskDistribution) -> tuple[int, int]:
    """Return the S and A of a small problem with these tasks."""
    return tasks.size or (getattr(tasks, "zeros", 2) + 4, 2)


def first_accepted(values: Sequence[Any], check: Callable[[Any], None]) -> Any:
    """Return the first value without a ValueError from `check`, otherwise the last."""
    for value in values[:-1]:
        with suppress(ValueError):
            check(value)
            return value
    return values[-1]


def experiments_with(component: Any) -> list[tuple[Problem, Method]]:
    """Return small experiments with a component."""
    problem, method = small_problem(), SMALL_METHOD
    forgetting = replace(method, estimator=replace(method.estimator, forgetting="learned", weights="transitions"))
    match component:
        case Estimator():
            own = replace(method, estimator=component)
            if component.needs_candidates:
                problem = small_problem(TwoModels(), None)
                return [(problem, own), (replace(problem, **UNEQUAL), own)]
            return [(candidate, own) for candidate in (problem, small_problem(sigma=0.0), replace(problem, **UNEQUAL))]
        case Agent():
            own = replace(method, agent=component)
            online = {"data": Trajectories(length=3, behaviour="epsilon_greedy")}
            changes = {}, UNEQUAL, online, {"reward_model": "own", "reward_noise": 0.1}
            fixed = replace(own, gamma_schedule=Fixed(gamma=0.5))
            return [*((replace(problem, **candidate), own) for candidate in changes), (problem, fixed)]
        case Data():
            problem = replace(problem, data=component)
            repeated = [] if component.is_adaptive else [(replace(problem, trials=2), method)]
            return [(problem, method), *repeated, (problem, forgetting)]
        case MetaBatch():
            own = Trajectories(length=3), Generative()
            data = own if getattr(component, "length", None) is None else own[:1]
            return [(replace(problem, data=candidate, meta_batch=component, trials=2), method) for candidate in data]
        case GammaSchedule():
            gamma_eval = first_accepted((0.9, 0.99, 0.999, 0.9999), component.check)
            own = replace(method, gamma_schedule=component.computed_schedule())
            return [(replace(problem, gamma_eval=gamma_eval), own)]
        case Planner():
            return [(replace(problem, horizon=component.looks_ahead), replace(method, planner=component))]
        case TaskStream():
            T = first_accepted((12, 100, 1000), lambda T: component.check(T, problem.task_distribution))
            problem = replace(problem, stream=component, T=T)
            return [(problem, method), (problem, forgetting)]
        case TaskDistribution():
            return [(small_problem(component, small_sigma(component)), method)]
        case _:
            return [(problem, replace(method, metric=component))]


def rngs_of_runs() -> list[np.random.Generator]:
    """Return a new generator for each of `RUNS` runs."""
    return [np.random.default_rng(run) for run in range(RUNS)]


def small_sigma(tasks: TaskDistribution) -> float | None:
    """Return a sigma for a task distribution; None if its keys determine sigma."""
    try:
        tasks.draw_mean(0, 0, *small_size(tasks), None)
    except ValueError:
        return SIGMA
    return None
