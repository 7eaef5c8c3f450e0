"""Tables of the bounds, which figures draw. Nothing is simulated here."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from pomrl.study import (
    VERSIONS,
    Problem,
    UniformBall,
    average_regret_bound,
    average_uncertainty,
    regret_upper_bound,
    upper_bound_gamma,
)

S, A, GAMMA_EVAL = 10, 2, 0.99
"""The states, actions and discount factor of evaluation of the paper's random MDPs."""

DELTA = 0.05
"""The probability that a bound may fail."""


def regret_bounds(problem: Problem, gammas: Sequence[float]) -> "pd.DataFrame":
    """Return the bounds on the average regret of POMRL(sigma) over the first T tasks of a problem, T = 1..problem.T.

    The prior is the inclusive one, and the bounds may fail with probability `DELTA`. The similarity in the mixing rate
    is the largest standard deviation over entries; sigma in the bounds is the almost-sure radius of run 0, which is
    that of all runs where rows have equally many states.

    Args:
        problem: The problem, whose tasks have to be `UniformBall`: bounded almost surely.
        gammas: Discount factors that are planned with, in [0, problem.gamma_eval].

    Returns:
        A row for each variant, T and gamma, with the columns variant, T, gamma; bound, a discounted reward; trivial,
        1/(1 - gamma_eval), which no loss exceeds; and vacuous, whether the bound is at or above that.

    Raises:
        ValueError: The tasks of the problem are not `UniformBall`, or values are not those of the bounds.
    """
    if not isinstance(problem.task_distribution, UniformBall):
        name = type(problem.task_distribution).__name__
        raise ValueError(f"task_distribution {name}: the bounds need tasks that are bounded almost surely: UniformBall")
    if problem.gamma_eval == 1.0 or problem.horizon is not None or problem.task_distribution.reward_spread:
        raise ValueError(
            "the bounds are for rewards in [0, 1] and gamma_eval < 1: set horizon=null and reward_spread=0"
        )
    mean = problem.mean(0)
    radius = problem.task_distribution.almost_sure_radius(mean)
    table = pd.DataFrame(product(VERSIONS, range(1, problem.T + 1), gammas), columns=["variant", "T", "gamma"])
    bounds = [
        average_regret_bound(
            gamma=np.array(gammas), gamma_eval=problem.gamma_eval, m=problem.m, sigma=radius, plugged=mean.sigma,
            S=problem.S, A=problem.A, T=np.arange(1, problem.T + 1)[:, None], delta=DELTA, variant=variant,
        )
        for variant in VERSIONS
    ]  # fmt: skip
    table["bound"] = np.array(bounds).ravel()
    trivial = 1.0 / (1.0 - problem.gamma_eval)
    return table.assign(trivial=trivial, vacuous=table["bound"] >= trivial)


def vacuity_map(ms: Sequence[int], Ts: Sequence[int], sigmas: Sequence[float]) -> "pd.DataFrame":
    """Return where the bounds on the average regret say something, for each m, T and sigma (the almost-sure bound).

    The MDPs are the paper's, and the bounds may fail with probability `DELTA`.

    Returns:
        A row for each variant, m, T and sigma, with the columns variant, m, T, sigma; C, the uncertainty; gamma, at
        which the bound is least, cut at GAMMA_EVAL; bound, its value there, a discounted reward; trivial,
        1/(1 - GAMMA_EVAL), which no loss exceeds; and vacuous_from, 1/(1 + C), the gamma from which on the bound is at
        or above the trivial one.
    """
    table = pd.DataFrame(product(VERSIONS, ms, Ts, sigmas), columns=["variant", "m", "T", "sigma"])
    m, T, sigma = np.meshgrid(ms, Ts, sigmas, indexing="ij")
    C = np.array(
        [average_uncertainty(m=m, T=T, sigma=sigma, S=S, A=A, delta=DELTA, variant=variant) for variant in VERSIONS]
    ).ravel()
    gamma = np.minimum(upper_bound_gamma(C), GAMMA_EVAL)
    bound = regret_upper_bound(gamma, C, GAMMA_EVAL)
    return table.assign(C=C, gamma=gamma, vacuous_from=1.0 / (1.0 + C), bound=bound, trivial=1.0 / (1.0 - GAMMA_EVAL))


def upper_bound_curves(Cs: Sequence[float], gammas: Sequence[float]) -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Return the curves U(gamma) for each C, and where Prop. 1 puts their minima, as printed and corrected.

    Args:
        Cs: Constants of the uncertainty term, at least 0.
        gammas: Discount factors in [0, GAMMA_EVAL].

    Returns:
        The curves, with the columns C, gamma, U; and the minima, with the columns C, variant, gamma (cut at GAMMA_EVAL)
        and U. U is a discounted reward.
    """
    curves = pd.DataFrame(product(Cs, gammas), columns=["C", "gamma"])
    variants = ("as_printed", "corrected")
    minima = pd.DataFrame(product(variants, Cs), columns=["variant", "C"])[["C", "variant"]]
    lowest = [upper_bound_gamma(np.array(Cs), variant) for variant in variants]
    minima["gamma"] = np.minimum(np.array(lowest).ravel(), GAMMA_EVAL)
    for table in (curves, minima):
        table["U"] = regret_upper_bound(table["gamma"].to_numpy(), table["C"].to_numpy(), GAMMA_EVAL)
    return curves, minima
