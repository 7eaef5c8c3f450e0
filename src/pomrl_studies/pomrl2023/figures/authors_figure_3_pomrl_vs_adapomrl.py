"""Draw Figure 3 from the authors' computations."""

from pomrl.figures import DataFrame, Figure, figure
from pomrl_studies.pomrl2023.overlay import AuthorsGrid, per_task, title

GRID = AuthorsGrid([[per_task(s, ["pomrl", "ada_pomrl"], title(s)) for s in (0.01, 0.047)]], row_height=2.8)


@figure(panels=GRID)
def authors_pomrl_vs_adapomrl(data: DataFrame) -> Figure:
    """Figure 3, as the authors computed it: POMRL and ada-POMRL lose less in the last task than in the first.

    The loss of POMRL and ada-POMRL in each task when planning with gamma_eval.

    Panel (a) has the similarity of the paper's figure, (b) the similarity of the notebook's cell 61. Hollow points were
    read off that cell; the legend has a joint test of each panel.
    """
    return GRID.draw(data)
