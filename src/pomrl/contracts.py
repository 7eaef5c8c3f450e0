"""Checks of the contracts of components, as in `check_component(Mine(strength=2.0))`."""

import inspect
import json
import pickle
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import islice, product, repeat
from typing import Any

import numpy as np
import pandas as pd

from pomrl.base import Component, make_read_only
from pomrl.science.agents.agent import Agent
from pomrl.science.algorithm import pomrl
from pomrl.science.component_output import ComponentError, check_gammas
from pomrl.science.data import Batch, Batches, Data
from pomrl.science.drawn_tasks import draw_batch
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.experiment import measure, tables
from pomrl.science.gamma_schedules import Fixed, GammaSchedule, TaskState
from pomrl.science.mdp import Criterion, policy_value, random_chain_mdp
from pomrl.science.meta_batches import MetaBatch
from pomrl.science.metrics.metric import Metric, MetricInput
from pomrl.science.planners import Planner
from pomrl.science.solvers import finite_horizon
from pomrl.science.solvers.input_checks import check_models
from pomrl.science.tasks.distribution import MeanModel, TaskDistribution
from pomrl.science.tasks.random_chains import Dirichlet, RandomChains
from pomrl.science.tasks.streams import TaskStream
from pomrl.science.validation import check_experiment
from pomrl.small_experiments import (
    RUNS,
    SMALL_METHOD,
    TwoModels,
    experiments_with,
    first_accepted,
    rngs_of_runs,
    small_sigma,
    small_size,
)

MOMENT_DRAWS = 4000
STANDARD_ERRORS = 5.0  # largest distance of a mean of draws from its expectation, in standard errors
PLANNER_GAMMAS = np.array([0.0, 0.3, 0.9, 0.99])
PLANNER_TOLERANCE = 1e-9  # largest loss of a policy, in units of max(1, max |R|) / (1 - gamma)

KEEPS_STATE = "keep no state between calls, and draw only from the given generators"
"""The remedy for a component with other numbers in a repetition."""

MIXES_RUNS = "compute each run (first axis) only from its own numbers"
"""The remedy for a component with other numbers for a run alone."""


def check_component(component: Component) -> None:
    """Check a component against the contracts of its base class.

    Raises:
        ComponentError: A check fails; the message describes it, with a remedy.
        TypeError: The object is not a component.
    """
    if not isinstance(component, KINDS):
        raise TypeError(f"component must be an instance of a base class in pomrl.components, got {component!r}")
    for kind, statement, check, remedy in CONTRACTS:
        try:
            if isinstance(component, kind):
                check(component)
        except Exception as error:
            # a ValueError may have its own remedy (`_require`)
            reason, *own = error.args if type(error) is ValueError else [error]
            failure = f"{type(component).__qualname__} fails the check that {statement}"
            reason = " ".join(str(reason).split()) or type(error).__name__
            raise ComponentError(f"{failure}: {reason}. Remedy: {[*own, remedy][0]}") from error


def _require(holds: Any, reason: str, *remedy: str) -> None:
    if not holds:
        raise ValueError(reason, *remedy)


def _check_experiments(component: Any) -> None:
    for problem, method in experiments_with(component):
        check_experiment(problem, method, range(RUNS))
        (table,) = tables(problem, [method], range(RUNS))
        gammas = 1 if method.agent.chooses_gamma else method.gamma_schedule.gammas_per_task
        rows = RUNS * problem.T * gammas
        _require(len(table) == rows, f"a result table must have {rows} rows, got {len(table)}")
        is_valid = table["planning_loss"].between(0.0, np.inf, inclusive="left")
        losses = table["planning_loss"][~is_valid].tolist()[:1]
        _require(is_valid.all(), f"planning losses must be finite and at least 0, got {losses}")
        repetition = tables(problem, [method], range(RUNS))[0]
        _require(repetition.equals(table), "an experiment gives different numbers when it is repeated", KEEPS_STATE)
        single_runs = pd.concat([tables(problem, [method], [run])[0] for run in range(RUNS)], ignore_index=True)
        reason = f"a run computed alone gives different numbers than among {RUNS} runs"
        _require(single_runs.equals(table), reason, MIXES_RUNS)


