"""Draw the squared error against the mixing rate."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from pomrl.figures import TEXT_WIDTH, Figure, Look, Series, StoredSweeps, figure, palette, panels, sequence
from pomrl.study import PRIORS
from pomrl_studies.pomrl2023.theory.simulations import MIXING_RATES_AND_ERRORS, SQUARED_ERROR_AGAINST_ALPHA
from pomrl_studies.pomrl2023.theory.squared_error import TASKS

LINES = ("-", "--", ":")

SIMULATIONS = (SQUARED_ERROR_AGAINST_ALPHA, MIXING_RATES_AND_ERRORS)

CURVES = {
    t: replace(look, linestyle=line)  # in panel (c) curves coincide, and gaps keep all visible
    for (t, look), line in zip(sequence(TASKS, "t = {}".format).items(), LINES, strict=True)
}
MIXING = {
    "paper": Look("paper's α", palette.DARK_RED, "X", "", size=6.0),
    "mse_bound": Look("minimum of the bound", palette.OLIVE, "s", "", size=4.5),
    "mse_optimal": Look("minimum", "black", "o", "", size=4.5),
}
PANELS = dict(zip("abc", PRIORS, strict=True))


def _points(sweeps: StoredSweeps) -> pd.DataFrame:
    errors, rates = (sweeps[simulation.name] for simulation in SIMULATIONS)
    tables = [points for panel in PANELS for points in _points_of_panel(panel, errors, rates)]
    return pd.concat(tables, ignore_index=True)


@figure(points=_points, simulations=SIMULATIONS)
def squared_error(data: pd.DataFrame) -> Figure:
    """The paper's mixing rate does not minimise the mean squared error.

    The mean squared error of an estimate against the weight alpha of its prior, for Dirichlet tasks (E4).

    Small points are simulated, and lines are in closed form. Other markers show the weights of the mixing rates. The
    concentration is 10 and m = 5; the mixing rates know the true similarity.
    """
    figure, axes = panels.row_of_panels(3, TEXT_WIDTH, 2.7, share_y=True)
    for ax, (panel, prior) in zip(axes, PANELS.items(), strict=True):
        curves = _curves(panel)
        panels.curves(ax, data, [*curves, *map(_simulate, curves), *_marks(panel)])
        panels.letter(ax, panel, f"{prior} prior")
        ax.set_xlabel("Weight α of the prior")
    axes[0].set_ylabel("Mean squared error")
    axes[0].set_ylim(0.0, 0.2)
    panels.add_shared_legend(figure, axes)
    return figure


def _curves(panel: str) -> list[Series]:
    return [Series(look, settings={"prior": PANELS[panel], "t": t}, panel=panel) for t, look in CURVES.items()]


def _simulate(curve: Series) -> Series:
    return replace(curve, look=Look(f"simulated, {curve.look.label}", curve.look.color, "o", "", size=3.2))


def _marks(panel: str) -> list[Series]:
    prior = {"prior": PANELS[panel]}
    return [Series(look, settings={**prior, "mixing": mixing}, panel=panel) for mixing, look in MIXING.items()]


def _points_of_panel(panel: str, errors: pd.DataFrame, rates: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for curve in _curves(panel):
        yield curve.values(errors, "alpha", "closed_form", "closed form")
        yield _simulate(curve).values(errors, "alpha", "mse", "simulated")
    for mark in _marks(panel):
        yield mark.values(rates, "alpha", "closed_form", "closed form")
