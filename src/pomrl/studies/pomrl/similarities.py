"""Panels of the planning loss per task at three task similarities, with draws of tasks on the simplex."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from pomrl.studies.pomrl import simplex
from pomrl.study import (
    METHODS,
    TEXT_WIDTH,
    Drawing,
    Kind,
    Look,
    Panel,
    Series,
    StoredSweeps,
    context,
    draw_row,
    lettered,
    of_estimators,
    panels,
    points_of_panels,
    series_of,
)

STRUCTURES = {0.01: "Strong structure", 0.025: "Medium structure", 0.047: "Loosely structured"}
"""The name of the structure of tasks at each task similarity: the largest variance of an entry of the model."""

DRAWS = 150
TASK_MODELS = Look("Task models, three states", "#4477AA", ".", "", size=1.5)


@dataclass(frozen=True)
class Similarities:
    """Panels of the loss in each task, one for each similarity, with draws of task models in their corners."""

    row: Sequence[Panel]
    """The panels, which have letters."""
    share_y: bool = True
    """Whether the panels share their vertical axis."""

    @property
    def series(self) -> list[Series]:
        """The series of losses of all panels."""
        return series_of(self.row)

    def points(self, sweeps: StoredSweeps, kind: Kind | None = None) -> pd.DataFrame:
        """Return the losses, and draws of task models of three states whose entries have the variance sigma.

        Bands are of this kind, and by default those of the caption.

        Returns:
            A table with the columns `drawing.COLUMNS`.

        Raises:
            ValueError: If the sweeps hold none of the series.
        """
        draws = [
            simplex.points(series, simplex.dirichlet(simplex.concentration(sigma), DRAWS))
            for series, sigma in zip(self._task_models(), STRUCTURES, strict=True)
        ]
        return pd.concat([points_of_panels(sweeps, self.row, kind), *draws], ignore_index=True)

    def draw_row(self, axes: Sequence[Axes], data: pd.DataFrame) -> None:
        """Draw the losses into panels, and the task models into their corners."""
        draw_row(axes, data, self.row)
        sharing = [axes] if self.share_y else [[ax] for ax in axes]
        insets = [inset for group in sharing for inset in panels.insets(group, room=0.3)]
        for series, inset in zip(self._task_models(), insets, strict=True):
            simplex.draw(inset, data, [series], names=False)

    def _task_models(self) -> list[Series]:
        return [Series(TASK_MODELS, panel=panel.letter) for panel in self.row]

    def draw(self, sweeps: StoredSweeps, kind: Kind | None = None) -> Drawing:
        """Return a figure of these panels alone; ValueError if the sweeps hold none of the series.

        Bands are of this kind, and by default those of the caption.
        """
        data = self.points(sweeps, kind)
        with context():
            figure, axes = panels.row_of_panels(len(self.row), TEXT_WIDTH, 2.8, share_y=self.share_y)
            self.draw_row(axes, data)
            panels.shared_legend(figure, axes, columns=5)
            return panels.finish(figure, data, self.series, sweeps)


def of_sweep(sweep: str, estimators: Sequence[str] = METHODS, *, share_y: bool = True) -> Similarities:
    """Return panels (a) to (c) of a sweep over the task similarity, with a series for each estimator."""
    row = [
        Panel(f"{name}, σ = {sigma:g}", of_estimators(sweep, {"sigma": sigma}, estimators), "task", "sd")
        for sigma, name in STRUCTURES.items()
    ]
    return Similarities(lettered([row])[0], share_y)
