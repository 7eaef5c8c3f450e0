"""Panels and plot styles of gamma* (the effective planning horizon) and its loss."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import Kind, Look, Panel, StoredSweeps, best_gamma_band, look, palette

MINIMUM = replace(look("ada_pomrl"), label="Loss at γ*")
"""The plot style of the loss at gamma*."""

HORIZON = Look("Best discount factor γ*", palette.DARK_GREY, "s", ":")
"""The plot style of gamma*."""


@dataclass(frozen=True)
class HorizonPanel(Panel):
    """A panel of gamma*, the minimiser of the mean loss, in each task."""

    label: str = "Discount factor γ*"

    def points(self, sweeps: StoredSweeps, kind: Kind | None = None) -> Iterator[pd.DataFrame]:
        bands = kind or self.band
        name = "bootstrap ci" if bands == "ci" else "bootstrap sd"
        for series in self.series:
            rows = series.rows(sweeps)
            if len(rows):
                best = best_gamma_band(rows, ["task"], bands).assign(n=rows["run"].nunique())
                yield series.points(best, "task", name)

    def draw(self, ax: Axes, data: pd.DataFrame) -> None:
        super().draw(ax, data.assign(upper=data["upper"].clip(upper=1.0)))  # gamma* is at most 1
        ax.set_ylim(top=1.05)
