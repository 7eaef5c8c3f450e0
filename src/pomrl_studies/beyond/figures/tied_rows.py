"""Draw the losses of tied rows."""

from pomrl.figures import DataFrame, Figure, figure
from pomrl_studies.beyond.figures.families import learners_grid

LEARNERS = ("without_meta", "ada_pomrl", "empirical_bayes", "tied_rows", "exact_posterior")

GRID = learners_grid("tied_rows", LEARNERS)


@figure(panels=GRID)
def tied_rows(data: DataFrame) -> Figure:
    """Tied rows are no worse than ada-POMRL in any family.

    The planning loss in each task, with a learner that detects tied rows.

    The spread of the latent is 0.15. All plan with γ_eval; losses are in the units of the family's rewards.
    """
    return GRID.draw(data)
