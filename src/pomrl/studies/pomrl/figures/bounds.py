"""The figures of bounds: on the loss of a plan, on the average regret, and where the latter are vacuous."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pomrl.studies.pomrl.averages import average_of_first
from pomrl.studies.pomrl.theory.bound_tables import regret_bounds, upper_bound_curves, vacuity_map
from pomrl.study import (
    TEXT_WIDTH,
    Drawing,
    Kind,
    Look,
    Panel,
    Problem,
    Series,
    StoredSweeps,
    UniformBall,
    at_gamma,
    figure,
    look,
    panels,
    points_of_panels,
    running_average,
    sequence,
    series_of,
)

BOUNDS = {
    "as_printed": Look("Bound, as printed", "#a02020", "", ":"),
    "corrected": Look("Bound, corrected", "#999999", "", "-"),
    "sharpened": Look("Bound, sharpened", "black", "", "--"),
}
"""The bounds on the average regret, by their variants; where two are almost equal, dashes leave both to be seen."""

UNCERTAINTIES = sequence((0.02, 0.1, 0.3, 0.6, 1.0), "C = {:g}".format)
MINIMA = {
    "as_printed": Look("minimum, as printed", "#a02020", "X", "", size=6.0),
    "corrected": Look("minimum, corrected", "black", "o", "", size=4.0),
}
FINE_GAMMAS = np.append(np.linspace(0.0, 0.98, 99), 0.99).tolist()
TRIVIAL = 100.0
"""The trivial bound 1/(1 - gamma_eval), which no loss exceeds."""


@figure()
def upper_bound(_: StoredSweeps) -> Drawing:
    """The upper bound and its minimum.

    The upper bound U(gamma) of Sec. 6.2 for several values of the uncertainty C, and its minimum by Proposition 1 (E1).

    The minimum is marked where the proposition puts it as printed, and where it is by the corrected formula. U bounds
    the regret only up to gamma_eval, so curves and minima are cut there.
    """
    data = pd.concat([*_upper_bound_points("a"), *_upper_bound_points("b")], ignore_index=True)
    figure, (a, b) = panels.row_of_panels(2, TEXT_WIDTH, 2.8)
    for ax, panel, title in ((a, "a", "Near the minimum"), (b, "b", "All of it")):
        panels.curves(ax, data, [*_of_uncertainties(panel), *_minima(panel)])
        panels.gamma_axis(ax)
        panels.letter(ax, panel, title)
        ax.axhline(TRIVIAL, color="0.4", linewidth=0.8, linestyle="--", label="no loss exceeds this")
        ax.set_ylabel("U(γ)")
    a.set_ylim(85.0, 105.0)
    b.set_yscale("log")
    b.set_ylim(60.0, 20_000.0)
    b.set_yticks([100, 1000, 10_000])
    panels.shared_legend(figure, [a, b], columns=4)
    return panels.finish(figure, data)


def _of_uncertainties(panel: str) -> list[Series]:
    return [Series(look, settings={"C": C}, panel=panel) for C, look in UNCERTAINTIES.items()]


def _minima(panel: str) -> list[Series]:
    return [Series(look, settings={"variant": variant}, panel=panel) for variant, look in MINIMA.items()]


def _upper_bound_points(panel: str) -> list[pd.DataFrame]:
    curves, minima = upper_bound_curves(list(UNCERTAINTIES), FINE_GAMMAS)
    of_curves = [series.values(curves, "gamma", "U", "bound") for series in _of_uncertainties(panel)]
    return of_curves + [series.values(minima, "gamma", "U", "bound") for series in _minima(panel)]


SIGMAS = (0.0, 0.01, 0.1)
SAMPLES = sorted({5, *np.geomspace(1, 10**7, 57).round().astype(int).tolist()})
TASKS = 15
VACUOUS = [
    [Series(look, settings={"sigma": sigma, "variant": variant}, panel=panel) for variant, look in BOUNDS.items()]
    for panel, sigma in zip("abc", SIGMAS, strict=True)
]


@figure()
def vacuous_bounds(_: StoredSweeps) -> Drawing:
    """The discount factors from which on the bounds are vacuous.

    Each curve shows the gamma from which on a bound on the average regret is vacuous, against the samples m.

    For all gamma above a curve the bound exceeds 1/(1 - gamma_eval), which no loss does. There is a panel for each
    sigma (the almost-sure bound); T = 15.
    """
    vacuity = vacuity_map(SAMPLES, [TASKS], SIGMAS)
    bounds = [series.values(vacuity, "m", "vacuous_from", "bound") for of_panel in VACUOUS for series in of_panel]
    data = pd.concat(bounds, ignore_index=True)
    figure, axes = panels.row_of_panels(3, TEXT_WIDTH, 2.5, share_y=True)
    for ax, of_panel, sigma in zip(axes, VACUOUS, SIGMAS, strict=True):
        panels.curves(ax, data, of_panel)
        panels.letter(ax, of_panel[0].panel, f"σ = {sigma:g}")
        ax.set_xscale("log")
        ax.set_xticks([1, 100, 10_000, 1_000_000])
        ax.axvline(5, color="0.4", linewidth=0.8, linestyle=":", label="the paper's m")
        ax.set_xlabel("Samples m")
        ax.set_ylim(0.0, 1.02)
    axes[0].set_ylabel("γ from which it is vacuous")
    panels.shared_legend(figure, axes, columns=4)
    return panels.finish(figure, data)


GAMMA = 0.9
GAMMAS = [*(np.arange(20) / 20).tolist(), 0.99]
AGAINST_T = {"a": (0.0, 100_000, 30), "b": (0.01, 100_000, 30), "c": (0.03, 100_000, 30)}
AGAINST_GAMMA = {"d": (0.01, 5, 5), "e": (0.01, 20, 5), "f": (0.01, 5, 30)}
"""The sigma, m and T of each panel."""


def problem(sigma: float, m: int, T: int) -> Problem:
    """Return the problem that a panel shows, which is one of the sweep `theory`."""
    return Problem(
        S=10, A=2, m=m, T=T, sigma=sigma, gamma_eval=0.99, seed=0, task_distribution=UniformBall(zeros=5, measure="std")
    )


def _panel(letter: str, sigma: float, m: int, T: int) -> Panel:
    view = running_average(at_gamma(GAMMA)) if letter in AGAINST_T else average_of_first(T)
    series = Series(look("pomrl"), "theory", {"sigma": sigma, "batches": f"m{m}_T{T}"}, view)
    title = f"σ = {sigma:g}, m = {m:,}"
    if letter in AGAINST_T:
        return Panel(title, [series], "task", "se").lettered(letter)
    return Panel(f"{title}, T = {T}", [series], "gamma", "se").lettered(letter)


PANELS = [_panel(letter, *of) for letter, of in (AGAINST_T | AGAINST_GAMMA).items()]
SERIES = series_of(PANELS)


@figure(series=SERIES)
def average_regret(sweeps: StoredSweeps, kind: Kind | None = None) -> Drawing:
    """Measured regret beside its bounds.

    The measured average regret of POMRL(sigma) beside the bounds on it.

    Panels (a) to (c) show the regret against the number of tasks T, for three values of sigma, at gamma = 0.9 and with
    m = 100,000 samples in each task. Panels (d) to (f) show it against gamma for pairs of m and T, at the smallest
    sigma above 0. Tasks are uniform in a ball, because the theory assumes that they are bounded, and sigma is a
    standard deviation. Bands show one standard error. Above panels (a) to (c) are the bounds, which are thousands of
    times larger; where only one of them can be seen there, the corrected and the sharpened one are almost equal.
    """
    bounds = [points for letter in (*AGAINST_T, *AGAINST_GAMMA) for points in _bound_points(letter)]
    data = pd.concat([points_of_panels(sweeps, PANELS, kind), *bounds], ignore_index=True)
    figure = panels.blank(TEXT_WIDTH, 5.2)
    rows = figure.add_gridspec(3, 1, height_ratios=[0.7, 1.0, 1.7])
    above, measured, against_gamma = (figure.add_subfigure(row) for row in rows)
    (lower,) = panels.grid_of_panels(measured, 1, 3, share_y=True)
    (below,) = panels.grid_of_panels(against_gamma, 1, 3, share_y=True)
    (upper,) = panels.grid_of_panels(above, 1, 3, share_y=True)
    _draw_against_T(upper, lower, data)
    _draw_against_gamma(below, data)
    panels.shared_legend(against_gamma, [*below, *lower], columns=5)
    return panels.finish(figure, data, SERIES, sweeps)


def _draw_against_T(upper: Sequence[Axes], lower: Sequence[Axes], data: pd.DataFrame) -> None:
    """Draw each of panels (a) to (c) in two pieces, since linear axes show both the bounds and the regret."""
    for top, bottom, panel in zip(upper, lower, PANELS[:3], strict=True):
        panels.curves(top, data, _bounds(panel.letter))
        _limit(top)
        panels.curves(bottom, data, [*panel.series, *_bounds(panel.letter)])
        for ax in (top, bottom):
            panels.task_axis(ax, _bounds(panel.letter)[0].of(data))
        top.set(xlabel="", xticklabels=[])
        bottom.set_xlabel("Number of tasks T")
        panels.letter(top, panel.letter, panel.title)
    shown = data[data["panel"].isin(AGAINST_T.keys())]
    upper[0].set(ylabel="Bounds", ylim=(0.0, 1.1 * shown["mean"].max()))
    lower[0].set(ylabel="Average regret", ylim=(0.0, 1.1 * shown.loc[shown["n"] > 0, ["mean", "upper"]].max().max()))


def _draw_against_gamma(axes: Sequence[Axes], data: pd.DataFrame) -> None:
    for ax, panel in zip(axes, PANELS[3:], strict=True):
        panels.curves(ax, data, [*panel.series, *_bounds(panel.letter)])
        _limit(ax)
        panels.gamma_axis(ax)
        ax.set_yscale("log")
        panels.letter(ax, panel.letter, panel.title)
    shown = data.loc[data["panel"].isin(AGAINST_GAMMA.keys()), "mean"]
    axes[0].set(ylabel="Average regret", ylim=(0.3 * shown[shown > 0.0].min(), 2.0 * shown.max()))


def _limit(ax: Axes) -> None:
    ax.axhline(100.0, color="0.4", linewidth=0.8, linestyle="-.", label="no loss exceeds this")


def _bounds(letter: str) -> list[Series]:
    shown = {"gamma": GAMMA} if letter in AGAINST_T else {"T": AGAINST_GAMMA[letter][2]}
    return [Series(look, settings={"variant": name, **shown}, panel=letter) for name, look in BOUNDS.items()]


def _bound_points(letter: str) -> list[pd.DataFrame]:
    table = regret_bounds(problem(*(AGAINST_T | AGAINST_GAMMA)[letter]), GAMMAS)
    x = "T" if letter in AGAINST_T else "gamma"
    return [series.values(table, x, "bound", "bound") for series in _bounds(letter)]
