"""Draw Figure F3: average losses for three pairs of m and T."""

from pomrl.figures import DataFrame, Figure, PanelGrid, figure
from pomrl_studies.pomrl2023 import averages

GRID = PanelGrid([averages.average_row("samples_and_tasks", [(5, 5), (20, 5), (5, 30)])])


@figure(panels=GRID)
def arub_dependence_on_mT(data: DataFrame) -> Figure:
    """Figure F3: Meta-learning gains most with few samples and many tasks.

    The average loss of ada-POMRL against gamma for three pairs of m and T.

    The paper: "(c) m << T is the most interesting case [...] resulting in huge gains from leveraging shared structure
    across tasks."

    The average loss without meta-learning is added to show what meta-learning gains.
    """
    return GRID.draw(data)
