"""Comparisons with what the notebook prints, and with the curves of its figures."""

import numpy as np
import pandas as pd
from examples.notebook import stored
from examples.notebook.losses import GAMMA_EVAL, GAMMAS, mean_loss
from examples.notebook.schedules import curves, dong_rates, nearest

PRECISION = 1e-12
"""How far a computed number may be from a printed one: rounding differs with the method that solves the equations."""


def printed_losses(similarity: pd.DataFrame) -> pd.DataFrame:
    """Compare the smallest loss of each task with the notebook's (cells 44 and 55).

    Args:
        similarity: The losses of the runs of these cells (see `losses.losses_of_runs`), those of ada-POMRL among them.

    Returns:
        The rows of `printed.csv`, with the columns `ours`, `our_gamma` and `difference` in addition.
    """
    loss = mean_loss(_of("ada-POMRL", similarity))
    printed = stored.read("printed.csv")
    best = loss[printed["task"] - 1]
    ours = best.min(-1)
    return printed.assign(ours=ours, our_gamma=GAMMAS[best.argmin(-1)], difference=ours - printed["smallest_loss"])


def printed_series(similarity: pd.DataFrame) -> pd.DataFrame:
    """Compare gamma* of each task (cell 45) and the mixing rates of Dong's schedule (cells 48 and 50).

    Args:
        similarity: The losses of the runs of cell 45, those of ada-POMRL among them.

    Returns:
        The rows of `printed_series.csv`, with the columns `ours` and `difference` in addition.
    """
    best = mean_loss(_of("ada-POMRL", similarity)).argmin(-1)
    ours = {"gamma*": dict(enumerate(GAMMAS[best], 1)), "dong mixing rate": dict(enumerate(dong_rates(), 2))}
    printed = stored.read("printed_series.csv")
    values = [ours[series][task] for series, task in zip(printed["series"], printed["task"], strict=True)]
    return printed.assign(ours=values, difference=values - printed["value"])


def disagreements(losses: pd.DataFrame, series: pd.DataFrame) -> int:
    """Return how many printed numbers are not reproduced: losses and rates to `PRECISION`, gamma* exactly.

    Args:
        losses: The result of `printed_losses`.
        series: The result of `printed_series`.
    """
    allowed = np.where(series["series"] == "gamma*", 0, PRECISION)
    # printed.csv has the discount factors in short form: 0.7 is the grid's 0.7000000000000001
    other_gamma = nearest(losses["gamma"].to_numpy()) != nearest(losses["our_gamma"].to_numpy())
    wrong_losses = (losses["difference"].abs() > PRECISION) | other_gamma
    return int(wrong_losses.sum() + (series["difference"].abs() > allowed).sum())


def drawn_curves(similarity: pd.DataFrame, schedules: pd.DataFrame) -> pd.DataFrame:
    """Compare with the curves of cells 44, 45, 48 to 50, 55 and 61, which were read off by eye.

    Args:
        similarity: The losses of the runs of cells 44, 45, 55 and 61: those of ada-POMRL at all discount factors, and
            those of the other estimators at 0.99 at least.
        schedules: The losses of the runs of cells 48 to 50, those of ada-POMRL among them.

    Returns:
        The points of `stored.digitised`, with the columns `ours`, `size` (of the difference) and `in_reading_errors` in
        addition. The last is the size divided by the error of reading.
    """
    drawn = stored.digitised()
    loss = mean_loss(_of("ada-POMRL", similarity))
    best = loss.argmin(-1)
    at_gamma_eval = similarity[similarity["gamma"] == GAMMA_EVAL].groupby(["estimator", "task"], observed=True)["loss"]
    by_series = {
        "ada-POMRL t=1": loss[0],
        "min loss": loss.min(-1),
        "gamma*": GAMMAS[best],
        **curves(mean_loss(_of("ada-POMRL", schedules))),
        **{str(name): by_task.to_numpy() for name, by_task in at_gamma_eval.mean().groupby("estimator", observed=True)},
    }
    along_gamma = drawn["gamma"].notna()
    position = np.where(along_gamma, nearest(drawn["gamma"].fillna(0).to_numpy()), drawn["task"] - 1)
    ours = np.array([by_series[series][i] for series, i in zip(drawn["series"], position, strict=True)])
    size = np.abs(ours - drawn["value"])
    return drawn.assign(ours=ours, size=size, in_reading_errors=size / drawn["reading_error"])


def _of(estimator: str, losses: pd.DataFrame) -> pd.DataFrame:
    return losses[losses["estimator"] == estimator]
