"""Draw the losses of learners with more and less knowledge of the next task."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, figure, of_estimators

LEARNERS = ("ada_pomrl", "empirical_bayes", "hierarchical_bayes", "bayes")

PANELS = [
    Panel(f"σ = {sigma:g}", of_estimators("known_law", {"sigma": sigma}, LEARNERS), "task", "se")
    for sigma in (0.01, 0.025, 0.047)
]

GRID = PanelGrid([PANELS])


@figure(panels=GRID)
def known_law(data: DataFrame) -> Figure:
    """What can be known of the next task.

    The loss of ada-POMRL, empirical Bayes and two references in each task, planned with gamma_eval.

    One reference knows the mean model and the concentration, the other only the distribution of mean models (by Markov
    chain Monte Carlo).
    """
    return GRID.draw(data)
