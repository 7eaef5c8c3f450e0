"""Compare the losses of methods on all problems."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import TEXT_WIDTH, Figure, Look, Series, StoredSweeps, collect, figure, palette, panels
from pomrl.study import Result, ratio
from pomrl_papers.horizons.claims import PROBLEMS, TRANSITIONS

AT_EVAL = ("frequencies", {"agent": "certainty_equivalence"})
"""The reference method: planning on frequencies with gamma_eval."""

METHODS = {
    Look("Cross-validated γ (Jiang et al.)", palette.SKY_BLUE, "D"): (
        "frequencies",
        {"agent": "cross_validated_gamma"},
    ),
    Look("LSTD, L2 (Amit et al.)", palette.EMERALD, "P"): ("penalties", {}),
    Look("Weight of each pair (Rathnam et al.)", palette.FOREST, "X"): ("weights", {}),
    Look("ada-POMRL, upper-bound γ", palette.VERMILION, "o"): ("schedules", {"gamma_schedule": "upper_bound"}),
    Look("ada-POMRL, Dong's γ", palette.ORCHID, "v"): ("schedules", {"gamma_schedule": "dong"}),
    Look("ada-POMRL, posterior's γ", palette.DEEP_BLUE, "s"): ("posteriors", {"estimator": "ada_pomrl"}),
    Look("Empirical Bayes, γ_eval", palette.AMBER, "^"): ("priors", {"estimator": "empirical_bayes"}),
    Look("Tied rows, γ_eval", palette.VIOLET, "*"): ("priors", {"estimator": "tied_rows"}),
}
"""The plot style of each method, with the sweep and the settings of its runs."""

GROUP_WIDTH = 0.7
"""The width of a problem's group of points, relative to the distance between problems."""


Runs = tuple[str, dict[str, str]]
"""The sweep and the settings of a method's runs."""

CELLS = [(problem, m, panel) for m, panel in zip(TRANSITIONS, "abc", strict=True) for problem in PROBLEMS]
SERIES = [
    Series(look, sweep, {**settings, "task_distribution": problem, "m": m}, panel=panel)
    for problem, m, panel in CELLS
    for look, (sweep, settings) in METHODS.items()
]


def _points(sweeps: StoredSweeps) -> pd.DataFrame:
    return collect([pd.DataFrame(_shares(sweeps))], SERIES)


@figure("frequencies", "penalties", "weights", "priors", "posteriors", "schedules", points=_points, series=SERIES)
def advice(data: pd.DataFrame) -> Figure:
    """The loss of each method.

    The loss of each method as a share of the loss of planning on frequencies with gamma_eval, averaged over tasks.

    A panel for each number m of transitions from each pair. Bars are paired 95 % intervals. Shares below 0.1 % are
    drawn at the lower end of the logarithmic axis.
    """
    canvas, axes = panels.blank(TEXT_WIDTH, 7.0), []
    for (ax,), m, panel in zip(panels.grid_of_panels(canvas, len(TRANSITIONS), 1), TRANSITIONS, "abc", strict=True):
        _draw_panel(ax, data[data["panel"] == panel])
        panels.letter(ax, panel, f"m = {m}")
        axes.append(ax)
    panels.add_shared_legend(canvas, axes)
    return canvas


def _shares(sweeps: StoredSweeps) -> Iterator[dict[str, Any]]:
    at_eval = _losses(sweeps, AT_EVAL)
    losses_by_method = {look: _losses(sweeps, runs) for look, runs in METHODS.items()}
    for problem, m, panel in CELLS:
        for look, losses in losses_by_method.items():
            if (problem, m) in losses and (problem, m) in at_eval:
                share = ratio(losses[problem, m].regret, at_eval[problem, m].regret)
                bar = {"mean": 1 + share.value, "lower": 1 + share.lower, "upper": 1 + share.upper}
                point = {"panel": panel, "series": look.label, "x": float(PROBLEMS.index(problem)), **bar}
                yield {**point, "band": "95 % interval", "n": share.units, "marker": False}


def _losses(sweeps: StoredSweeps, runs: Runs) -> Mapping[tuple[Hashable, ...], Result]:
    sweep, settings = runs
    rows = Series(Look("", "black"), sweep, settings).rows(sweeps)
    return {cell: Result.of_table(table) for cell, table in rows.groupby(["task_distribution", "m"])}


def _draw_panel(ax: Axes, data: pd.DataFrame) -> None:
    for index, look in enumerate(METHODS):
        points = data[data["series"] == look.label]
        x = points["x"] + GROUP_WIDTH * (index / (len(METHODS) - 1) - 0.5)
        bars = (points["mean"] - points["lower"]).clip(lower=0), (points["upper"] - points["mean"]).clip(lower=0)
        ax.errorbar(x, points["mean"].clip(lower=1e-3), bars, color=look.color, marker=look.marker, linestyle="",
                    markersize=4, label=look.label)  # fmt: skip
    ax.axhline(1.0, color="black", linewidth=0.5)
    ax.set_yscale("log")
    ax.set_ylim(bottom=1e-3)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    ax.set_xticks(
        range(len(PROBLEMS)), [name.replace("dirichlet", "random_chains").replace("_", "\n", 1) for name in PROBLEMS]
    )
    ax.set_ylabel("Share of loss")
