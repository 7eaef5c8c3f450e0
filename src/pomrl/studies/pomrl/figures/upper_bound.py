"""The upper bound and its minimum."""

import numpy as np
import pandas as pd

from pomrl.studies.pomrl.theory.bound_tables import upper_bound_curves
from pomrl.study import (
    TEXT_WIDTH,
    Drawing,
    Look,
    Series,
    StoredSweeps,
    figure,
    panels,
    sequence,
)

CURVES = sequence((0.02, 0.1, 0.3, 0.6, 1.0), "C = {:g}".format)
MINIMA = {
    "as_printed": Look("minimum, as printed", "#a02020", "X", "", size=6.0),
    "corrected": Look("minimum, corrected", "black", "o", "", size=4.0),
}
GAMMAS = np.append(np.linspace(0.0, 0.98, 99), 0.99).tolist()
TRIVIAL = 100.0
"""The trivial bound 1/(1 - gamma_eval), which no loss exceeds."""


@figure()
def upper_bound(_: StoredSweeps) -> Drawing:
    """The upper bound and its minimum.

    The upper bound U(gamma) of Sec. 6.2 for several values of the uncertainty C, and its minimum by Proposition 1 (E1).

    The minimum is marked where the proposition puts it as printed, and where it is by the corrected formula. U bounds
    the regret only up to gamma_eval, so curves and minima are cut there.
    """
    data = pd.concat([*_points("a"), *_points("b")], ignore_index=True)
    figure, (a, b) = panels.row_of_panels(2, TEXT_WIDTH, 2.8)
    for ax, panel, title in ((a, "a", "Near the minimum"), (b, "b", "All of it")):
        panels.curves(ax, data, [*_curves(panel), *_minima(panel)])
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


def _curves(panel: str) -> list[Series]:
    return [Series(look, settings={"C": C}, panel=panel) for C, look in CURVES.items()]


def _minima(panel: str) -> list[Series]:
    return [Series(look, settings={"variant": variant}, panel=panel) for variant, look in MINIMA.items()]


def _points(panel: str) -> list[pd.DataFrame]:
    curves, minima = upper_bound_curves(list(CURVES), GAMMAS)
    of_curves = [series.values(curves, "gamma", "U", "bound") for series in _curves(panel)]
    return of_curves + [series.values(minima, "gamma", "U", "bound") for series in _minima(panel)]
