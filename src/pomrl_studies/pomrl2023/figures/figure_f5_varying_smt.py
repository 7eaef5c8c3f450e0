"""Draw Figure F5: average losses with more states."""

from pomrl.figures import DataFrame, Figure, PanelGrid, figure
from pomrl_studies.pomrl2023 import averages

ROWS = [
    averages.average_row("states_20", [(5, 5), (20, 5), (5, 30)], "S = 20, "),
    averages.average_row("states_30", [(5, 5), (20, 5), (5, 15)], "S = 30, "),
]

GRID = PanelGrid(ROWS)


@figure(panels=GRID)
def varyingSmT(data: DataFrame) -> Figure:
    """Figure F5: With more states, too, meta-learning gains most with few samples and many tasks.

    The average loss of ada-POMRL against gamma for pairs of m and T, with 20 and with 30 states.

    The paper: "We note that despite larger state-space we observe the same effect [as with 10 states]. Results are
    averaged over 20 independent runs".
    """
    return GRID.draw(data)
