"""How near the losses by the paper's text are to the curves that the authors' notebook shows.

The losses by the text were published before the notebook was known, so that they are a blind prediction of its curves.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.study import Losses, Setting, best_index, minimising

SWEEPS = ("task_similarity", "gamma_schedules", "gamma_0")
"""The published sweeps that the prediction consists of."""

LARGEST_SIGMA = 0.047
"""The similarity, as the paper writes it, of the tasks in cells 44, 45, 55 and 61 of the notebook."""

ESTIMATORS = {"oracle": "oracle", "without": "without_meta", "POMRL": "pomrl", "ada-POMRL": "ada_pomrl"}
"""The names of our options, by those of the digitised curves of cell 61."""

FIGURES = {
    61: "5c: loss in each task, σ = 0.047",
    44: "5f: loss of ada-POMRL in task 1 against γ, σ = 0.047",
    45: "4c: smallest loss in each task, and γ*",
    48: "6a: running average of the schedules' losses",
    50: "6b: the same, without γ_eval",
    49: "6c: the same, for four γ_0",
}
"""The figures of the paper, or their counterparts, by the cells of the notebook. Cell 55 repeats the curve of 44."""


def prediction_error(digitised: pd.DataFrame, settings: Mapping[str, Sequence[Setting]]) -> pd.DataFrame:
    """Compare the digitised curves of the notebook with the losses by the text.

    Args:
        digitised: The columns cell, series, task, gamma and value.
        settings: The experiments of the sweeps in `SWEEPS`.

    Returns:
        A row for each figure and kind of number, with the columns cell, figure, of (loss or γ*), points, theirs and
        ours (means over the points), distance (mean absolute difference, relative to the mean of theirs for losses)
        and correlation (of the points).
    """
    ours = {**_at_largest_sigma(settings["task_similarity"]), **_running_averages(settings)}
    points = digitised[digitised["cell"].isin(FIGURES) & digitised["value"].notna()].copy()
    points["ours"] = [_value(ours, row) for row in points.to_dict("records")]
    points["of"] = np.where(points["series"] == "gamma*", "γ*", "loss")
    rows = []
    for cell, figure in FIGURES.items():
        for of, group in points[points["cell"] == cell].groupby("of", sort=False):
            theirs, predicted = group["value"].to_numpy(float), group["ours"].to_numpy(float)
            distance = np.abs(predicted - theirs).mean() / (theirs.mean() if of == "loss" else 1.0)
            means = {"theirs": theirs.mean(), "ours": predicted.mean(), "distance": distance}
            correlation = np.corrcoef(theirs, predicted)[0, 1]
            rows.append(
                {"cell": cell, "figure": figure, "of": of, "points": len(group), **means, "correlation": correlation}
            )
    return pd.DataFrame(rows)


def _value(ours: Mapping[str, Float[np.ndarray, " n"]], point: Mapping) -> float:
    """Return our number for a digitised point, by its task or, on a curve against gamma, by linear interpolation."""
    curve = ours[str(point["series"])]
    if np.isnan(point["gamma"]):
        return float(curve[int(point["task"]) - 1])
    return float(np.interp(point["gamma"], ours["gammas"], curve))


def _losses(settings: Sequence[Setting], **options: str | float) -> Losses:
    """Return the losses of the one setting with these values of varied keys, in the runs that the sweep promises."""
    wanted = {key.replace("__", "."): value for key, value in options.items()}
    (found,) = (each for each in settings if wanted.items() <= each.varied.items())
    return Losses.of_experiment(found.experiment, found.experiment.request.runs)


def _at_largest_sigma(settings: Sequence[Setting]) -> dict[str, Float[np.ndarray, " n"]]:
    curves = {name: _losses(settings, sigma=LARGEST_SIGMA, estimator=ours) for name, ours in ESTIMATORS.items()}
    ada_pomrl = curves["ada-POMRL"]
    mean = ada_pomrl.loss.mean(0)
    against_gamma = {"gammas": ada_pomrl.gammas, "ada-POMRL t=1": mean[0]}
    best = {"min loss": mean.min(-1), "gamma*": minimising(ada_pomrl.gammas, mean)}
    return {name: losses.at_eval.mean(0) for name, losses in curves.items()} | against_gamma | best


def _running_averages(settings: Mapping[str, Sequence[Setting]]) -> dict[str, Float[np.ndarray, " T"]]:
    """Return the running averages over tasks of POMRL's losses with each schedule, as the text has them."""
    of_schedules, of_offsets = settings["gamma_schedules"], settings["gamma_0"]
    grid = _losses(of_schedules, estimator="pomrl", gamma_schedule="grid").loss.mean(0)
    dong = _losses(of_schedules, estimator="pomrl", gamma_schedule="dong").at_eval.mean(0)
    by_task = {
        "gamma_eval": grid[:, -1],
        "best_fixed": grid[:, best_index(grid.mean(0))],
        "dynamic_best": grid.min(-1),
        "dong": dong,
    }
    for offset in (0.25, 0.35, 0.45, 0.5):
        losses = _losses(of_offsets, gamma_schedule__gamma_0=offset)
        by_task[f"upper_bound_{offset:.2f}"] = losses.at_eval.mean(0)
    return {name: loss.cumsum() / np.arange(1, len(loss) + 1) for name, loss in by_task.items()}
