"""Draw the bounds on the loss and the average regret."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from matplotlib.axes import Axes

from pomrl.figures import (
    TEXT_WIDTH,
    Figure,
    Kind,
    Look,
    Panel,
    Series,
    StoredSweeps,
    at_gamma,
    figure,
    look,
    palette,
    panels,
    points_of_panels,
    running_average,
    sequence,
    series_of,
)
from pomrl.study import (
    Problem,
    UniformBall,
    average_regret_bound,
    average_uncertainty,
    regret_upper_bound,
    upper_bound_gamma,
)
from pomrl_studies.pomrl2023.averages import average_of_first

S, A, GAMMA_EVAL = 10, 2, 0.99
"""The numbers of states and actions, and gamma_eval, of the paper's random MDPs."""

DELTA = 0.05
"""The probability that a bound may fail."""

BOUNDS = {
    "as_printed": Look("Bound, as printed", palette.DARK_RED, "", ":"),
    "corrected": Look("Bound, corrected", palette.LIGHT_GREY, "", "-"),
    "sharpened": Look("Bound, sharpened", "black", "", "--"),
}
"""The versions of the bound on the average regret; dashes keep almost equal ones visible."""

UNCERTAINTIES = sequence((0.02, 0.1, 0.3, 0.6, 1.0), "C = {:g}".format)
MINIMA: Mapping[Literal["as_printed", "corrected"], Look] = {
    "as_printed": Look("minimum, as printed", palette.DARK_RED, "X", "", size=6.0),
    "corrected": Look("minimum, corrected", "black", "o", "", size=4.0),
}
FINE_GAMMAS = np.append(np.linspace(0.0, 0.98, 99), 0.99)
TRIVIAL = 100.0
"""The trivial bound 1/(1 - gamma_eval) on any loss."""


def _points_near_minimum(_: StoredSweeps) -> pd.DataFrame:
    return pd.concat([points for panel in "ab" for points in _upper_bound_points(panel)], ignore_index=True)


@figure(points=_points_near_minimum)
def upper_bound(data: pd.DataFrame) -> Figure:
    """The printed formula misses the minimum of the upper bound.

    The upper bound U(gamma) of Sec. 6.2 for several values of the uncertainty C, and its minimum by Proposition 1 (E1).

    Markers show the minimum by the printed and by the corrected formula. Curves end at gamma_eval, as the bound does.
    """
    figure, (a, b) = panels.row_of_panels(2, TEXT_WIDTH, 2.8)
    for ax, panel, title in ((a, "a", "Near the minimum"), (b, "b", "All of it")):
        panels.curves(ax, data, [Series(look, panel=panel) for look in (*UNCERTAINTIES.values(), *MINIMA.values())])
        panels.gamma_axis(ax)
        panels.letter(ax, panel, title)
        ax.axhline(TRIVIAL, color="0.4", linewidth=0.8, linestyle="--", label="no loss exceeds this")
        ax.set_ylabel("U(γ)")
    a.set_ylim(85.0, 105.0)
    b.set_yscale("log")
    b.set_ylim(60.0, 20_000.0)
    b.set_yticks([100, 1000, 10_000])
    panels.add_shared_legend(figure, [a, b])
    return figure


def _upper_bound_points(panel: str) -> Iterator[pd.DataFrame]:
    Cs = np.array(list(UNCERTAINTIES))
    for C, style in UNCERTAINTIES.items():
        yield _points(Series(style, panel=panel), FINE_GAMMAS, regret_upper_bound(FINE_GAMMAS, C, GAMMA_EVAL))
    for version, style in MINIMA.items():
        lowest = np.minimum(upper_bound_gamma(Cs, version), GAMMA_EVAL)
        yield _points(Series(style, panel=panel), lowest, regret_upper_bound(lowest, Cs, GAMMA_EVAL))


def _points(series: Series, x: Sequence[float] | np.ndarray, bound: float | np.ndarray) -> pd.DataFrame:
    return series.values(pd.DataFrame({"x": x, "bound": bound}), "x", "bound", "bound")


