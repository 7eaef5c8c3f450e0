"""Draw the loss of ada-POMRL for initial similarities."""

from pomrl.figures import COLUMN_WIDTH, DataFrame, Figure, Panel, PanelGrid, figure, of_values, sequence

STARTS = sequence((0.01, 0.1, 0.5), "σ₁ = {:g}".format)
PANEL = Panel("", of_values("initial_similarity", "estimator.start_deviation", STARTS), "task", "se")

GRID = PanelGrid([[PANEL]], width=COLUMN_WIDTH)


@figure(panels=GRID)
def initial_similarity(data: DataFrame) -> Figure:
    """The initial similarity of ada-POMRL matters in the first tasks.

    Each curve shows the loss of ada-POMRL in each task for a first value of its estimated task similarity (R4).

    All plan with gamma_eval. Tasks 1 and 2 use the initial value.

    The paper (Sec. 4) starts from a large value, "close to 1/2".
    """
    return GRID.draw(data)
