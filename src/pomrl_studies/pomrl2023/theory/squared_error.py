"""Mean squared errors by weight of the prior, for Dirichlet tasks (App. B, E4).

A closed form checks the simulation.
"""

from collections.abc import Sequence
from itertools import product
from math import sqrt

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.components import Batch, Memory, Models, RegularisedLeastSquares
from pomrl.study import PRIORS
from pomrl_studies.pomrl2023.theory.dirichlet_tasks import DirichletTasks

DIRICHLET = DirichletTasks(concentration=10.0, P_o=(0.1, 0.2, 0.3, 0.4), m=5)
"""The distribution of the tasks."""

TASKS = (2, 5, 15)
"""The numbers t of the evaluated tasks."""


def squared_error_against_alpha(
    alphas: Sequence[float],
    dirichlet: DirichletTasks = DIRICHLET,
    tasks: Sequence[int] = TASKS,
    sequences: int = 4000,
    seed: int = 0,
) -> "pd.DataFrame":
    """Simulate the mean squared error of a row for each weight alpha.

    `alphas` must be in [0, 1], and all `tasks` and `sequences` at least 2.

    Returns:
        A row for each t, prior and alpha, with the mean mse, its standard_error, and its expectation closed_form.
    """
    rng, weight = np.random.default_rng(seed), np.array(alphas)
    truth = dirichlet.truth(sequences)
    shape = truth.P_o.shape[:3]
    memory = Memory.initial(*shape)
    tables = []
    for t in range(1, max(tasks) + 1):
        P_t = rng.dirichlet(dirichlet.pseudo_counts, shape)
        batch = Batch.of_counts(rng.multinomial(dirichlet.m, P_t), dirichlet.m, equal=True)
        after = memory.update(batch)
        for prior in PRIORS if t in tasks else ():
            h = RegularisedLeastSquares(mixing=1.0, prior=prior).prior_model(memory, after, truth)
            squared = _squared_errors(batch.P_bar - P_t, h - batch.P_bar, weight)
            columns = {"prior": prior, "t": t, "alpha": weight, "mse": squared.mean(0)}
            columns["standard_error"] = squared.std(0, ddof=1) / sqrt(sequences)
            columns["closed_form"] = dirichlet_squared_error(weight, prior, t, dirichlet)
            tables.append(pd.DataFrame(columns))
        memory = after
    return pd.concat(tables, ignore_index=True)


def mixing_rates_and_errors(dirichlet: DirichletTasks = DIRICHLET, tasks: Sequence[int] = TASKS) -> "pd.DataFrame":
    """Compute mixing rates at the true similarity, and their squared errors.

    All `tasks` must be at least 2. Rows by prior, t and mixing have alpha and closed_form.
    """
    truth = dirichlet.truth(1)
    memory = Memory.initial(*truth.P_o.shape[:3])
    rows = []
    for prior, t, mixing in product(PRIORS, tasks, ("paper", "mse_bound", "mse_optimal")):
        estimator = RegularisedLeastSquares(mixing=mixing, prior=prior, similarity="known")
        sigma = estimator.similarity_estimate(memory, dirichlet.m, truth)
        alpha = float(estimator.mixing_rate(t, dirichlet.m, sigma, memory, truth).item())
        error = dirichlet_squared_error(np.array([alpha]), prior, t, dirichlet).item()
        rows.append({"prior": prior, "t": t, "mixing": mixing, "alpha": alpha, "closed_form": error})
    return pd.DataFrame(rows)


def dirichlet_squared_error(
    alpha: Float[np.ndarray, " G"], prior: str, t: int, dirichlet: DirichletTasks
) -> Float[np.ndarray, " G"]:
    """Compute a row's expected squared error in task t >= 2, by alpha.

    With concentration c and V = sum p (1 - p), the variances over tasks sum to V/(c + 1). The variances of a sampled
    transition sum to V c/(c + 1). An inclusive prior of weight alpha is an exclusive one of weight alpha (t - 1)/t.
    """
    c, P_o = dirichlet.concentration, np.array(dirichlet.P_o)
    spread = float(np.sum(P_o * (1.0 - P_o)))
    between, noise = spread / (c + 1.0), spread * c / (c + 1.0) / dirichlet.m
    weight = alpha * (t - 1) / t if prior == "inclusive" else alpha
    prior_error = between if prior == "known" else between + (between + noise) / (t - 1)
    return weight**2 * prior_error + (1.0 - weight) ** 2 * noise


def _squared_errors(own: Models, pull: Models, weight: Float[np.ndarray, " G"]) -> Float[np.ndarray, "n G"]:
    """Return sum_{s'} (own + weight pull)^2 in each run, averaged over rows."""
    constant, linear, square = (
        (a * b).sum(-1).mean((1, 2))[:, None] for a, b in ((own, own), (own, pull), (pull, pull))
    )
    return constant + 2.0 * weight * linear + weight**2 * square
