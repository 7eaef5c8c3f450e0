"""Draw what a shorter horizon saves, and what a prior is worth with each horizon."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import TEXT_WIDTH, Figure, Look, Series, StoredSweeps, collect, figure, look, palette, panels
from pomrl.study import Result, ScalarEstimate, SweepResults, ratio
from pomrl_studies.board.claims.horizon import LABELS
from pomrl_studies.board.horizon import FAMILIES, NONE, at_eval, mean_share, saved

LEARNERS = {name: Series(look(name), "horizons", {"estimator": name}, panel="a") for name in LABELS}
FAMILY_POINTS = [
    Series(
        Look(f"{series.look.label}, {family}", series.look.color, series.look.marker),
        "horizons",
        {"estimator": name, "task_distribution": family},
        panel="a",
    )
    for name, series in LEARNERS.items()
    for family in FAMILIES
]
HOSPITALS = [
    Series(Look("Hospitals of S1 and S2", "black", "o"), "icu_sepsis", panel="b"),
    Series(Look("Hospitals that differ more", palette.GREY, "X", "--"), "icu_sepsis_spread", panel="b"),
]

FAMILY_AREA, MEAN_SIZE = 7.0, 5.0
"""The area of a marker of a family in square points, and the size of that of a mean in points."""

SMALLEST_LOSS = 1.0
"""The lower end of the logarithmic axis of losses, in per cent."""


SERIES = [*FAMILY_POINTS, *LEARNERS.values(), *HOSPITALS]


def _points(sweeps: StoredSweeps) -> pd.DataFrame:
    return collect([*_savings(sweeps["horizons"]), *_worths(sweeps)], SERIES)


@figure("horizons", "icu_sepsis", "icu_sepsis_spread", points=_points, series=SERIES)
def horizon(data: pd.DataFrame) -> Figure:
    """The better the prior, the less a shorter horizon saves.

    What the best fixed gamma saves in families of models (a), and what a prior is worth with each gamma in ICU-Sepsis
    (b).

    In (a), small points are families, and large ones means over families, with 95 % intervals. Both axes are in per
    cent of the loss of no meta-learning at gamma_eval; losses below 1 % are drawn at 1 %. One half of the runs selects
    gamma, the other gives the saving. In (b), the prior is the mean over the actions of a state. Its worth is the loss
    of planning on frequencies, less the loss with the prior. It is in per cent of the loss of frequencies at
    gamma_eval, with 95 % intervals.
    """
    canvas, axes = panels.row_of_panels(2, TEXT_WIDTH, 3.0)
    _draw_savings(axes[0], data)
    _draw_worths(axes[1], data)
    panels.add_shared_legend(canvas, axes)
    return canvas


def _savings(sweep: SweepResults) -> Iterator[pd.DataFrame]:
    """Yield a point for each learner and family, and for the mean over families."""
    for series in (*FAMILY_POINTS, *LEARNERS.values()):
        results = sweep.where(**series.settings)
        none = sweep.where(**{**series.settings, "estimator": NONE})
        if results.values and results.values == none.values:
            yield _saving(series, results.results, none.results)


def _saving(series: Series, results: Sequence[Result], none: Sequence[Result]) -> pd.DataFrame:
    """Return the mean saving over cells by the mean loss, in per cent."""
    runs = min(result.runs for result in (*results, *none))
    learner, without = ([result.first_runs(runs) for result in column] for column in (results, none))
    loss, saving = (mean_share(numbers, at_eval(without)) for numbers in (at_eval(learner), saved(learner)))
    return _estimates(series, [(100.0 * loss.value, saving)])


def _worths(sweeps: StoredSweeps) -> Iterator[pd.DataFrame]:
    for series in HOSPITALS:
        none, prior = (sweeps[series.sweep].where(estimator=name).results for name in (NONE, "action_prior"))
        if none and prior:
            yield _worth(series, none[0], prior[0])


def _worth(series: Series, none: Result, prior: Result) -> pd.DataFrame:
    """Return the worth of the prior by place of gamma in the grid, in per cent."""
    runs = min(none.runs, prior.runs)
    frequencies, with_prior = (result.first_runs(runs).average_curve for result in (none, prior))
    whole = frequencies[:, -1]
    worths = [ratio(whole + frequencies[:, i] - with_prior[:, i], whole) for i in range(len(none.gammas))]
    return _estimates(series, [*zip(none.gammas, worths, strict=True)])


def _estimates(series: Series, estimates: Sequence[tuple[float, ScalarEstimate]]) -> pd.DataFrame:
    rows = [
        (x, *(100.0 * np.array([estimate.value, estimate.lower, estimate.upper])), estimate.units)
        for x, estimate in estimates
    ]
    return series.points(pd.DataFrame(rows, columns=["x", "mean", "lower", "upper", "n"]), "x", "95 % interval")


def _draw_savings(ax: Axes, data: pd.DataFrame) -> None:
    for series in FAMILY_POINTS:
        points = series.of(data)
        x, color, marker = points["x"].clip(lower=SMALLEST_LOSS), series.look.color, series.look.marker
        ax.scatter(x, points["mean"], s=FAMILY_AREA, c=color, marker=marker, alpha=0.5, linewidths=0)
    for series in LEARNERS.values():
        _draw_interval(ax, series.of(data), series.look)
    ax.axhline(0.0, color="black", linewidth=0.5)
    ax.set_xscale("log")
    ax.set_xticks([1, 10, 100], ["1", "10", "100"])
    ax.set_xlabel("Loss at γₑᵥₐₗ, % of no meta-learning")
    ax.set_ylabel("Saved by the best γ, %")
    panels.letter(ax, "a", "Better priors save less by a shorter horizon")


def _draw_worths(ax: Axes, data: pd.DataFrame) -> None:
    gammas = sorted(data.loc[data["panel"] == "b", "x"].unique())
    for series in HOSPITALS:
        points = series.of(data)
        _draw_interval(
            ax, points.assign(x=[gammas.index(gamma) for gamma in points["x"]]), series.look, series.look.linestyle
        )
    ax.axhline(0.0, color="black", linewidth=0.5)
    ax.set_xticks(range(len(gammas)), [f"{gamma:g}" for gamma in gammas])
    ax.set_xlabel("Discount factor γ")
    ax.set_ylabel("Worth of the prior, %")
    panels.letter(ax, "b", "ICU-Sepsis: at γ = 0.5, a prior is worth almost nothing")


def _draw_interval(ax: Axes, points: pd.DataFrame, look: Look, linestyle: str = "") -> None:
    half = np.abs(points[["lower", "upper"]].to_numpy().T - points["mean"].to_numpy())
    style = {
        "color": look.color,
        "marker": look.marker,
        "markersize": MEAN_SIZE,
        "linestyle": linestyle,
        "label": look.label,
    }
    ax.errorbar(points["x"], points["mean"], half, **style)