SIGMAS = (0.0, 0.01, 0.1)
SAMPLES = np.array(sorted({5, *np.geomspace(1, 10**7, 57).round().astype(int).tolist()}))
TASKS = 15


def _vacuous_points(_: StoredSweeps) -> pd.DataFrame:
    bounds = [
        _points(Series(look, panel=panel), SAMPLES, vacuous_from(SAMPLES, sigma, version))
        for panel, sigma in zip("abc", SIGMAS, strict=True)
        for version, look in BOUNDS.items()
    ]
    return pd.concat(bounds, ignore_index=True)


def vacuous_from(m: Int[np.ndarray, " M"], sigma: float, version: str) -> Float[np.ndarray, " M"]:
    """Return 1/(1 + C), the smallest vacuous gamma, by samples."""
    C = average_uncertainty(m=m, T=TASKS, radius=sigma, S=S, A=A, delta=DELTA, version=version)
    return 1.0 / (1.0 + np.asarray(C))


@figure(points=_vacuous_points)
def vacuous_bounds(data: pd.DataFrame) -> Figure:
    """With the paper's five samples, all bounds are vacuous at most discount factors.

    Each curve shows the smallest gamma at which a bound on the average regret is vacuous, against the samples m.

    Above a curve the bound exceeds 1/(1 - gamma_eval). Panels differ in sigma (the almost-sure bound); T = 15.
    """
    figure, axes = panels.row_of_panels(3, TEXT_WIDTH, 2.5, share_y=True)
    for ax, panel, sigma in zip(axes, "abc", SIGMAS, strict=True):
        panels.curves(ax, data, _bounds(panel))
        panels.letter(ax, panel, f"σ = {sigma:g}")
        ax.set_xscale("log")
        ax.set_xticks([1, 100, 10_000, 1_000_000])
        ax.axvline(5, color="0.4", linewidth=0.8, linestyle=":", label="the paper's m")
        ax.set_xlabel("Samples m")
        ax.set_ylim(0.0, 1.02)
    axes[0].set_ylabel("γ from which it is vacuous")
    panels.add_shared_legend(figure, axes)
    return figure


GAMMA = 0.9
GAMMAS = np.array([*(np.arange(20) / 20).tolist(), 0.99])
AGAINST_T = {"a": (0.0, 100_000, 30), "b": (0.01, 100_000, 30), "c": (0.025, 100_000, 30)}
AGAINST_GAMMA = {"d": (0.01, 5, 5), "e": (0.01, 20, 5), "f": (0.01, 5, 30)}
"""The sigma, m and T of each panel."""


BALL = UniformBall(zeros=5, measure="std")
"""The distribution of tasks, almost surely bounded as the bounds assume."""


def problem(sigma: float, m: int, T: int) -> Problem:
    """Return the problem of a panel, as in the sweep `theory`."""
    return Problem(S=S, A=A, m=m, T=T, sigma=sigma, gamma_eval=GAMMA_EVAL, seed=0, task_distribution=BALL)


def _panel(letter: str, sigma: float, m: int, T: int) -> Panel:
    view = running_average(at_gamma(GAMMA)) if letter in AGAINST_T else average_of_first(T)
    series = Series(look("pomrl"), "theory", {"sigma": sigma, "batches": f"m{m}_T{T}"}, view)
    title = f"σ = {sigma:g}, m = {m:,}"
    if letter in AGAINST_T:
        return Panel(title, [series], "task", "se").with_letter(letter)
    return Panel(f"{title}, T = {T}", [series], "gamma", "se").with_letter(letter)


PANELS = [_panel(letter, *setting) for letter, setting in (AGAINST_T | AGAINST_GAMMA).items()]
SERIES = series_of(PANELS)


