"""What differs between experiments: in their settings, in what follows from them, and in their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.config import METHOD as METHOD_GROUPS
from pomrl.statistics import Interval, bootstrap_weights, difference, minimising


@dataclass(frozen=True)
class Side:
    """One of the things that are compared: its settings, what follows from them, and its table if it is stored."""

    name: str
    settings: Mapping[str, Any]
    derived: Mapping[str, Any]
    table: pd.DataFrame | None


def differences(sides: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The keys whose values differ, in value or in type, with the value of each side: None where it lacks the key."""
    keys = dict.fromkeys(key for side in sides for key in side)
    values = {key: [side.get(key) for side in sides] for key in keys}
    return {key: of_key for key, of_key in values.items() if len({repr(value) for value in of_key}) > 1}


def same_problem(a: Side, b: Side) -> bool:
    """Whether two sides see the same draws, so that their runs can be compared in pairs."""
    return all(key.partition(".")[0] in METHOD_GROUPS for key in differences([a.settings, b.settings]))


@dataclass(frozen=True)
class Results:
    """What is compared of a table, for each of n runs; every number is a mean over tasks."""

    at_largest: Float[np.ndarray, " n"]
    """Loss at the largest gamma: gamma_eval on the default grid, the chosen one where a schedule chose."""
    minimum: Float[np.ndarray, " n"]
    """Loss at each task's gamma*, which is that of the mean over runs."""
    loss: Float[np.ndarray, "n T G"]
    gammas: Float[np.ndarray, " G"]


def results(table: pd.DataFrame, runs: int) -> Results:
    """The results of the first `runs` runs."""
    table = table.loc[table["run"] < runs]
    tasks = len(np.unique(table["task"]))
    loss = table["planning_loss"].to_numpy().reshape(runs, tasks, -1)
    best = loss.mean(0).argmin(-1)
    minimum = np.take_along_axis(loss, best[None, :, None], -1)[..., 0]
    gammas = table["gamma"].to_numpy()[: loss.shape[-1]]
    return Results(loss[..., -1].mean(1), minimum.mean(1), loss, gammas)


def result_differences(a: Side, b: Side) -> dict[str, Interval]:
    """What b has more than a, with intervals over runs; empty where a side is not stored.

    Runs of one problem are compared in pairs. The interval of gamma* is a bootstrap over runs, together where paired.
    """
    if a.table is None or b.table is None:
        return {}
    paired = same_problem(a, b)
    counts = [int(side.table["run"].max()) + 1 for side in (a, b)]  # type: ignore[index]
    n_a, n_b = [min(counts)] * 2 if paired else counts
    first, second = results(a.table, n_a), results(b.table, n_b)
    found = {"loss at the largest gamma": difference(first.at_largest, second.at_largest, paired)}
    if len(first.gammas) > 1 and len(second.gammas) > 1:
        found["minimum loss"] = difference(first.minimum, second.minimum, paired)
        found["gamma*"] = _gamma_difference(first, second, paired)
    return found


def _gamma_difference(a: Results, b: Results, paired: bool) -> Interval:
    resampled = [_best_gammas(side, seed) for side, seed in ((a, 0), (b, 0 if paired else 1))]
    lower, upper = np.quantile(resampled[1] - resampled[0], [0.025, 0.975])
    estimate = [minimising(side.gammas, side.loss.mean(0)).mean() for side in (a, b)]
    return Interval(float(estimate[1] - estimate[0]), float(lower), float(upper))


def _best_gammas(side: Results, seed: int, resamples: int = 1000) -> Float[np.ndarray, " B"]:
    """gamma*, on average over tasks, in each resample of the runs."""
    n, T, G = side.loss.shape
    means = (bootstrap_weights(n, resamples, seed) @ side.loss.reshape(n, T * G)).reshape(resamples, T, G)
    return minimising(side.gammas, means.reshape(resamples * T, G)).reshape(resamples, T).mean(-1)
