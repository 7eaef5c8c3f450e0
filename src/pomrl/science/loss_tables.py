"""The tables of experiments: their columns, how they are made of stacks of tasks, and how losses are read from them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

SCHEMA = {
    "run": "int32",
    "task": "int16",
    "gamma": "float64",
    "planning_loss": "float64",
    "alpha": "float64",
    "sigma_hat": "float64",
    "model_error": "float64",
}
"""Columns of an experiment's table and their types; it has one row per (run, task, gamma) and is sorted by them."""


Columns = dict[str, np.ndarray]
"""Columns of a table for a stack of N = tasks times runs models, of shape [N] or [N, G]."""

MEASURED = "measured"
"""The column of a metric in the tables of an experiment that has one; the other columns are those of every table."""


def tabulate(stacks: Sequence[Columns], runs: Sequence[int], T: int) -> "pd.DataFrame":
    """Return the table, sorted by run, task and gamma, of stacks that are sorted by task and run."""
    n, G = len(runs), stacks[0]["gamma"].shape[1]
    columns = {"run": np.repeat(runs, T * G), "task": np.tile(np.repeat(np.arange(1, T + 1), G), n)}
    for name in stacks[0]:
        by_task = np.concatenate([stack[name] for stack in stacks]).reshape(T, n, -1)
        columns[name] = np.broadcast_to(by_task.swapaxes(0, 1), (n, T, G)).ravel()
    types = SCHEMA | ({MEASURED: "float64"} if MEASURED in columns else {})
    return pd.DataFrame({name: columns[name].astype(dtype) for name, dtype in types.items()})


def loss_array(table: "pd.DataFrame") -> tuple[Float[np.ndarray, "n T G"], Float[np.ndarray, " G"]]:
    """Return the planning losses of a table as an array over runs, tasks and discount factors, and the latter.

    Where a schedule chose the discount factors, G is 1, and the discount factor returned is that of the first row.

    Args:
        table: A complete table that is sorted by run, task and discount factor, as every stored table is.

    Raises:
        ValueError: If the number of rows is not a multiple of the number of runs times the number of tasks.
    """
    shape = table["run"].nunique(), table["task"].nunique(), -1
    loss = table["planning_loss"].to_numpy(float).reshape(shape)
    return loss, table["gamma"].to_numpy(float)[: loss.shape[-1]]