def _check_fields(component: Any) -> None:
    copy = type(component)(**json.loads(json.dumps(asdict(component))))
    _require(copy == component, f"a copy made from its fields differs: {copy!r}")


def _check_pickle(component: Any) -> None:
    _require(pickle.loads(pickle.dumps(component)) == component, "a pickled copy is not equal to it")


def _check_source(component: Any) -> None:
    if type(component).__module__ != "__main__":  # a class in a notebook has no file; the store reads its cell
        inspect.getsourcefile(type(component))


def _check_estimates(estimator: Estimator[Any]) -> None:
    candidates = TwoModels().candidates() if estimator.needs_candidates else None
    n, S, A = RUNS, 4, 2
    for seed, (m, equal) in enumerate(((2, True), (5, False), (100, True))):
        rng = np.random.default_rng(seed)
        P_o = rng.dirichlet(np.ones(S), (n, S, A))
        P_o[0, :, 0] = np.eye(S)  # deterministic rows
        variance = P_o * (1 - P_o) / 9.0
        if candidates is not None:
            P_o, variance = (np.tile(moment, (n, 1, 1, 1)) for moment in (candidates.mean(0), candidates.var(0)))
        make_read_only(P_o, variance)
        batches: list[Batches] = []
        for _ in range(5):
            weight = np.where(P_o > 0, rng.standard_gamma(8.0 * P_o), 0.0)
            P = weight / weight.sum(-1, keepdims=True) if candidates is None else candidates[rng.integers(2, size=n)]
            visits = m if equal else rng.integers(0, 2 * m, (n, S, A), endpoint=True)
            batches.append(Batches.same(Batch.of_counts(rng.multinomial(visits, P), m, equal=equal)))
        truth = Truth(P_o, variance, candidates=candidates)
        for task in pomrl(zip(batches, repeat(truth)), m, estimator, Fixed(gamma=0.5), 0.5):
            _check_P(task.P_hat)


def _check_P(P: np.ndarray) -> None:
    check_models(P, np.zeros(P.shape[:-1]))
    error = np.abs(P.sum(-1) - 1.0).max()
    _require(error <= 1e-12, f"rows of a model must sum to 1, got a difference of {error:.1e}")


def _check_gammas(schedule: GammaSchedule) -> None:
    gamma_eval = first_accepted((0.9, 0.99, 0.999, 0.9999), schedule.check)
    alpha, sigma = np.array([0.5, 1.0, 0.2, 0.0, 1.0, 0.7]), np.array([0.0, 0.3, 0.1, 0.5, 0.0, 1e-9])
    make_read_only(alpha, sigma)
    for t in (1, 2, 15, 1000):
        state = TaskState(t=t, m=5, S=10, A=2, gamma_eval=gamma_eval, alpha=alpha, deviation=sigma)
        check_gammas(schedule, schedule.select(state), state)


def _check_policies(planner: Planner) -> None:
    for P, R in _small_models():
        gammas = np.stack([np.roll(PLANNER_GAMMAS, shift) for shift in range(len(P))])
        policies = planner.plan(P, R, gammas)
        for i, g in np.ndindex(gammas.shape):
            loss = _policy_loss(planner, P[[i]], R[[i]], policies[[i], g], float(gammas[i, g])).max()
            is_optimal = loss * (1 - gammas[i, g]) <= PLANNER_TOLERANCE * max(1.0, np.abs(R).max())
            _require(is_optimal, f"at gamma = {gammas[i, g]:g} a policy is worse than the optimal one by {loss:.3g}")


