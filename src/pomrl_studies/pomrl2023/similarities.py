"""Draw the loss in each task at three similarities, with drawn task models as insets."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import METHODS, Kind, Look, Panel, PanelGrid, Series, StoredSweeps, of_estimators, palette
from pomrl_studies.pomrl2023 import simplex

STRUCTURES = {0.01: "Strong structure", 0.025: "Medium structure", 0.047: "Loose structure"}
"""The name of each similarity sigma, the largest variance of an entry of a task model."""

DRAWS = 150
TASK_MODELS = Look("Task models, three states", palette.STEEL_BLUE, ".", "", size=1.5)


@dataclass(frozen=True)
class Similarities(PanelGrid):
    """A grid of losses in each task, with drawn task models as insets."""

    row_height: float = 2.8

    def points(self, sweeps: StoredSweeps, kind: Kind | None = None) -> pd.DataFrame:
        """Return the losses, and three-state task models with entries of variance sigma."""
        draws = [
            simplex.points(_task_models(panel), simplex.dirichlet(simplex.concentration(sigma), DRAWS))
            for panel, sigma in zip(self.panels, STRUCTURES, strict=True)
        ]
        return pd.concat([super().points(sweeps, kind), *draws], ignore_index=True)

    def draw_row(self, axes: Sequence[Axes], data: pd.DataFrame, row: Sequence[Panel]) -> None:
        super().draw_row(axes, data, row)
        sharing = [axes] if self.share_y else [[ax] for ax in axes]
        insets = [inset for group in sharing for inset in _insets(group, room=0.3)]
        for panel, inset in zip(row, insets, strict=True):
            simplex.draw(inset, data, [_task_models(panel)], names=False)


def _insets(axes: Sequence[Axes], *, room: float) -> list[Axes]:
    bottom, top = axes[0].get_ylim()
    axes[0].set_ylim(bottom, bottom + (top - bottom) / (1.0 - room))
    return [ax.inset_axes((0.6, 1.0 - room, 0.4, room)) for ax in axes]


def _task_models(panel: Panel) -> Series:
    return Series(TASK_MODELS, panel=panel.letter)


def similarity_panels(sweep: str, estimators: Sequence[str] = METHODS, *, share_y: bool = True) -> Similarities:
    """Return a row of panels, one for each similarity of a sweep."""
    row = [
        Panel(f"{name}, σ = {sigma:g}", of_estimators(sweep, {"sigma": sigma}, estimators), "task", "sd")
        for sigma, name in STRUCTURES.items()
    ]
    return Similarities([row], share_y=share_y)
