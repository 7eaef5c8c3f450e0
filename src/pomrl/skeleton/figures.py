"""Draw the figures of the study."""

import pandas as pd
from matplotlib.figure import Figure

from pomrl.figures import Panel, PanelGrid, figure, of_estimators

ESTIMATORS = ("without_meta", "ada_pomrl", "shrunk")


PANELS = [
    Panel(f"σ = {sigma:g}", of_estimators("first", {"sigma": sigma}, ESTIMATORS), "task", "ci")
    for sigma in (0.01, 0.047)
]
GRID = PanelGrid([PANELS])


@figure(panels=GRID)
def losses(data: pd.DataFrame) -> Figure:
    """The loss in each task.

    A panel for each similarity of tasks, when planning with gamma_eval. Bands are 95 % intervals of the mean.
    """
    return GRID.draw(data)