def _check_refusals(planner: Planner) -> None:
    P, R = _small_models()[0]
    invalid_gamma = np.array([1.0 if planner.looks_ahead is None else 1.1])
    for name, arguments in (("sum", (P * 1.1, R, PLANNER_GAMMAS)), ("gamma", (P, R, invalid_gamma))):
        _require_error(lambda arguments=arguments: planner.plan(*arguments), name)


def _require_error(call: Callable[[], Any], name: str) -> None:
    try:
        call()
    except ValueError as error:
        _require(name in str(error), f"the ValueError for an invalid {name} must mention {name}, got: {error}")
        return
    raise ValueError(f"an invalid {name} must raise a ValueError")


def _small_models(S: int = 4, A: int = 2) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    P, R = map(np.stack, zip(*[random_chain_mdp(rng, S, A, 1) for _ in range(RUNS)], strict=True))
    sampled = rng.multinomial(2, P) / 2
    tied = P[:, :, :1].repeat(A, axis=2), R[:, :, :1].repeat(A, axis=2)
    ring_P, ring_R = np.zeros((1, S, A, S)), np.zeros((1, S, A))
    ring_P[0, :, 0], ring_P[0, :, 1:], ring_R[0, 0] = np.eye(S), np.roll(np.eye(S), 1, axis=1)[:, None], 1.0
    models = [(P, R), (sampled, R), tied, (ring_P, ring_R), (P, -R), (P, 0 * R)]
    make_read_only(*(array for pair in models for array in pair))
    return models


