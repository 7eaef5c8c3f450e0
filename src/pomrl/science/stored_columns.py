"""The columns of the tables of experiments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from pomrl.science import learning
from pomrl.science.mdp import Criterion

if TYPE_CHECKING:  # because it takes long to load
    import pandas


@dataclass(frozen=True, eq=False)
class PlannedStack:
    """The N models of several tasks in all runs, with policies for K estimates."""

    criterion: Criterion
    P: Float[np.ndarray, "N S A S"]
    R: Float[np.ndarray, "N S A"]
    """True rewards R(s, a), expected over next states."""
    V_star: Float[np.ndarray, "N S"]
    P_hat: Float[np.ndarray, "N K S A S"]
    policy: Int[np.ndarray, "N K G *S"]
    """Policies; over a horizon also by steps to go."""
    gamma: Float[np.ndarray, "N K G"]
    alpha: Float[np.ndarray, "N _K"]
    """Mixing rates, one for each memory: K, or 1 if the trials share it."""
    sigma: Float[np.ndarray, "N _K"]


@dataclass(frozen=True)
class Column:
    """A table column, with a number per run, task and discount factor."""

    name: str
    label: str
    """Label on the axes of plots."""
    unit: str
    """Unit of the numbers; empty if none."""
    meaning: str
    """Description in documents."""
    values: Callable[[PlannedStack], np.ndarray] | None = None
    """Function from a stack to its numbers, [N] or [N, G], averaged over trials; None for indices and metrics."""
    dtype: str = "float64"
    is_finite: bool = True
    """Whether NaN is an error."""


def _mean_gamma(stack: PlannedStack) -> Float[np.ndarray, "N G"]:
    """Return the mean over trials, exact if all trials have one value."""
    gamma = stack.gamma
    return np.where((gamma == gamma[:, :1]).all(1), gamma[:, 0], gamma.mean(1))


def _planning_loss(stack: PlannedStack) -> Float[np.ndarray, "N G"]:
    N, K, G, *policy = stack.policy.shape
    loss = stack.criterion.planning_loss(stack.P, stack.R, stack.policy.reshape(N, K * G, *policy), stack.V_star)
    return loss.reshape(N, K, G).mean(1)


def _model_error(stack: PlannedStack) -> Float[np.ndarray, " N"]:
    return learning.largest_errors(stack.P_hat, stack.P).mean(1)


COLUMNS = (
    Column(
        "run",
        "Run",
        "",
        "number of the run, from 0; runs are independent, and run i of all methods on the same problem sees the same "
        "tasks, and the same data unless the learner collects them",
        dtype="int32",
    ),
    Column("task", "Task t", "", "number of the task in the run, from 1 to T", dtype="int16"),
    Column(
        "gamma",
        "Discount factor γ",
        "",
        "discount factor of planning: each one of the grid, or the one chosen by the schedule or the agent",
        _mean_gamma,
    ),
    Column(
        "planning_loss",
        "Planning loss",
        "discounted reward",
        "optimal value minus value of the policy, both in the true model at `gamma_eval`, at least 0: the largest over "
        "states (`loss=max`) or the mean over states (`loss=mean`)",
        _planning_loss,
    ),
    Column(
        "alpha",
        "Mixing rate α",
        "",
        "mixing rate: the weight of the prior in the estimate, from 0 to 1; the same for all rows of a task",
        lambda stack: stack.alpha.mean(1),
        is_finite=False,
    ),
    Column(
        "sigma_hat",
        "Similarity σ",
        "probability",
        "standard deviation between tasks that the estimator assumes or learns; NaN for an estimator without one",
        lambda stack: stack.sigma.mean(1),
        is_finite=False,
    ),
    Column(
        "model_error",
        "Largest error of the model",
        "probability",
        "largest absolute error of the estimated transition probabilities over states, actions and next states",
        _model_error,
        is_finite=False,
    ),
)
"""Columns of every table, with one row per (run, task, gamma), sorted."""

MEASURED = "measured"
"""The name of the column of a metric."""

METRIC_COLUMN = Column(
    MEASURED,
    "Metric",
    "unit of the metric",
    "the number of the metric; only in experiments with a metric other than the planning loss",
)
"""Additional column of experiments with a metric."""

SCHEMA = {column.name: column.dtype for column in COLUMNS}
"""The types of the columns of every table."""

Columns = dict[str, np.ndarray]
"""Columns of a table for a stack, [N] or [N, G]."""


def evaluate(stack: PlannedStack) -> Columns:
    """Return a stack's columns except run, task and metric."""
    return {column.name: column.values(stack) for column in COLUMNS if column.values}


def tabulate(stacks: Sequence[Columns], runs: Sequence[int], T: int) -> "pandas.DataFrame":
    """Return a table sorted by run, task and gamma, from stacks in task order."""
    import pandas as pd

    n, G = len(runs), stacks[0]["gamma"].shape[1]
    columns = {"run": np.repeat(runs, T * G), "task": np.tile(np.repeat(np.arange(1, T + 1), G), n)}
    for name in stacks[0]:
        by_task = np.concatenate([stack[name] for stack in stacks]).reshape(T, n, -1)
        columns[name] = np.broadcast_to(by_task.swapaxes(0, 1), (n, T, G)).ravel()
    described = [column for column in (*COLUMNS, METRIC_COLUMN) if column.name in columns]
    return pd.DataFrame({column.name: columns[column.name].astype(column.dtype) for column in described})


def loss_array(table: "pandas.DataFrame") -> tuple[Float[np.ndarray, "n T G"], Float[np.ndarray, " G"]]:
    """Return planning losses [n, T, G], and the discount factors.

    The table is complete and sorted. With a schedule, G is 1, and gamma is from the first row.
    """
    shape = table["run"].nunique(), table["task"].nunique(), -1
    loss = table["planning_loss"].to_numpy(float).reshape(shape)
    return loss, table["gamma"].to_numpy(float)[: loss.shape[-1]]
