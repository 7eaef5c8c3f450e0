"""Simulate how often the bounds hold, and how loose they are.

Tasks are uniform in a ball (`UniformBall`), so that the assumption of the bounds holds almost surely.
"""

from collections.abc import Iterator, Sequence
from itertools import product, repeat
from math import sqrt

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.components import Batch, MeanModel, Models, RegularisedLeastSquares, Truth
from pomrl.study import (
    PRIORS,
    REPAIRED,
    VERSIONS,
    Batches,
    Fixed,
    Grid,
    Method,
    PolicyIteration,
    Problem,
    UniformBall,
    loss_array,
    model_error_bound,
    planning_loss_bound,
    pomrl,
    tables,
)

S, A, T = 3, 2, 10
"""Numbers of states, actions and tasks of the chain MDPs of `regret_coverage`."""

ESTIMATORS = {prior: RegularisedLeastSquares(mixing="paper", prior=prior, similarity="known") for prior in PRIORS}
"""The estimator of POMRL(sigma) with each prior."""


def model_error_coverage(
    sequences: int = 10_000,
    seed: int = 0,
    delta: float = 0.05,
    sigmas: Sequence[float] = (0.0, 0.05, 0.2),
    ms: Sequence[int] = (10, 1000, 100_000),
    states: Sequence[int] = (2, 4),
    tasks: Sequence[int] = (2, 5, 20),
) -> "pd.DataFrame":
    """Simulate the joint coverage over tasks of the bounds on model errors.

    There is one action. The mean model is uniform, which has the largest sampling noise. `sigmas` are almost-sure
    bounds on |P_t - P_o|, at most 1/S, and known to the mixing rate. `ms` are numbers of transitions from each state,
    and `delta` is the probability of failure in the bounds.

    Returns:
        A row for each case, prior and version of the bound. coverage is the share of sequences with all errors within
        their bounds. looseness is the divisor of the bounds at which coverage is 1 - delta.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for S, m, sigma in product(states, ms, sigmas):
        for prior, errors in _model_errors(rng, sequences, S, m, sigma, max(tasks)).items():
            for T, version in product(tasks, (*VERSIONS, REPAIRED)):
                bound = model_error_bound(
                    t=np.arange(1, T + 1), m=m, radius=sigma, S=S, A=1, T=T, delta=delta, version=version, prior=prior
                )
                ratio = _relative(errors[:, :T], np.asarray(bound)).max(1)
                setting = {"S": S, "A": 1, "m": m, "sigma": sigma, "T": T, "prior": prior, "version": version}
                rows.append(setting | _coverage(ratio, delta))
    return pd.DataFrame(rows)


def _model_errors(
    rng: np.random.Generator, n: int, S: int, m: int, sigma: float, T: int
) -> dict[str, Float[np.ndarray, "n T"]]:
    truth = Truth(np.full((n, S, 1, S), 1.0 / S), np.full((n, S, 1, S), sigma**2))
    models, batches = zip(*_uniform_ball_tasks(rng, n, S, m, sigma, T), strict=True)
    errors = {}
    for prior, estimator in ESTIMATORS.items():
        learned = pomrl(zip(batches, repeat(truth)), m, estimator, Fixed(gamma=0.0), 0.0)
        by_task = [np.abs(task.P_hat[:, 0] - P_t).max((1, 2, 3)) for task, P_t in zip(learned, models, strict=True)]
        errors[prior] = np.stack(by_task, axis=1)
    return errors


def _uniform_ball_tasks(
    rng: np.random.Generator, n: int, S: int, m: int, radius: float, T: int
) -> Iterator[tuple[Models, Batches]]:
    """Yield the models and batches of n one-action sequences, by task."""
    P_o = np.full((S, n, S), 1.0 / S)
    deviation = radius / sqrt(S + 1)
    mean = MeanModel(P_o, np.zeros((S, n)), np.ones((S, n), bool), deviation, 1.0 / S / sqrt(S + 1))
    distribution = UniformBall(zeros=0)
    for _ in range(T):
        P_t = distribution.draw_tasks(rng, mean, 1)[0].swapaxes(0, 1)[:, :, None]
        yield P_t, Batches.same(Batch.of_counts(rng.multinomial(m, P_t), m, equal=True))


def _relative(value: Float[np.ndarray, "..."], bound: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Divide values by their bounds, with 0/0 = 0 for known equal tasks."""
    return np.divide(value, bound, out=np.where(value > 0, np.inf, 0.0), where=np.broadcast_to(bound > 0, value.shape))


def _coverage(ratio: Float[np.ndarray, " n"], delta: float) -> dict[str, float | int]:
    """Compute coverage and looseness from the largest relative value in each sequence."""
    largest = float(np.quantile(ratio, 1.0 - delta))
    looseness = 1.0 / largest if largest > 0 else np.inf
    return {"coverage": float((ratio <= 1.0).mean()), "looseness": looseness, "sequences": len(ratio)}


def regret_coverage(
    sequences: int = 500,
    seed: int = 0,
    delta: float = 0.05,
    ms: Sequence[int] = (5, 1000, 100_000),
    sigmas: Sequence[float] = (0.0, 0.02),
    gammas: Sequence[float] = (0.0, 0.5, 0.9, 0.99),
) -> "pd.DataFrame":
    """Simulate the coverage of the bounds on POMRL(sigma)'s loss and regret.

    The mixing rate knows `sigmas`, the standard deviations of `UniformBall`. Bounds use the almost-sure radius. The
    last of `gammas` is gamma_eval, and `ms` are numbers of transitions from each (s, a).

    Returns:
        A row for each case, prior, version of the bound, gamma and quantity, as in `model_error_coverage`.
    """
    grid, planner = Grid(gammas=list(gammas)), PolicyIteration()
    methods = [Method(estimator=estimator, gamma_schedule=grid, planner=planner) for estimator in ESTIMATORS.values()]
    rows = []
    for m, sigma in product(ms, sigmas):
        ball = UniformBall(zeros=0, measure="std")
        problem = Problem(S=S, A=A, m=m, T=T, sigma=sigma, gamma_eval=gammas[-1], seed=seed, task_distribution=ball)
        radius = np.array([ball.almost_sure_radius(problem.mean(run)) for run in range(sequences)])
        for prior, table in zip(ESTIMATORS, tables(problem, methods, range(sequences)), strict=True):
            loss, _ = loss_array(table)
            for version in VERSIONS:
                setting = {"m": m, "sigma": sigma, "prior": prior, "version": version}
                bound = planning_loss_bound(
                    gamma=np.array(gammas), gamma_eval=gammas[-1], t=np.arange(1, T + 1)[:, None], T=T, m=m,
                    radius=radius[:, None, None], plugged=sigma, S=S, A=A, delta=delta, version=version, prior=prior,
                )  # fmt: skip
                rows += [setting | coverage for coverage in _loss_coverage(loss, np.asarray(bound), gammas, delta)]
    return pd.DataFrame(rows)


def _loss_coverage(
    loss: Float[np.ndarray, "n T G"], bound: Float[np.ndarray, "n T G"], gammas: Sequence[float], delta: float
) -> Iterator[dict[str, float | int | str]]:
    per_task = _relative(loss, bound).max(1)
    average = _relative(loss.mean(1), bound.mean(1))
    for gamma, task_losses, average_losses in zip(gammas, per_task.T, average.T, strict=True):
        yield {"gamma": gamma, "quantity": "planning_loss"} | _coverage(task_losses, delta)
        yield {"gamma": gamma, "quantity": "average_regret"} | _coverage(average_losses, delta)
