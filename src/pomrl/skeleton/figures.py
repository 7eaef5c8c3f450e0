"""Draw the figures of the study."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, figure, of_estimators

ESTIMATORS = ("without_meta", "ada_pomrl", "shrunk")

PANELS = [
    Panel(f"σ = {sigma:g}", of_estimators("first", {"sigma": sigma}, ESTIMATORS), "task", "ci")
    for sigma in (0.01, 0.047)
]
GRID = PanelGrid([PANELS])


@figure(panels=GRID)
def losses(data: DataFrame) -> Figure:
    """The loss in each task.

    A panel for each similarity of tasks, when planning with gamma_eval. Bands are 95 % intervals of the mean.
    """
    return GRID.draw(data)
