"""Draw Figure F1: tasks from a Dirichlet distribution."""

from math import sqrt

import pandas as pd

from pomrl.figures import COLUMN_WIDTH, Figure, Look, Series, StoredSweeps, figure, palette, panels
from pomrl_studies.pomrl2023 import simplex

CONCENTRATION = 15.0
DRAWS = 1000
TASKS = Series(Look("Task models", palette.STEEL_BLUE, ".", "", size=2.0))


def _points(_: StoredSweeps) -> pd.DataFrame:
    return simplex.points(TASKS, simplex.dirichlet(CONCENTRATION, DRAWS))


@figure(points=_points)
def dirichlet_task_dist(data: pd.DataFrame) -> Figure:
    """Figure F1: Dir(15, 15, 15) does not have the stated similarity.

    Draws of tasks from Dir(15, 15, 15) on the simplex of three states.

    The paper: "[...] resulting in our task-similarity measure approximately to be sigma = 0.0129." This is neither the
    variance of an entry, 0.00483, nor its standard deviation, 0.0695 (R11).
    """
    variance = simplex.variance(CONCENTRATION)
    figure, (ax,) = panels.row_of_panels(1, COLUMN_WIDTH, 3.0)
    simplex.draw(ax, data, [TASKS])
    panels.letter(ax, "", f"Dir(15, 15, 15)\nvariance {variance:.5f},\nstandard deviation {sqrt(variance):.4f}")
    return figure
