"""Comparisons with what the notebook prints, and with the curves of its figures."""

import numpy as np
import pandas as pd
from examples.notebook.losses import GAMMA_EVAL, GAMMAS, mean_loss
from examples.notebook.schedules import curves, dong_rates, nearest


def computed(similarity: pd.DataFrame, schedules: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return all that the notebook prints or draws, by the names in the tables of `stored`: along tasks, or gamma.

    Args:
        similarity: The losses of the runs of cells 44, 45, 55 and 61: those of ada-POMRL at all discount factors, and
            those of the other estimators at 0.99 at least.
        schedules: The losses of the runs of cells 48 to 50, those of ada-POMRL among them.
    """
    loss, schedule_loss = (mean_loss(losses[losses["estimator"] == "ada-POMRL"]) for losses in (similarity, schedules))
    at_gamma_eval = similarity[similarity["gamma"] == GAMMA_EVAL].groupby(["estimator", "task"], observed=True)["loss"]
    return {
        "ada-POMRL t=1": loss[0],
        "min loss": loss.min(-1),
        "gamma*": GAMMAS[loss.argmin(-1)],
        "dong mixing rate": np.append(np.nan, dong_rates()),
        **curves(schedule_loss),
        **{str(name): by_task.to_numpy() for name, by_task in at_gamma_eval.mean().groupby("estimator", observed=True)},
    }


def compared(notebook: pd.DataFrame, by_series: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return what the notebook shows with the columns `ours`, `size` of the difference, and `in_reading_errors`.

    The last is the size divided by the error of reading; for a printed number that is 1e-12, because rounding differs
    with the method that solves the equations.
    """
    index = np.where(notebook["gamma"].notna(), nearest(notebook["gamma"].fillna(0).to_numpy()), notebook["task"] - 1)
    ours = np.array([by_series[name][i] for name, i in zip(notebook["series"], index, strict=True)])
    size = np.abs(ours - notebook["value"])
    return notebook.assign(ours=ours, size=size, in_reading_errors=size / notebook["reading_error"])
