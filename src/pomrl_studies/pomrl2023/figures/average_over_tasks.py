"""Draw average losses over the first tasks."""

from pomrl.figures import AVERAGE_LOSS, DataFrame, Figure, Panel, PanelGrid, figure, look
from pomrl_studies.pomrl2023.averages import average_series


def _panel(estimator: str, sigma: float) -> Panel:
    series = average_series("task_similarity", {"sigma": sigma, "estimator": estimator})
    return Panel(f"{look(estimator).label}, σ = {sigma:g}", series, "gamma", "se", label=AVERAGE_LOSS)


ROWS = [
    [_panel("ada_pomrl", sigma) for sigma in (0.01, 0.025, 0.047)],
    [_panel(estimator, 0.01) for estimator in ("oracle", "without_meta", "pomrl")],
]

GRID = PanelGrid(ROWS)


@figure(panels=GRID)
def average_over_tasks(data: DataFrame) -> Figure:
    """Averages over the first tasks.

    Figures 4 (b), 5 (d) to (f) and F4 if a curve "T = j" is the average loss over the first j tasks.
    """
    return GRID.draw(data)
