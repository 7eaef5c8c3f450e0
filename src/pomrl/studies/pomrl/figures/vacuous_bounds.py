"""The discount factors from which on the bounds are vacuous."""

import numpy as np
import pandas as pd

from pomrl.studies.pomrl.looks import BOUNDS
from pomrl.studies.pomrl.theory.bound_tables import vacuity_map
from pomrl.study import (
    TEXT_WIDTH,
    Drawing,
    Series,
    StoredSweeps,
    figure,
    panels,
)

SIGMAS = (0.0, 0.01, 0.1)
SAMPLES = sorted({5, *np.geomspace(1, 10**7, 57).round().astype(int).tolist()})
T = 15
PANELS = [
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
    vacuity = vacuity_map(SAMPLES, [T], SIGMAS)
    bounds = [series.values(vacuity, "m", "vacuous_from", "bound") for of_panel in PANELS for series in of_panel]
    data = pd.concat(bounds, ignore_index=True)
    figure, axes = panels.row_of_panels(3, TEXT_WIDTH, 2.5, share_y=True)
    for ax, of_panel, sigma in zip(axes, PANELS, SIGMAS, strict=True):
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
