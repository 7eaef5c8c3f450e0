"""Planning, the losses of one run of the notebook, and those of many runs.

The notebook plans by policy iteration from "the second action everywhere", and takes the first action only where it is
strictly better. Its rewards are continuous, so that ties do not occur, and every exact planner gives the same policies.
"""

from functools import cache, partial

import numpy as np
import pandas as pd
from examples.notebook.draws import TASKS, Run, draw_run
from examples.notebook.learners import WITH_META_UPDATE, estimated_models
from jaxtyping import Float
from joblib import Parallel, delayed

from pomrl.science import mdp
from pomrl.science.planners import PolicyIteration

GAMMAS = np.append(np.arange(0, 0.99, 0.1), 0.99)
"""The grid of discount factors. The text does not state its grid."""

GAMMA_EVAL = 0.99
"""The discount factor at which policies are judged."""


def planning_loss(run: Run, models: Float[np.ndarray, "T trials S A S"]) -> Float[np.ndarray, "T G"]:
    """Return the mean over trials of the planning loss, in each task and for each discount factor.

    The loss of a policy is the *mean over states* of V* - V^pi, both at gamma = 0.99 in the true task. In the text it
    is the maximum over states. The figures average over 100 batches of each task and then over runs, where the text
    speaks of runs alone.
    """
    T, trials, S, A, _ = models.shape
    R = np.broadcast_to(run.R, (T, S, A))
    rows = models.reshape(-1, S, A, S)
    policies = PolicyIteration().plan(rows, np.broadcast_to(run.R, (len(rows), S, A)), GAMMAS)
    losses = mdp.planning_loss(run.P, R, policies.reshape(T, -1, S), GAMMA_EVAL, norm="mean")
    return losses.reshape(T, trials, len(GAMMAS)).mean(1)


def losses_of_runs(seeds: range, concentration: float, estimators: tuple[str, ...], workers: int = 1) -> pd.DataFrame:
    """Return the losses of many runs as a table.

    Args:
        seeds: The seed of each run. The notebook uses consecutive ones.
        concentration: The factor c of the Dirichlet parameters (see `draws.draw_run`).
        estimators: Names among `learners.ESTIMATORS`.
        workers: The number of processes that compute runs.

    Returns:
        One row for each run, estimator, task and discount factor, with the columns `seed`, `concentration_over_S`,
        `estimator`, `task`, `gamma` and `loss`.
    """
    calls = [delayed(_table_of_run)(seed, concentration, estimators) for seed in seeds]
    return pd.concat(Parallel(n_jobs=workers)(calls), ignore_index=True)


def _table_of_run(seed: int, concentration: float, estimators: tuple[str, ...]) -> pd.DataFrame:
    draw = cache(partial(draw_run, seed, concentration))
    runs = ((draw(with_meta_update=estimator in WITH_META_UPDATE), estimator) for estimator in estimators)
    losses = np.stack([planning_loss(run, estimated_models(run, estimator)) for run, estimator in runs])
    labels = [[seed], [concentration], estimators, range(1, TASKS + 1), GAMMAS]
    index = pd.MultiIndex.from_product(labels, names=["seed", "concentration_over_S", "estimator", "task", "gamma"])
    return pd.DataFrame({"loss": losses.ravel()}, index).reset_index()


def mean_loss(table: pd.DataFrame) -> Float[np.ndarray, "T G"]:
    """Return the mean over runs of the losses of one estimator at one concentration, by task and discount factor."""
    return table.pivot_table("loss", "task", "gamma").to_numpy()
