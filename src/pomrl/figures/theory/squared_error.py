"""The mean squared error of an estimate against the weight alpha of its prior, for Dirichlet tasks: simulated (points)
and in closed form (lines), with the weights that the mixing rates give (E4).

Ten is the concentration, five the number of samples; the similarity that the rates are told is the true one.
"""

import numpy as np
import pandas as pd

from pomrl.concentration import PRIORS
from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Drawing, Series
from pomrl.figures.parts.style import TEXT_WIDTH, Look, context, sequence
from pomrl.simulation import mixing_rates_and_errors, squared_error_against_alpha

SWEEPS = ()
RUNS = 0

TASKS = (2, 5, 15)
ALPHAS = np.linspace(0.0, 1.0, 21).tolist()
MIXING = {
    "paper": Look("paper's α", "#a02020", "X", "", size=6.0),
    "mse_bound": Look("minimum of the bound", "#999933", "s", "", size=4.5),
    "mse_optimal": Look("minimum", "black", "o", "", size=4.5),
}
PANELS = dict(zip("abc", PRIORS, strict=True))


def draw(tables: object) -> Drawing:
    """The figure, which needs no tables."""
    errors, rates = squared_error_against_alpha(ALPHAS, tasks=TASKS), mixing_rates_and_errors(tasks=TASKS)
    data = pd.concat([_of_panel(panel, errors, rates) for panel in PANELS], ignore_index=True)
    with context():
        figure, axes = panels.row_of_panels(3, TEXT_WIDTH, 2.7, share_y=True)
        for ax, (panel, prior) in zip(axes, PANELS.items(), strict=True):
            panels.curves(ax, data, [*_curves(panel).values(), *_simulated(panel).values(), *_marks(panel).values()])
            panels.letter(ax, panel, f"{prior} prior")
            ax.set_xlabel("Weight α of the prior")
        axes[0].set_ylabel("Mean squared error")
        axes[0].set_ylim(0.0, 0.2)
        panels.shared_legend(figure, axes, columns=3)
        panels.finish(figure)
    return Drawing(figure, data)


def _curves(panel: str) -> dict[int, Series]:
    looks = sequence([f"t = {t}" for t in TASKS])
    return {t: Series(panel, look) for t, look in zip(TASKS, looks, strict=True)}


def _simulated(panel: str) -> dict[int, Series]:
    return {
        t: Series(panel, Look(f"simulated, t = {t}", series.look.color, ".", "", size=3.0))
        for t, series in _curves(panel).items()
    }


def _marks(panel: str) -> dict[str, Series]:
    return {mixing: Series(panel, look) for mixing, look in MIXING.items()}


def _of_panel(panel: str, errors: pd.DataFrame, rates: pd.DataFrame) -> pd.DataFrame:
    errors = errors.loc[errors["prior"] == PANELS[panel]]
    rates = rates.loc[rates["prior"] == PANELS[panel]]
    parts = []
    for t in TASKS:
        rows = errors.loc[errors["t"] == t]
        parts.append(_curves(panel)[t].values(rows, "alpha", "closed_form", "closed form"))
        parts.append(_simulated(panel)[t].values(rows, "alpha", "mse", "simulated"))
    for mixing, series in _marks(panel).items():
        rows = rates.loc[rates["mixing"] == mixing]
        parts.append(series.values(rows, "alpha", "closed_form", "closed form"))
    return pd.concat(parts, ignore_index=True)
