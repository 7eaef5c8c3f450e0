"""γ*, the discount factor with the smallest mean planning loss (Sec. 2, Sec. 6.3).

Mean losses of equal policies differ by rounding. So γ* is the largest discount factor within `MEAN_TIE_TOLERANCE` of
the smallest mean loss.
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.gamma_schedules import Hindsight, HindsightChoice, Scope
from pomrl.science.stored_columns import loss_array

if TYPE_CHECKING:  # because it takes long to load
    import pandas

MEAN_TIE_TOLERANCE = 1e-12
"""Largest difference of tied mean losses, in units of max(1, smallest, largest / 100) of the mean losses."""

_ORDINARY_LOSS = 100.0
"""Upper bound on losses with rewards in [0, 1] at gamma_eval = 0.99."""


def best_index(mean: Float[np.ndarray, "*B G"]) -> Int[np.ndarray, "*B"]:
    """Return the index of γ* on each curve over ascending discount factors.

    ValueError: a mean loss is NaN.
    """
    if (is_nan := np.isnan(mean)).any():
        raise ValueError(f"mean losses must be numbers, got NaN at index {np.argwhere(is_nan)[0].tolist()}")
    by_gamma = np.ascontiguousarray(np.moveaxis(mean, -1, 0))  # minima over a short last axis are slow
    smallest = by_gamma.min(0)
    size = np.maximum(smallest, by_gamma.max(0) / _ORDINARY_LOSS)
    tied = by_gamma <= smallest + MEAN_TIE_TOLERANCE * np.maximum(1.0, size)
    index = np.arange(len(tied), dtype=np.int16).reshape(-1, *[1] * smallest.ndim)
    return np.asarray((tied * index).max(0).astype(np.intp))


def minimising(gammas: Float[np.ndarray, " G"], mean: Float[np.ndarray, "*B G"]) -> Float[np.ndarray, "*B"]:
    """Return γ* of each curve of mean losses; NaN for a curve with NaN.

    ValueError: the discount factors do not ascend strictly.
    """
    if (np.diff(gammas) <= 0).any():
        raise ValueError(f"gammas must be strictly ascending, got {gammas.tolist()}")
    unknown = np.asarray(np.isnan(mean).any(-1))
    if not unknown.any():
        return np.asarray(gammas[best_index(mean)])
    return np.where(unknown, np.nan, gammas[best_index(np.where(unknown[..., None], 0.0, mean))])


def hindsight_index(loss: Float[np.ndarray, "n T G"], scope: Scope, choice: HindsightChoice) -> Int[np.ndarray, "n T"]:
    """Return the index of the discount factor chosen in hindsight (Sec. 6.3).

    It minimises the mean loss over runs (`population`), or the loss of each run (`per_run`, R8). The scope
    `all_tasks` also averages over tasks.
    """
    axes = (0,) * (choice == "population") + (1,) * (scope == "all_tasks")
    index = best_index(loss.mean(axes, keepdims=True) if axes else loss)
    return np.broadcast_to(index, loss.shape[:2])


def in_hindsight(table: "pandas.DataFrame", schedule: Hindsight) -> "pandas.DataFrame":
    """Select the rows chosen in hindsight, one per run and task.

    The table is sorted and complete. ValueError: its discount factors differ from the grid of the schedule.
    """
    loss, gammas = loss_array(table)
    if gammas.tolist() != schedule.gammas:
        raise ValueError(f"the table must have the discount factors {schedule.gammas}, got {gammas.tolist()}")
    index = hindsight_index(loss, schedule.scope, schedule.choice).ravel()
    return table.iloc[np.arange(len(index)) * len(gammas) + index].reset_index(drop=True)
