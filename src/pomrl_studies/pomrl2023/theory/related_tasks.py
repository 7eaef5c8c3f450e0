"""Simulate related tasks and their estimates by POMRL, for Figure 1."""

from itertools import repeat

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.components import Batch, RegularisedLeastSquares, Truth
from pomrl.study import Batches, UpperBound, pomrl
from pomrl_studies.pomrl2023.theory.dirichlet_tasks import DirichletTasks

DIRICHLET = DirichletTasks(concentration=20.0, P_o=(0.5, 0.3, 0.2), m=5)
"""The distribution of the tasks of Figure 1."""


def related_tasks(
    dirichlet: DirichletTasks = DIRICHLET, sequences: int = 200, T: int = 15, gamma_eval: float = 0.99, seed: int = 0
) -> "pd.DataFrame":
    """Simulate POMRL(sigma) on sequences of Dirichlet tasks with repeated rows.

    Returns:
        A row for each task and sequence, with the task's model P, batch P_bar, prior, estimate P_hat, and gamma.
    """
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(dirichlet.pseudo_counts, (T, sequences))
    counts = rng.multinomial(dirichlet.m, P)
    in_all_states = np.repeat(counts[:, :, None, None], dirichlet.S, axis=2)
    batches = list(Batch.of_counts(in_all_states, dirichlet.m, equal=True))
    truth, estimator = dirichlet.truth(sequences), RegularisedLeastSquares(mixing="paper", similarity="known")
    tasks = zip(map(Batches.same, batches), repeat(truth))
    to_plan = list(pomrl(tasks, dirichlet.m, estimator, UpperBound(), gamma_eval))
    P_hat = np.stack([task.P_hat[:, 0, 0, 0] for task in to_plan])
    rows = {"P": P, "P_bar": counts / dirichlet.m, "prior": _priors(batches, truth, estimator), "P_hat": P_hat}
    index = pd.MultiIndex.from_product([range(1, T + 1), range(sequences)], names=["task", "run"])
    columns = {f"{name}_{s + 1}": values[..., s].ravel() for name, values in rows.items() for s in range(dirichlet.S)}
    columns["gamma"] = np.concatenate([task.gamma[:, 0] for task in to_plan])
    return pd.DataFrame(columns, index=index).reset_index()


def _priors(batches: list[Batch], truth: Truth, estimator: RegularisedLeastSquares) -> Float[np.ndarray, "T n S"]:
    memory, priors = estimator.initial_memory(*truth.P_o.shape[:3]), []
    for batch in batches:
        after = estimator.learn(memory, batch)
        priors.append(estimator.prior_model(memory, after, truth)[:, 0, 0])
        memory = after
    return np.stack(priors)