def _regrets_and_bounds(sweeps: StoredSweeps, kind: Kind | None = None) -> pd.DataFrame:
    bounds = [points for letter in (*AGAINST_T, *AGAINST_GAMMA) for points in _bound_points(letter)]
    return pd.concat([points_of_panels(sweeps, PANELS, kind), *bounds], ignore_index=True)


@figure(points=_regrets_and_bounds, series=SERIES)
def average_regret(data: pd.DataFrame) -> Figure:
    """The average regret does not vanish, and its bounds are far above it.

    The measured average regret of POMRL(sigma), and the bounds on it.

    Panels (a) to (c) show the regret against the number of tasks T at gamma = 0.9 and m = 100,000. Upper axes show the
    bounds alone, each on its own scale. Tasks are uniform in a ball with the standard deviation sigma. Panels (d) to
    (f) show it against gamma for pairs of m and T, at the smallest positive sigma.
    """
    figure = panels.blank(TEXT_WIDTH, 5.2)
    upper, lower, below = panels.grid_of_panels(figure, 3, 3, heights=[0.8, 0.8, 1.4])
    for first, *neighbours in (lower, below):
        for ax in neighbours:
            ax.sharey(first)
            ax.tick_params(labelleft=False)
    _draw_against_T(upper, lower, data)
    _draw_against_gamma(below, data)
    panels.add_shared_legend(figure, [*below, *lower])
    return figure


def _draw_against_T(upper: Sequence[Axes], lower: Sequence[Axes], data: pd.DataFrame) -> None:
    for top, bottom, panel in zip(upper, lower, PANELS[:3], strict=True):
        panels.curves(top, data, _bounds(panel.letter))
        _limit(top)
        panels.curves(bottom, data, [*panel.series, *_bounds(panel.letter)])
        for ax in (top, bottom):
            panels.task_axis(ax, _bounds(panel.letter)[0].of(data))
        top.set(xlabel="", xticklabels=[])
        bottom.set_xlabel("Number of tasks T")
        panels.letter(top, panel.letter, panel.title)
    points = data[data["panel"].isin(AGAINST_T.keys())]
    upper[0].set_ylabel("Bounds")
    lower[0].set(ylabel="Average regret", ylim=(0.0, 1.1 * points.loc[points["n"] > 0, ["mean", "upper"]].max().max()))


def _draw_against_gamma(axes: Sequence[Axes], data: pd.DataFrame) -> None:
    for ax, panel in zip(axes, PANELS[3:], strict=True):
        panels.curves(ax, data, [*panel.series, *_bounds(panel.letter)])
        _limit(ax)
        panels.gamma_axis(ax)
        ax.set_yscale("log")
        panels.letter(ax, panel.letter, panel.title)
    points = data.loc[data["panel"].isin(AGAINST_GAMMA.keys()), "mean"]
    axes[0].set(ylabel="Average regret", ylim=(0.3 * points[points > 0.0].min(), 2.0 * points.max()))


def _limit(ax: Axes) -> None:
    ax.axhline(100.0, color="0.4", linewidth=0.8, linestyle="-.", label="no loss exceeds this")


def _bounds(panel: str) -> list[Series]:
    return [Series(look, panel=panel) for look in BOUNDS.values()]


def _bound_points(letter: str) -> Iterator[pd.DataFrame]:
    """Yield a panel's bounds on POMRL(sigma)'s regret, with an inclusive prior."""
    instance = problem(*(AGAINST_T | AGAINST_GAMMA)[letter])
    mean = instance.mean(0)
    x = np.arange(1, instance.T + 1) if letter in AGAINST_T else GAMMAS
    T, gamma = (x, GAMMA) if letter in AGAINST_T else (instance.T, x)
    for version, series in zip(BOUNDS, _bounds(letter), strict=True):
        bound = average_regret_bound(
            gamma=gamma, gamma_eval=GAMMA_EVAL, m=instance.m, radius=BALL.almost_sure_radius(mean),
            plugged=mean.deviation, S=S, A=A, T=T, delta=DELTA, version=version,
        )  # fmt: skip
        yield _points(series, x, bound)
