"""Draw Figure F2 from the authors' computations."""

from pomrl.figures import METHODS, DataFrame, Figure, figure
from pomrl_studies.pomrl2023.overlay import FACTORS, AuthorsGrid, per_task, title

GRID = AuthorsGrid(
    [[per_task(s, [*METHODS, "aggregating", "uniform_prior"], title(s)) for s in FACTORS]],
    row_height=3.0,
)


@figure(panels=GRID)
def authors_dependence_on_tasksimilarity_ablation(data: DataFrame) -> Figure:
    """Figure F2, as the authors would compute it: Aggregating fails where tasks are loosely related.

    The loss in each task with aggregating, at three similarities.

    The baseline "Uniform prior", not in the paper, mixes in the uniform model at POMRL's rates. Hollow points were read
    off cell 61; the legend has a joint test of each panel.
    """
    return GRID.draw(data)