def _policy_loss(planner: Planner, P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    (_, S, A), steps = R.shape, planner.looks_ahead
    if steps is None:
        policies = np.array(list(product(range(A), repeat=S)))
        best = policy_value(P[:, None], R[:, None], policies[None], gamma).max(1)
        return best - policy_value(P, R, policy, gamma)
    V = np.zeros(R.shape[:2])
    for _ in range(steps):
        V = (R + gamma * (P @ V[:, None, :, None])[..., 0]).max(-1)
    return V - finite_horizon.policy_values(P, R, policy[:, None], gamma, steps)[:, 0]


def _draw_tasks(tasks: TaskDistribution, mean: MeanModel, number: int) -> np.ndarray:
    return tasks.draw([np.random.default_rng(1)], [mean], number).P[:, 0]


def _check_tasks(tasks: TaskDistribution) -> None:
    mean = tasks.draw_mean(0, 0, *small_size(tasks), small_sigma(tasks))
    P, variance = _draw_tasks(tasks, mean, 50), tasks.variance(mean)
    _check_P(mean.P_o)
    _check_P(P)
    _require((P[:, mean.P_o == 0] == 0).all(), "a task allows a transition of probability 0 in the mean model")
    _require((P[0] != P).any() or not variance.any(), "50 tasks with a variance above 0 are all equal")
    rng = np.random.default_rng(1)
    batches = [tasks.draw([rng], [mean], number).P[:, 0] for number in (1, 49)]
    _require(np.array_equal(np.concatenate(batches), P), "tasks drawn in two calls differ from tasks drawn in one call")
    _require(variance.min() >= 0, f"variances must be at least 0, got {variance.min():g}")
    deviation = float(np.sqrt(variance.max()))
    reason = f"deviation must be {deviation:g}, the largest standard deviation, got {mean.deviation:g}"
    _require(np.isclose(deviation, mean.deviation), reason)


def _check_moments(tasks: TaskDistribution) -> None:
    mean = tasks.draw_mean(0, 0, *small_size(tasks), small_sigma(tasks))
    candidates, variance = tasks.candidates(), tasks.variance(mean)
    if candidates is not None:
        _require(np.allclose(candidates.mean(0), mean.P_o, atol=1e-12), "P_o is not the mean of the candidates")
        _require(np.allclose(candidates.var(0), variance, atol=1e-12), "variance is not the variance of the candidates")
    elif tasks.has_exact_moments:
        P = _draw_tasks(tasks, mean, MOMENT_DRAWS)
        squares, errors = (P - mean.P_o) ** 2, STANDARD_ERRORS / np.sqrt(MOMENT_DRAWS)
        distance = np.abs(P.mean(0) - mean.P_o) - errors * np.sqrt(variance)
        _require((distance <= 1e-12).all(), f"the mean of {MOMENT_DRAWS} tasks is not P_o")
        distance = np.abs(squares.mean(0) - variance) - errors * squares.std(0)
        _require((distance <= 1e-12).all(), f"the variance of {MOMENT_DRAWS} tasks differs from variance(mean)")


def _check_random_chains(tasks: RandomChains) -> None:
    sigma, size = small_sigma(tasks), small_size(tasks)
    for run in range(RUNS):
        mean = tasks.draw_mean(0, run, *size, sigma)
        chain = mean.P_o if mean.unsmoothed is None else mean.unsmoothed
        _require(
            ((chain == 0).sum(-1) == tasks.zeros).all(),
            f"each row must have zeros={tasks.zeros} states of probability 0",
        )
    half_varying = replace(tasks, varying=0.5)
    mean = half_varying.draw_mean(0, 0, *size, sigma)
    same = ~mean.varying
    _require(mean.varying.sum() == mean.varying.size // 2, "varying=0.5 must vary half of the pairs")
    _require(
        (_draw_tasks(half_varying, mean, 5)[:, same] == mean.P_o[same]).all(),
        "a pair outside the mask varying differs between tasks",
    )
    _require((half_varying.variance(mean)[same] == 0).all(), "a pair outside the mask varying has a variance above 0")
    if sigma is None:
        return
    power = 2 if tasks.measure == "variance" else 1
    mean = tasks.draw_mean(0, 0, *size, sigma)
    _require(
        np.isclose(mean.deviation**power, sigma, rtol=1e-12),
        f"deviation must be {sigma ** (1 / power):g} for sigma={sigma:g}, got {mean.deviation:g}",
    )
    if np.isfinite(mean.largest_deviation):
        too_large = (mean.largest_deviation * 1.001) ** power
        _require_error(lambda: tasks.draw_mean(0, 0, *size, too_large), "sigma")
    equal = tasks.draw_mean(0, 0, *size, 0.0)
    _require((_draw_tasks(tasks, equal, 1)[0] == equal.P_o).all(), "a task with sigma=0 must be the mean model")


def _check_stream(stream: TaskStream) -> None:
    distribution = Dirichlet(zeros=2)
    first = distribution.draw_mean(0, 0, 6, 2, 0.01)
    means = stream.means(np.random.default_rng(0), first, distribution)
    _require(next(means) is first, "the first mean model must be the given one")
    for mean in islice(means, 11):
        _check_P(mean.P_o)
        _require(mean.deviation == first.deviation, "a new mean model must keep the deviation")
        _require(mean.has_room, f"deviation must be below {mean.largest_deviation:g}, got {mean.deviation:g}")
        largest = np.sqrt((mean.P_o * (1.0 - mean.P_o)).max())
        _require(mean.largest_deviation == largest, "largest_deviation must be computed from the new mean model")
        _require(np.array_equal(mean.R, first.R), "a new mean model must keep the rewards")
        _require(np.array_equal(mean.varying, first.varying), "a new mean model must keep the mask varying")


def _check_draws(data: Data) -> None:
    if data.is_adaptive:
        return
    rng = np.random.default_rng(5)
    P, m, batches = rng.dirichlet(np.ones(4), (3, RUNS, 4, 2)), 4, 3
    P[..., 0, 0, 1:3], P[..., 1, 1, :] = 0.0, np.eye(4)[2]  # impossible and certain transitions
    P /= P.sum(-1, keepdims=True)
    counts = draw_batch(data, rngs_of_runs(), P, m, batches).counts
    _require((counts.sum(2)[P == 0] == 0).all(), "a drawn transition has probability 0")
    _require(counts.sum(-1).max() <= data.most_visits(m), "a pair has more transitions than most_visits")
    rngs = rngs_of_runs()
    batches_of_calls = [data.draw(rngs, P[:1], m, batches), data.draw(rngs, P[1:], m, batches)]
    _require(
        np.array_equal(np.concatenate(batches_of_calls), counts),
        "batches drawn in two calls differ from batches drawn in one call",
    )
    _require((counts[:, :, 0] != counts[:, :, 1]).any(), "all batches of a task are equal")
    _require((counts[0] != counts[1]).any(), "the batches of all tasks are equal")
    counts = data.draw(rngs_of_runs(), P[:1], 20, 2000).sum(2)
    visits = counts.sum(-1, keepdims=True)
    error = STANDARD_ERRORS * np.sqrt(P[:1] * (1.0 - P[:1]) / visits)
    _require(
        (np.abs(counts / visits - P[:1]) <= error + 1e-12).all(),
        "the frequencies of many transitions differ from the model",
    )


def _check_metric(metric: Metric) -> None:
    rng, criterion = np.random.default_rng(5), Criterion(0.9)
    P, R = rng.dirichlet(np.ones(4), (3, 4, 2)), rng.random((3, 4, 2))
    counts = rng.multinomial(5, P)
    P_hat, gamma = (counts + 1.0) / 9.0, np.tile([0.0, 0.5, 0.9], (3, 1))
    policy = SMALL_METHOD.planner.plan(P_hat, R, gamma)
    policy[:, 1] = rng.integers(0, 2, (3, 4))  # not from a planner
    make_read_only(P, R, P_hat, counts, policy, gamma)
    arrays = P, R, P_hat, R, counts, policy, gamma, criterion.optimal_value(P, R)
    stacked = measure(metric, MetricInput(*arrays, criterion=criterion))
    for i in range(3):
        single = metric.measure(MetricInput(*(array[[i]] for array in arrays), criterion=criterion))
        _require(
            np.array_equal(single[0], stacked[i]), f"task {i} measured alone gives different numbers than among 3 tasks"
        )


MODEL_REMEDY = "return new arrays with the shape, type and range of the base class; arguments are read-only"
CONTRACTS: tuple[tuple[type, str, Callable[[Any], None], str], ...] = (
    (Component, "runs of its experiments are independent", _check_experiments, MODEL_REMEDY),
    (Component, "its fields determine it", _check_fields, "declare fields, of JSON types, for all settings"),
    (Component, "it can be pickled", _check_pickle, "define its class at the top of a module"),
    (Component, "its source code can be found", _check_source, "define its class in a file with source"),
    (Estimator, "its estimates are models", _check_estimates, MODEL_REMEDY),
    (GammaSchedule, "its gammas are in range", _check_gammas, "clip them to [0, state.gamma_eval]"),
    (Planner, "its policies are optimal", _check_policies, "solve Bellman's equation up to rounding"),
    (Planner, "it rejects invalid models", _check_refusals, "implement _plan, and leave plan as it is"),
    (TaskDistribution, "its tasks are models around a mean", _check_tasks, "draw only from the given generator"),
    (TaskDistribution, "its moments are exact", _check_moments, "correct them, or set has_exact_moments = False"),
    (RandomChains, "it obeys zeros, varying, sigma", _check_random_chains, "override only methods that begin with _"),
    (TaskStream, "its mean models keep sigma", _check_stream, "make them with recentre or another_mean"),
    (Data, "its batches are independent draws", _check_draws, "draw task after task from the run's generator"),
    (Metric, "it measures each task separately", _check_metric, "treat each index of the first axis separately"),
)
"""Base class of the components, required property, check, and remedy."""

KINDS = (Estimator, Agent, GammaSchedule, Planner, TaskDistribution, TaskStream, Data, MetaBatch, Metric)
