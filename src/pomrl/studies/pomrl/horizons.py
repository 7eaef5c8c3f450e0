"""The panel of gamma* in each task, the effective planning horizon, and of the loss there."""

from dataclasses import dataclass, replace

import pandas as pd
from matplotlib.axes import Axes

from pomrl.study import Kind, Look, Panel, Series, StoredSweeps, band, best_gamma, best_gamma_band, look, panels

MINIMUM = replace(look("ada_pomrl"), label="Loss at γ*")
"""The look of the loss at the best discount factor."""

HORIZON = Look("γ* (right axis)", "#444444", "s", ":")
"""The look of the best discount factor, on an axis of its own."""


@dataclass(frozen=True)
class HorizonPanel:
    """A panel of the loss at gamma* in each task, and of gamma* on a second vertical axis at its right."""

    title: str
    loss: Series
    """The series of the loss at gamma*, with the look `MINIMUM`."""
    horizon: Series
    """The series of gamma*, with the look `HORIZON`; it shows the same experiment."""
    band: Kind
    """What the bands around the loss show by the caption of the figure."""

    @property
    def series(self) -> list[Series]:
        """The series of the panel."""
        return [self.loss, self.horizon]

    def points(self, sweeps: StoredSweeps, kind: Kind | None = None) -> list[pd.DataFrame]:
        """Return the points of both series; none if the sweeps hold nothing of them.

        gamma* minimises the mean loss over runs, so there is one value for all runs. Its bars show a bootstrap standard
        deviation, or with the kind `ci` the percentile interval.

        Args:
            sweeps: What is stored of the sweeps of the series.
            kind: What the bands show, by default that of the caption.
        """
        rows, shown = self.horizon.rows(sweeps), kind or self.band
        if rows.empty:
            return []
        best = best_gamma(rows, ["task"])
        loss = band(rows.merge(best, on=["task", "gamma"]), ["task"], kind=shown)
        bars = best_gamma_band(rows, ["task"], shown).assign(n=loss["n"])
        name = "bootstrap ci" if shown == "ci" else "bootstrap sd"
        return [self.loss.points(loss, "task", shown), self.horizon.points(bars, "task", name)]

    def draw(self, ax: Axes, data: pd.DataFrame) -> Axes:
        """Draw the panel from the table of the figure, and return the axes at its right."""
        Panel(self.title, [self.loss], "task", self.band).draw(ax, data)
        ax.set_ylabel(f"{panels.LOSS} at γ*", color=MINIMUM.color)
        right, points = panels.right_axis(ax), self.horizon.of(data)
        style = {"color": HORIZON.color, "marker": HORIZON.marker, "markersize": HORIZON.size, "label": HORIZON.label}
        ends = [points["mean"] - points["lower"], points["upper"] - points["mean"]]
        bars = {"yerr": ends, "capsize": 1.5, "elinewidth": 0.7}
        right.errorbar(points["x"], points["mean"], linestyle=HORIZON.linestyle, **style, **bars)
        # No discount factor exceeds 1, but one and its standard deviation may, and there has to be room for a marker.
        right.set_ylim(min(0.0, points["lower"].min()), max(1.05, 1.02 * points["upper"].max()))
        right.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
        right.set_ylabel("Best discount factor γ*", color=HORIZON.color)
        return right
