"""Simulated sequences of tasks, to check bounds and mixing rates against: what holds how often, and how loosely.

Every function returns a tidy table. Tasks are uniform in a ball (`UniformBall`), which satisfies the almost-sure
assumption of the bounds, or Dirichlet where a closed form is to be met.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, product, tee
from math import sqrt

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.algorithm import pomrl
from pomrl.bounds import model_error_bound, planning_loss_bound
from pomrl.concentration import PRIORS, VARIANTS, Prior
from pomrl.estimators import Estimator, Memory, Models, Truth
from pomrl.experiment import Method, Problem, tables
from pomrl.gamma_schedules import Fixed, Grid
from pomrl.planners import PolicyIteration
from pomrl.task_distributions import MeanModel, UniformBall


def model_error_coverage(
    sequences: int = 10_000,
    seed: int = 0,
    delta: float = 0.05,
    sigmas: Sequence[float] = (0.0, 0.05, 0.2),
    ms: Sequence[int] = (10, 1000, 100_000),
    states: Sequence[int] = (2, 4),
    tasks: Sequence[int] = (2, 5, 20),
) -> pd.DataFrame:
    """How often the bounds on the model error hold in all tasks at once, for POMRL(sigma) with one action.

    sigma is the almost-sure bound, in the mixing rate as well, at most 1/S. The mean model is uniform, where the
    sampling noise of two states is largest. Columns: S, A, m, sigma, T, prior, variant; coverage, the share of
    sequences in which every error is below its bound; looseness, what the bounds can be divided by to hold in a share
    1 - delta.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for S, m, sigma in product(states, ms, sigmas):
        for prior, errors in _model_errors(rng, sequences, S, m, sigma, max(tasks)).items():
            for T, variant in product(tasks, VARIANTS):
                bound = model_error_bound(
                    t=np.arange(1, T + 1), m=m, sigma=sigma, S=S, A=1, T=T, delta=delta, variant=variant, prior=prior
                )
                ratio = _relative(errors[:, :T], np.asarray(bound)).max(1)
                setting = {"S": S, "A": 1, "m": m, "sigma": sigma, "T": T, "prior": prior, "variant": variant}
                rows.append(setting | _coverage(ratio, delta))
    return pd.DataFrame(rows)


def _model_errors(
    rng: np.random.Generator, n: int, S: int, m: int, sigma: float, T: int
) -> dict[str, Float[np.ndarray, "n T"]]:
    """max |P_hat_t - P_t| over s, a, s' in n sequences of T tasks, for each prior on the same tasks and batches."""
    truth = Truth(np.full((n, S, 1, S), 1.0 / S), np.full((n, S, 1, S), sigma**2))
    drawn, *copies = tee(islice(_uniform_ball_tasks(rng, n, S, m, sigma), T), 1 + len(PRIORS))
    learners = {}
    for prior, copy in zip(PRIORS, copies, strict=True):
        estimator = Estimator(mixing="paper", prior=prior, similarity="known")
        learners[prior] = pomrl((P_bar for _, P_bar in copy), m, truth, estimator, Fixed(gamma=0.0), 0.0)
    errors = {prior: np.empty((n, T)) for prior in PRIORS}
    for t, (P_t, _) in enumerate(drawn):
        for prior, learner in learners.items():
            errors[prior][:, t] = np.abs(next(learner).P_hat - P_t).max((1, 2, 3))
    return errors


def _uniform_ball_tasks(
    rng: np.random.Generator, n: int, S: int, m: int, radius: float
) -> Iterator[tuple[Models, Models]]:
    """Models and frequencies of the next task of n sequences, without end. Rows are independent: n actions do."""
    P_o = np.full((S, n, S), 1.0 / S)
    deviation = radius / sqrt(S + 1)
    mean = MeanModel(P_o, np.zeros((S, n)), np.ones((S, n), bool), deviation, 1.0 / S / sqrt(S + 1))
    distribution = UniformBall(zeros=0)
    while True:
        P_t = distribution.draw_task(rng, mean).swapaxes(0, 1)[:, :, None]
        yield P_t, rng.multinomial(m, P_t) / m


