"""Draw losses with Gaussian tasks."""

from pomrl.figures import DataFrame, Figure, figure
from pomrl_studies.pomrl2023 import similarities

GRID = similarities.similarity_panels("gaussian_tasks", share_y=False)


@figure(panels=GRID)
def gaussian_tasks(data: DataFrame) -> Figure:
    """Gaussian tasks.

    Panels (a) to (c) of Figure 5 with tasks drawn from Gaussians around the mean model, clipped to the simplex.

    Vertical axes are separate because of a single run with a large loss.
    """
    return GRID.draw(data)
