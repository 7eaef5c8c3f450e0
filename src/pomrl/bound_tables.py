"""Tables of the bounds, for figures: no draws, no planning."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from pomrl.bounds import average_regret_bound, average_uncertainty, regret_upper_bound, upper_bound_gamma
from pomrl.concentration import VARIANTS
from pomrl.experiment import Problem
from pomrl.task_distributions import UniformBall


def regret_bounds(
    problem: Problem, gammas: Sequence[float], prior: str = "inclusive", delta: float = 0.05
) -> pd.DataFrame:
    """The bounds on the average regret of POMRL(sigma) over the first T tasks of a problem with `UniformBall` tasks.

    The largest over entries of the standard deviation is plugged into the mixing rate; the bounds have the almost-sure
    radius of run 0, which is that of all runs where rows have equally many states. Columns: variant, T, gamma, bound;
    trivial, which no loss exceeds; vacuous, whether the bound is not below that. ValueError for other tasks.
    """
    if not isinstance(problem.task_distribution, UniformBall):
        name = type(problem.task_distribution).__name__
        raise ValueError(f"task_distribution {name}: the bounds need tasks that are bounded almost surely: UniformBall")
    mean = problem.mean(0)
    radius = problem.task_distribution.almost_sure_radius(mean)
    T, gamma = np.arange(1, problem.T + 1), np.array(gammas)
    found = []
    for variant in VARIANTS:
        bound = average_regret_bound(
            gamma=gamma, gamma_eval=problem.gamma_eval, m=problem.m, sigma=radius, plugged=mean.sigma, S=problem.S,
            A=problem.A, T=T[:, None], delta=delta, variant=variant, prior=prior,
        )  # fmt: skip
        columns = {"T": np.repeat(T, len(gamma)), "gamma": np.tile(gamma, len(T)), "bound": np.ravel(bound)}
        found.append(pd.DataFrame({"variant": variant, **columns}))
    table = pd.concat(found, ignore_index=True)
    trivial = 1.0 / (1.0 - problem.gamma_eval)
    return table.assign(trivial=trivial, vacuous=table["bound"] >= trivial)


def vacuity_map(
    ms: Sequence[int],
    Ts: Sequence[int],
    sigmas: Sequence[float],
    S: int = 10,
    A: int = 2,
    delta: float = 0.05,
    gamma_eval: float = 0.99,
    prior: str = "inclusive",
) -> pd.DataFrame:
    """Where the bounds on the average regret say something, against m, T and sigma (the almost-sure bound).

    Columns: variant, m, T, sigma; C, the uncertainty; gamma, where the bound is least, cut at gamma_eval; bound, its
    value there; trivial = 1/(1 - gamma_eval); vacuous_from = 1/(1 + C), the gamma from which on the bound is not below
    the trivial one.
    """
    m, T, sigma = np.meshgrid(ms, Ts, sigmas, indexing="ij")
    found = []
    for variant in VARIANTS:
        uncertainty = average_uncertainty(m=m, T=T, sigma=sigma, S=S, A=A, delta=delta, variant=variant, prior=prior)
        C = np.asarray(uncertainty)
        gamma = np.minimum(upper_bound_gamma(C), gamma_eval)
        columns = {"m": m, "T": T, "sigma": sigma, "C": C, "gamma": gamma, "vacuous_from": 1.0 / (1.0 + C)}
        columns["bound"] = regret_upper_bound(gamma, C, gamma_eval)
        found.append(pd.DataFrame({"variant": variant, **{name: np.ravel(column) for name, column in columns.items()}}))
    return pd.concat(found, ignore_index=True).assign(trivial=1.0 / (1.0 - gamma_eval))


def upper_bound_curves(
    Cs: Sequence[float], gammas: Sequence[float], gamma_eval: float = 0.99
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """U(gamma) for each C, and where Prop. 1 puts its minimum, as printed and corrected.

    Columns of the curves: C, gamma, U. Of the minima: C, variant, gamma (cut at gamma_eval), U.
    """
    C, gamma = (axis.ravel() for axis in np.meshgrid(Cs, gammas, indexing="ij"))
    curves = pd.DataFrame({"C": C, "gamma": gamma, "U": regret_upper_bound(gamma, C, gamma_eval)})
    minima = []
    for variant in ("as_printed", "corrected"):
        at = np.minimum(upper_bound_gamma(np.array(Cs), variant), gamma_eval)
        U = regret_upper_bound(at, np.array(Cs), gamma_eval)
        minima.append(pd.DataFrame({"C": Cs, "variant": variant, "gamma": at, "U": U}))
    return curves, pd.concat(minima, ignore_index=True)
