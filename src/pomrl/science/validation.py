"""Checks of experiments before they are computed."""

from collections.abc import Sequence

from pomrl.science.drawn_tasks import mean_models
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.mdp import check_gamma_eval
from pomrl.science.meta_batches import Own
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.random_chains import RandomChains


def check_experiment(problem: Problem, method: Method, runs: Sequence[int]) -> None:
    """Raise a ValueError unless problem, method and runs fit together.

    The message gives key and value.
    """
    _check_criterion(problem, method)
    problem.task_distribution.check(problem.S, problem.A)
    problem.stream.check(problem.T, problem.task_distribution)
    problem.data.check(problem.m)
    problem.meta_batch.check(problem.data, problem.m)
    if problem.data.is_adaptive and problem.trials > 1:
        raise ValueError(f"trials must be 1 if a learner collects its data, got {problem.trials}")
    if problem.data.is_adaptive and problem.meta_batch != Own():
        name = type(problem.meta_batch).__name__
        raise ValueError(f"meta_batch must be own if a learner collects its data, got {name}; set meta_batch=own")
    if problem.data.is_adaptive and problem.reward_model != "known":
        raise ValueError(
            "reward_model must be known if a learner collects its data, "
            f"got {problem.reward_model}; set reward_model=known"
        )
    if problem.reward_low > problem.reward_high:
        raise ValueError(f"reward_low must be at most reward_high={problem.reward_high}, got {problem.reward_low}")
    method.estimator.check(problem.data.most_visits(problem.m))
    if method.estimator.needs_candidates and problem.task_distribution.candidates() is None:
        name, tasks = type(method.estimator).__name__, type(problem.task_distribution).__name__
        raise ValueError(f"estimator {name} needs a task_distribution of finitely many models, got {tasks}")
    method.gamma_schedule.check(problem.gamma_eval)
    if method.gamma_schedule.needs_similarity and not method.estimator.has_similarity:
        name = type(method.gamma_schedule).__name__
        raise ValueError(
            f"gamma_schedule {name} needs an estimator with a similarity, got {type(method.estimator).__name__} "
            "without one; set estimator=ada_pomrl"
        )
    if method.agent.chooses_gamma and isinstance(method.gamma_schedule, Hindsight):
        name = type(method.agent).__name__
        raise ValueError(
            f"gamma_schedule must not choose in hindsight (best_fixed, dynamic_best) for agent {name}, which chooses "
            "gamma itself; set gamma_schedule=grid"
        )
    for means in mean_models(problem, runs):
        next(means)


def _check_criterion(problem: Problem, method: Method) -> None:
    if problem.horizon is None and problem.gamma_eval != 1.0:
        check_gamma_eval(problem.gamma_eval)
    if problem.horizon is None and problem.gamma_eval == 1.0 and isinstance(problem.task_distribution, RandomChains):
        raise ValueError(
            "gamma_eval must be below 1 for random chains without a horizon, because they never end, got 1; "
            "set gamma_eval=0.99"
        )
    if problem.data.is_adaptive and problem.gamma_eval == 1.0:
        raise ValueError("gamma_eval must be below 1 if a learner collects its data, got 1; set gamma_eval=0.99")
    start = problem.criterion.start
    if start is not None and (len(start) != problem.S or not abs(sum(start) - 1.0) <= 1e-9 or min(start) < 0.0):
        raise ValueError(
            f"start must be a state from 0 to {problem.S - 1}, or {problem.S} probabilities with sum 1, "
            f"got {_as_written(problem.start)}"
        )
    if problem.start is not None and problem.loss == "max" and not method.is_measured:
        raise ValueError(f"start must be null with loss=max, got {_as_written(problem.start)}; set loss=mean")
    steps, horizon = method.planner.looks_ahead, problem.horizon
    if steps is not None and (horizon is None or steps > horizon):
        name = type(method.planner).__name__
        raise ValueError(f"horizon must be at least {steps}, the steps of planner {name}, got {_as_written(horizon)}")


def _as_written(value: int | Sequence[float] | None) -> str:
    """Return a value as YAML has it: null for None, and a list for a tuple."""
    if value is None:
        return "null"
    return str(value) if isinstance(value, int) else str(list(value))