def _relative(value: Float[np.ndarray, "..."], bound: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """A value over its bound; equal tasks whose mean is known are estimated without error, and their bound is 0."""
    return np.divide(value, bound, out=np.where(value > 0, np.inf, 0.0), where=np.broadcast_to(bound > 0, value.shape))


def _coverage(ratio: Float[np.ndarray, " n"], delta: float) -> dict[str, float]:
    """From the largest ratio of a loss or an error to its bound in each sequence."""
    largest = float(np.quantile(ratio, 1.0 - delta))
    return {"coverage": float((ratio <= 1.0).mean()), "looseness": 1.0 / largest if largest > 0 else np.inf}


def regret_coverage(
    sequences: int = 500,
    seed: int = 0,
    delta: float = 0.05,
    ms: Sequence[int] = (5, 1000, 100_000),
    sigmas: Sequence[float] = (0.0, 0.02),
    gammas: Sequence[float] = (0.0, 0.5, 0.9, 0.99),
    S: int = 3,
    A: int = 2,
    T: int = 10,
) -> pd.DataFrame:
    """How often the bounds on planning loss and average regret hold, for POMRL(sigma) on random chain MDPs.

    sigma is a standard deviation here, that of `UniformBall`, and is plugged into the mixing rate as in experiments;
    the bound has the almost-sure radius of each run. gamma_eval is the last of the gammas. Columns: m, sigma, prior,
    variant, gamma, quantity (`planning_loss` in all tasks at once, or `average_regret`), coverage, looseness.
    """
    rows = []
    for m, sigma in product(ms, sigmas):
        distribution = UniformBall(zeros=0, measure="std")
        problem = Problem(
            S=S, A=A, m=m, T=T, sigma=sigma, gamma_eval=gammas[-1], seed=seed, task_distribution=distribution
        )
        radius = np.array([distribution.almost_sure_radius(problem.mean(run)) for run in range(sequences)])
        methods = [_pomrl_on_grid(prior, gammas) for prior in PRIORS]
        for prior, table in zip(PRIORS, tables(problem, methods, range(sequences)), strict=True):
            loss = table["planning_loss"].to_numpy().reshape(sequences, T, len(gammas))
            for variant in VARIANTS:
                bound = planning_loss_bound(
                    gamma=np.array(gammas), gamma_eval=gammas[-1], t=np.arange(1, T + 1)[:, None], T=T, m=m,
                    sigma=radius[:, None, None], plugged=sigma, S=S, A=A, delta=delta, variant=variant, prior=prior,
                )  # fmt: skip
                per_task = _relative(loss, np.asarray(bound)).max(1)
                average = _relative(loss.mean(1), np.mean(bound, axis=1))
                for i, gamma in enumerate(gammas):
                    setting = {"m": m, "sigma": sigma, "prior": prior, "variant": variant, "gamma": gamma}
                    rows.append(setting | {"quantity": "planning_loss"} | _coverage(per_task[:, i], delta))
                    rows.append(setting | {"quantity": "average_regret"} | _coverage(average[:, i], delta))
    return pd.DataFrame(rows)


def _pomrl_on_grid(prior: Prior, gammas: Sequence[float]) -> Method:
    estimator = Estimator(mixing="paper", prior=prior, similarity="known")
    return Method(estimator=estimator, gamma_schedule=Grid(gammas=list(gammas)), planner=PolicyIteration())


def squared_error_against_alpha(
    alphas: Sequence[float],
    concentration: float = 10.0,
    P_o: Sequence[float] = (0.1, 0.2, 0.3, 0.4),
    m: int = 5,
    tasks: Sequence[int] = (2, 5, 15),
    sequences: int = 4000,
    seed: int = 0,
) -> pd.DataFrame:
    """The mean squared error of the estimate of a row against a constant alpha, for Dirichlet tasks.

    Columns: prior, t, alpha; mse, the simulated mean of sum_{s'} (P_hat - P)^2, and its standard error over sequences
    of as many rows as states; closed_form, its expectation (`dirichlet_squared_error`).
    """
    rng, weight = np.random.default_rng(seed), np.array(alphas)
    truth = _equal_rows(sequences, np.array(P_o), concentration)
    memory = Memory.initial(*truth.P_o.shape[:3])
    found = []
    for t in range(1, max(tasks) + 1):
        P_t = rng.dirichlet(concentration * np.array(P_o), truth.P_o.shape[:3])
        P_bar = rng.multinomial(m, P_t) / m
        for prior in PRIORS if t in tasks else ():
            h = Estimator(mixing=1.0, prior=prior).prior_model(memory, P_bar, truth)
            squared = _squared_errors(P_bar - P_t, h - P_bar, weight)
            columns = {"prior": prior, "t": t, "alpha": weight, "mse": squared.mean(0)}
            columns["standard_error"] = squared.std(0, ddof=1) / sqrt(sequences)
            columns["closed_form"] = dirichlet_squared_error(weight, prior, t, concentration, P_o, m)
            found.append(pd.DataFrame(columns))
        memory = memory.update(P_bar)
    return pd.concat(found, ignore_index=True)


def mixing_rates_and_errors(
    concentration: float = 10.0,
    P_o: Sequence[float] = (0.1, 0.2, 0.3, 0.4),
    m: int = 5,
    tasks: Sequence[int] = (2, 5, 15),
) -> pd.DataFrame:
    """Where the mixing rates lie on the curves of `squared_error_against_alpha`.

    Columns: prior, t, mixing, alpha, closed_form. The similarity that they are told is the true one.
    """
    truth = _equal_rows(1, np.array(P_o), concentration)
    memory = Memory.initial(*truth.P_o.shape[:3])
    rows = []
    for prior, t, mixing in product(PRIORS, tasks, ("paper", "mse_bound", "mse_optimal")):
        estimator = Estimator(mixing=mixing, prior=prior, similarity="known")
        sigma = estimator.similarity_estimate(memory, m, truth)
        alpha = float(estimator.mixing_rate(t, m, sigma, memory, truth).item())
        error = dirichlet_squared_error(np.array([alpha]), prior, t, concentration, P_o, m).item()
        rows.append({"prior": prior, "t": t, "mixing": mixing, "alpha": alpha, "closed_form": error})
    return pd.DataFrame(rows)


def dirichlet_squared_error(
    alpha: Float[np.ndarray, " G"], prior: str, t: int, concentration: float, P_o: Sequence[float], m: int
) -> Float[np.ndarray, " G"]:
    """E sum_{s'} (P_hat_t - P_t)^2 of a row P_t ~ Dir(c P_o), for t >= 2.

    With V = sum p (1 - p), an entry's variance over tasks and that of one sampled transition sum to V/(c + 1) and
    V c/(c + 1). An inclusive prior of weight alpha is an exclusive one of weight alpha (t - 1)/t.
    """
    spread = float(np.sum(np.array(P_o) * (1.0 - np.array(P_o))))
    between, noise = spread / (concentration + 1.0), spread * concentration / (concentration + 1.0) / m
    weight = alpha * (t - 1) / t if prior == "inclusive" else alpha
    of_prior = between if prior == "known" else between + (between + noise) / (t - 1)
    return weight**2 * of_prior + (1.0 - weight) ** 2 * noise


def _equal_rows(n: int, P_o: Float[np.ndarray, " S"], concentration: float) -> Truth:
    """What is true of Dirichlet tasks of which all rows have the same mean."""
    shape = (n, len(P_o), 1, len(P_o))
    return Truth(np.broadcast_to(P_o, shape), np.broadcast_to(P_o * (1.0 - P_o) / (concentration + 1.0), shape))


def _squared_errors(own: Models, pull: Models, weight: Float[np.ndarray, " G"]) -> Float[np.ndarray, "n G"]:
    """sum_{s'} (own + weight pull)^2 in each run, its mean over rows: a parabola in the weight."""
    constant, linear, square = (
        (a * b).sum(-1).mean((1, 2))[:, None] for a, b in ((own, own), (own, pull), (pull, pull))
    )
    return constant + 2.0 * weight * linear + weight**2 * square
