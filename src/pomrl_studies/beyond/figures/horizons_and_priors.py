"""Draw gains of shorter horizons under different priors."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import TEXT_WIDTH, Figure, Look, Series, StoredSweeps, collect, figure, look, panels
from pomrl.study import Result, bootstrap_means, difference
from pomrl_studies.beyond.claims.horizons_and_priors import WEIGHTS, relative_gain

LEARNERS = {name: look(name) for name in (
    "without_meta", "ada_pomrl", "pomrl", "aggregating", "oracle", "empirical_bayes", "bayes",
)}  # fmt: skip

SIGMAS = (0.01, 0.025, 0.047)

RESAMPLES = 200
"""Number of bootstrap resamples of the runs."""


def _series(panel: str, sigma: float) -> list[Series]:
    return [
        Series(look, "horizon_or_prior", {"sigma": sigma, "estimator": name}, panel=panel)
        for name, look in LEARNERS.items()
    ]


GAINS = [_series(panel, sigma) for panel, sigma in zip("abc", SIGMAS, strict=True)]
WEIGHTS_OF_PRIORS = [_series(panel, sigma) for panel, sigma in zip("def", SIGMAS, strict=True)]


SERIES = [series for panel in [*GAINS, *WEIGHTS_OF_PRIORS] for series in panel]


def _points(sweeps: StoredSweeps) -> pd.DataFrame:
    return collect([*_gains_of_learners(sweeps), *_weights(sweeps)], SERIES)


@figure("horizon_or_prior", points=_points, series=SERIES)
def horizon_or_prior(data: pd.DataFrame) -> Figure:
    """With the prior known, a shorter horizon gains almost nothing.

    The gain of a shorter horizon for learners with worse and better priors, and the prior to which it is equivalent.

    Panels (a) to (c) show the loss at gamma_eval less the loss at the best fixed gamma, with 95 % intervals. One half
    of the runs selects this gamma, the other estimates its loss. Panels (d) to (f) show the weight 1 - γ/γ_eval of an
    equivalent uninformative prior, at the γ* of each task. Bands show one bootstrap standard deviation.
    """
    figure = panels.blank(TEXT_WIDTH, 5.2)
    gains, weights = panels.grid_of_panels(figure, 2, len(SIGMAS), share_y=True)
    for ax, panel_series, sigma in zip(gains, GAINS, SIGMAS, strict=True):
        _draw_gains(ax, data, panel_series)
        panels.letter(ax, panel_series[0].panel, f"σ = {sigma:g}")
    for ax, panel_series, sigma in zip(weights, WEIGHTS_OF_PRIORS, SIGMAS, strict=True):
        panels.curves(ax, data, panel_series)
        panels.task_axis(ax, data[data["panel"] == panel_series[0].panel])
        panels.letter(ax, panel_series[0].panel, f"σ = {sigma:g}")
    gains[0].set_ylabel("Gain of best γ")
    weights[0].set_ylabel("Prior weight of γ*")
    panels.add_shared_legend(figure, weights)
    return figure


def _gains_of_learners(sweeps: StoredSweeps) -> Iterator[pd.DataFrame]:
    for panel_series in GAINS:
        for position, series in enumerate(panel_series):
            rows = series.rows(sweeps)
            if len(rows):
                losses = Result.of_table(rows)
                gain = difference(losses.at_best_fixed(), losses.regret, paired=True)
                point = {"mean": [gain.estimate], "lower": [gain.lower], "upper": [gain.upper]}
                bands = pd.DataFrame({"place": [position], **point, "n": [len(losses.loss)]})
                yield series.points(bands, "place", "95 % interval")


def _weights(sweeps: StoredSweeps) -> Iterator[pd.DataFrame]:
    for panel_series in WEIGHTS_OF_PRIORS:
        for series in panel_series:
            rows = series.rows(sweeps)
            if len(rows):
                yield series.points(_weight_by_task(Result.of_table(rows)), "task", "bootstrap sd")


def _weight_by_task(losses: Result) -> pd.DataFrame:
    gamma_eval, n = float(losses.gammas[-1]), len(losses.loss)
    weight = 1.0 - losses.best(losses.loss.mean(0)) / gamma_eval
    resampled = losses.best(bootstrap_means(losses.loss, RESAMPLES))
    deviation = (1.0 - resampled / gamma_eval).std(0, ddof=1) if n > 1 else np.nan
    bands = pd.DataFrame({"task": np.arange(1, len(weight) + 1), "mean": weight, "n": n})
    return bands.assign(lower=weight - deviation, upper=weight + deviation)


def _draw_gains(ax: Axes, data: pd.DataFrame, panel_series: list[Series]) -> None:
    for series in panel_series:
        points = series.of(data)
        if len(points):
            half = np.abs(points[["lower", "upper"]].to_numpy().T - points["mean"].to_numpy())
            look = series.look
            ax.errorbar(points["x"], points["mean"], half, color=look.color, marker=look.marker, linestyle="")
    ax.axhline(0.0, color="black", linewidth=0.5)
    ax.set_xticks([])


MEANS = {
    "known": Look("Mean of the prior: true", look("oracle").color, "s"),
    "uniform": Look("Mean of the prior: uniform", look("without_meta").color, "D", "--"),
}

TRUE_WEIGHTS = {0.01: 0.83, 0.047: 0.46}
"""The weight of a prior with the true concentration, by sigma."""

PANELS = [
    [
        Series(look, "wrong_priors", {"sigma": sigma, "estimator.prior": prior}, panel=letter)
        for prior, look in MEANS.items()
    ]
    for letter, sigma in zip("ab", TRUE_WEIGHTS, strict=True)
]


SERIES_OF_MEANS = [series for panel in PANELS for series in panel]


def _points_of_means(sweeps: StoredSweeps) -> pd.DataFrame:
    return collect(_relative_gains(sweeps, SERIES_OF_MEANS), SERIES_OF_MEANS)


@figure("wrong_priors", points=_points_of_means, series=SERIES_OF_MEANS)
def wrong_priors(data: pd.DataFrame) -> Figure:
    """The gain of a shorter horizon under a wrong prior.

    The gain of a shorter horizon for a posterior mean, against the fixed weight of its prior.

    The gain is the relative difference between the losses at gamma_eval and at the best fixed gamma. One half of the
    runs selects this gamma, the other estimates its loss. The prior's mean is the true mean
    model or the uniform one. Dotted lines mark the true weight α = c / (c + m).
    """
    figure, axes = panels.row_of_panels(len(PANELS), TEXT_WIDTH, 2.6, share_y=True)
    for ax, panel_series, (sigma, weight) in zip(axes, PANELS, TRUE_WEIGHTS.items(), strict=True):
        panels.curves(ax, data, panel_series)
        ax.axvline(weight, color="black", linewidth=0.8, linestyle=":")
        ax.set_xlabel("Weight α of the prior")
        panels.letter(ax, panel_series[0].panel, f"σ = {sigma:g}")
    axes[0].set_ylabel("Relative gain of best γ")
    panels.add_shared_legend(figure, axes)
    return figure


def _relative_gains(sweeps: StoredSweeps, all_series: list[Series]) -> Iterator[pd.DataFrame]:
    for series in all_series:
        rows = series.rows(sweeps)
        rows_of_gains = []
        for weight in WEIGHTS:
            weight_rows = rows[rows["estimator.mixing"] == weight]
            if len(weight_rows):
                gain = relative_gain(Result.of_table(weight_rows))
                rows_of_gains.append((weight, gain.value, gain.lower, gain.upper, gain.units))
        bands = pd.DataFrame(rows_of_gains, columns=["weight", "mean", "lower", "upper", "n"])
        yield series.points(bands, "weight", "95 % interval")
