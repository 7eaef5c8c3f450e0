"""Where the bounds on the average regret are vacuous: for all gamma above the curve they exceed 1/(1 - gamma_eval),
which no loss does. A panel for each sigma (the almost-sure bound), against the number of samples m, at T = 15.
"""

import numpy as np
import pandas as pd

from pomrl.bound_tables import vacuity_map
from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Drawing, Series
from pomrl.figures.parts.style import BOUNDS, TEXT_WIDTH, context

SWEEPS = ()
RUNS = 0

SIGMAS = (0.0, 0.01, 0.1)
SAMPLES = sorted({5, *np.geomspace(1, 10**7, 57).round().astype(int).tolist()})
T = 15
PANELS = dict(zip("abc", SIGMAS, strict=True))


def draw(tables: object) -> Drawing:
    """The figure, which needs no tables."""
    found = vacuity_map(SAMPLES, [T], SIGMAS)
    parts = []
    for panel, sigma in PANELS.items():
        for variant, series in _series(panel).items():
            rows = found.loc[(found["sigma"] == sigma) & (found["variant"] == variant)]
            parts.append(series.values(rows, "m", "vacuous_from", "bound"))
    data = pd.concat(parts, ignore_index=True)
    with context():
        figure, axes = panels.row_of_panels(3, TEXT_WIDTH, 2.5, share_y=True)
        for ax, (panel, sigma) in zip(axes, PANELS.items(), strict=True):
            panels.curves(ax, data, list(_series(panel).values()))
            panels.letter(ax, panel, f"σ = {sigma:g}")
            ax.set_xscale("log")
            ax.set_xticks([1, 100, 10_000, 1_000_000])
            ax.axvline(5, color="0.4", linewidth=0.8, linestyle=":", label="the paper's m")
            ax.set_xlabel("Samples m")
            ax.set_ylim(0.0, 1.02)
        axes[0].set_ylabel("γ from which it is vacuous")
        panels.shared_legend(figure, axes, columns=4)
        panels.finish(figure)
    return Drawing(figure, data)


def _series(panel: str) -> dict[str, Series]:
    return {variant: Series(panel, look) for variant, look in BOUNDS.items()}
