"""Simulate the mixing rates of a learned similarity (Alg. 2, Sec. 5.2)."""

import pandas as pd

from pomrl.components import RegularisedLeastSquares
from pomrl.study import Dirichlet, Fixed, Method, PolicyIteration, Problem, tables


def learned_mixing_rates(
    sequences: int = 200, sigma: float = 0.01, m: int = 5, T: int = 15, S: int = 10, seed: int = 0
) -> "pd.DataFrame":
    """Simulate the mixing rates of ada-POMRL on random chains (Sec. 5).

    `sigma` is a variance, and `m` the number of transitions from each (s, a). From each pair half of the states are
    unreachable.

    Returns:
        A row for each sequence and task, with the columns run, task and alpha.
    """
    chains = Dirichlet(zeros=S // 2)
    problem = Problem(S=S, A=2, m=m, T=T, sigma=sigma, gamma_eval=0.99, seed=seed, task_distribution=chains)
    ada = RegularisedLeastSquares(mixing="paper", similarity="welford")
    method = Method(estimator=ada, gamma_schedule=Fixed(gamma=0.99), planner=PolicyIteration())
    (table,) = tables(problem, [method], range(sequences))
    return table[["run", "task", "alpha"]]
