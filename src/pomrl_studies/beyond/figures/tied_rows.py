"""Draw the losses of a learner that ties rows."""

import pandas as pd
from matplotlib.figure import Figure

from pomrl.figures import figure
from pomrl_studies.beyond.figures.families import learners_grid

LEARNERS = ("without_meta", "ada_pomrl", "empirical_bayes", "tied_rows", "exact_posterior")

GRID = learners_grid("tied_rows", LEARNERS)


@figure(panels=GRID)
def tied_rows(data: pd.DataFrame) -> Figure:
    """Tied rows are no worse than ada-POMRL in any family.

    The planning loss in each task, with a learner that detects tied rows.

    The spread of the latent is 0.15. All plan with γ_eval; losses are in the units of the family's rewards.
    """
    return GRID.draw(data)
