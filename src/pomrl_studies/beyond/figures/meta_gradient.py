"""Draw the losses of meta-gradients at three similarities."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, figure, of_estimators

LEARNERS = ("oracle", "pomrl", "ada_pomrl", "meta_gradient")

PANELS = [
    Panel(f"σ = {sigma:g}", of_estimators("meta_gradient", {"sigma": sigma}, LEARNERS), "task", "se")
    for sigma in (0.01, 0.025, 0.047)
]

GRID = PanelGrid([PANELS])


@figure(panels=GRID)
def meta_gradient(data: DataFrame) -> Figure:
    """Meta-gradients are no worse than ada-POMRL at every similarity.

    The loss in each task of a learner by meta-gradients, and of the learners of the paper.

    Meta-gradients learn the prior and the mixing rate. All plan with gamma_eval.

    Beyond the paper, which suggests this but leaves it open (Sec. 7).
    """
    return GRID.draw(data)
