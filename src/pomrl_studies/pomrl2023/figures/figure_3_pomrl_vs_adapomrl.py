"""Draw Figure 3: the losses of POMRL and ada-POMRL."""

from pomrl.figures import COLUMN_WIDTH, DataFrame, Figure, Panel, PanelGrid, figure, of_estimators

PANEL = Panel("", of_estimators("task_similarity", {"sigma": 0.01}, ["pomrl", "ada_pomrl"]), "task", "sd")

GRID = PanelGrid([[PANEL]], width=COLUMN_WIDTH)


@figure(panels=GRID)
def pomrl_vs_adapomrl(data: DataFrame) -> Figure:
    """Figure 3: POMRL and ada-POMRL lose less in the last task than in the first.

    The loss of POMRL and ada-POMRL in each task when planning with gamma_eval, at sigma = 0.01.
    """
    return GRID.draw(data)
