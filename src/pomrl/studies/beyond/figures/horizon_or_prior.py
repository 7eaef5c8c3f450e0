"""A shorter horizon, or a better prior?."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pomrl.study import (
    TEXT_WIDTH,
    Drawing,
    Losses,
    Series,
    StoredSweeps,
    bootstrap_means,
    collect,
    figure,
    gain_of_best_gamma,
    look,
    panels,
)

SWEEP = "horizon_or_prior"

LOOKS = {name: look(name) for name in (
    "without_meta", "ada_pomrl", "pomrl", "aggregating", "oracle", "empirical_bayes", "bayes",
)}  # fmt: skip

SIGMAS = (0.01, 0.025, 0.047)

RESAMPLES = 200
"""Number of bootstrap resamples of the runs."""


def _series(panel: str, sigma: float) -> list[Series]:
    return [Series(look, SWEEP, {"sigma": sigma, "estimator": name}, panel=panel) for name, look in LOOKS.items()]


GAINS = [_series(panel, sigma) for panel, sigma in zip("abc", SIGMAS, strict=True)]
WEIGHTS = [_series(panel, sigma) for panel, sigma in zip("def", SIGMAS, strict=True)]


@figure(SWEEP)
def horizon_or_prior(sweeps: StoredSweeps) -> Drawing:
    """A shorter horizon, or a better prior?.

    What a shorter horizon gains for learners with a worse and a better prior, and the prior that it stands for.

    Panels (a) to (c): the loss at gamma_eval less that at the best fixed gamma, as an average over tasks. The gamma is
    chosen on one half of the runs and judged on the other; bars are 95 % intervals. Panels (d) to (f): the weight 1 -
    γ/γ_eval of a prior without information that planning with γ is equivalent to, at the γ* of each task; bands show
    one bootstrap standard deviation.
    """
    wanted = [series for panel in [*GAINS, *WEIGHTS] for series in panel]
    data = collect([*_gains(sweeps), *_weights(sweeps)], wanted)
    figure = panels.blank(TEXT_WIDTH, 5.2)
    gains, weights = panels.grid_of_panels(figure, 2, len(SIGMAS), share_y=True)
    for ax, of_panel, sigma in zip(gains, GAINS, SIGMAS, strict=True):
        _draw_gains(ax, data, of_panel)
        panels.letter(ax, of_panel[0].panel, f"σ = {sigma:g}")
    for ax, of_panel, sigma in zip(weights, WEIGHTS, SIGMAS, strict=True):
        panels.curves(ax, data, of_panel)
        panels.task_axis(ax, data[data["panel"] == of_panel[0].panel])
        panels.letter(ax, of_panel[0].panel, f"σ = {sigma:g}")
    gains[0].set_ylabel("Gain of best γ")
    weights[0].set_ylabel("Prior weight of γ*")
    panels.shared_legend(figure, weights, columns=4)
    return panels.finish(figure, data, wanted, sweeps)


def _gains(sweeps: StoredSweeps) -> Iterator[pd.DataFrame]:
    """Yield the gain of each series as a point; its place on the horizontal axis is that of the estimator."""
    for of_panel in GAINS:
        for place, series in enumerate(of_panel):
            rows = series.rows(sweeps)
            if len(rows):
                losses = Losses.of_table(rows)
                gain = gain_of_best_gamma(losses)
                point = {"mean": [gain.estimate], "lower": [gain.lower], "upper": [gain.upper]}
                bands = pd.DataFrame({"place": [place], **point, "n": [len(losses.loss)]})
                yield series.points(bands, "place", "95 % interval")


def _weights(sweeps: StoredSweeps) -> Iterator[pd.DataFrame]:
    """Yield the equivalent prior weight of γ* in each task."""
    for of_panel in WEIGHTS:
        for series in of_panel:
            rows = series.rows(sweeps)
            if len(rows):
                yield series.points(_weight_by_task(Losses.of_table(rows)), "task", "bootstrap sd")


def _weight_by_task(losses: Losses) -> pd.DataFrame:
    """Return the weight of γ* in each task, with its bootstrap standard deviation over runs as a band."""
    gamma_eval, n = float(losses.gammas[-1]), len(losses.loss)
    weight = 1.0 - losses.best(losses.loss.mean(0)) / gamma_eval
    resampled = losses.best(bootstrap_means(losses.loss, RESAMPLES, seed=0))
    deviation = (1.0 - resampled / gamma_eval).std(0, ddof=1) if n > 1 else np.nan
    bands = pd.DataFrame({"task": np.arange(1, len(weight) + 1), "mean": weight, "n": n})
    return bands.assign(lower=weight - deviation, upper=weight + deviation)


def _draw_gains(ax: Axes, data: pd.DataFrame, of_panel: list[Series]) -> None:
    """Draw a bar of the interval with the marker of the estimator for each series."""
    for series in of_panel:
        points = series.of(data)
        if len(points):
            half = np.abs(points[["lower", "upper"]].to_numpy().T - points["mean"].to_numpy())
            look = series.look
            ax.errorbar(points["x"], points["mean"], half, color=look.color, marker=look.marker, linestyle="")
    ax.axhline(0.0, color="black", linewidth=0.5)
    ax.set_xticks([])
