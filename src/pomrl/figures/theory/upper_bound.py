"""U(gamma) of Sec. 6.2 for several C, with its minimum where Proposition 1 puts it, as printed and corrected (E1).

Beyond gamma_eval it is no bound, and both are cut there.
"""

import numpy as np
import pandas as pd

from pomrl.bound_tables import upper_bound_curves
from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Drawing, Series
from pomrl.figures.parts.style import COLUMN_WIDTH, Look, context, sequence

SWEEPS = ()
RUNS = 0

CS = (0.02, 0.1, 0.3, 0.6, 1.0)
GAMMAS = np.append(np.linspace(0.0, 0.98, 99), 0.99).tolist()
CURVES = {C: Series("", look) for C, look in zip(CS, sequence([f"C = {C:g}" for C in CS]), strict=True)}
PRINTED = Series("", Look("minimum, as printed", "#a02020", "X", "", size=6.0))
CORRECTED = Series("", Look("minimum, corrected", "black", "o", "", size=4.0))


def draw(tables: object) -> Drawing:
    """The figure, which needs no tables."""
    curves, minima = upper_bound_curves(CS, GAMMAS)
    parts = [series.values(curves.loc[curves["C"] == C], "gamma", "U", "bound") for C, series in CURVES.items()]
    for series, variant in ((PRINTED, "as_printed"), (CORRECTED, "corrected")):
        parts.append(series.values(minima.loc[minima["variant"] == variant], "gamma", "U", "bound"))
    data = pd.concat(parts, ignore_index=True)
    with context():
        figure, (ax,) = panels.row_of_panels(1, COLUMN_WIDTH, 3.2)
        panels.curves(ax, data, [*CURVES.values(), PRINTED, CORRECTED])
        panels.gamma_axis(ax)
        ax.axhline(100.0, color="0.4", linewidth=0.8, linestyle="--", label="no loss exceeds this")
        ax.set_yscale("log")
        ax.set_ylim(60.0, 20_000.0)
        ax.set_yticks([100, 1000, 10_000])
        ax.set_ylabel("U(γ)")
        panels.shared_legend(figure, [ax], columns=2)
        panels.finish(figure)
    return Drawing(figure, data)
