"""U(gamma) of Sec. 6.2 for several C, with its minimum where Proposition 1 puts it, as printed and corrected (E1).

Beyond gamma_eval it is no bound, and both are cut there.
"""

import numpy as np
import pandas as pd

from pomrl.bound_tables import upper_bound_curves
from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Drawing, Series
from pomrl.figures.parts.style import TEXT_WIDTH, Look, context, sequence

SWEEPS = ()
RUNS = 0

CS = (0.02, 0.1, 0.3, 0.6, 1.0)
GAMMAS = np.append(np.linspace(0.0, 0.98, 99), 0.99).tolist()
TRIVIAL = 100.0
"""1/(1 - gamma_eval), which no loss exceeds."""

PANELS = {"a": "Near the minimum", "b": "All of it"}


def draw(tables: object) -> Drawing:
    """The figure, which needs no tables."""
    data = pd.concat([_of_panel(panel) for panel in PANELS], ignore_index=True)
    with context():
        figure, (a, b) = panels.row_of_panels(2, TEXT_WIDTH, 2.8)
        for ax, (panel, title) in zip((a, b), PANELS.items(), strict=True):
            panels.curves(ax, data, [*_curves(panel).values(), *_minima(panel).values()])
            panels.gamma_axis(ax)
            panels.letter(ax, panel, title)
            ax.axhline(TRIVIAL, color="0.4", linewidth=0.8, linestyle="--", label="no loss exceeds this")
            ax.set_ylabel("U(γ)")
        a.set_ylim(85.0, 105.0)
        b.set_yscale("log")
        b.set_ylim(60.0, 20_000.0)
        b.set_yticks([100, 1000, 10_000])
        panels.shared_legend(figure, [a, b], columns=4)
        panels.finish(figure)
    return Drawing(figure, data)


def _curves(panel: str) -> dict[float, Series]:
    looks = sequence([f"C = {C:g}" for C in CS])
    return {C: Series(panel, look) for C, look in zip(CS, looks, strict=True)}


def _minima(panel: str) -> dict[str, Series]:
    return {
        "as_printed": Series(panel, Look("minimum, as printed", "#a02020", "X", "", size=6.0)),
        "corrected": Series(panel, Look("minimum, corrected", "black", "o", "", size=4.0)),
    }


def _of_panel(panel: str) -> pd.DataFrame:
    curves, minima = upper_bound_curves(CS, GAMMAS)
    of_curves = [
        series.values(curves.loc[curves["C"] == C], "gamma", "U", "bound") for C, series in _curves(panel).items()
    ]
    of_minima = [
        series.values(minima.loc[minima["variant"] == variant], "gamma", "U", "bound")
        for variant, series in _minima(panel).items()
    ]
    return pd.concat([*of_curves, *of_minima], ignore_index=True)
