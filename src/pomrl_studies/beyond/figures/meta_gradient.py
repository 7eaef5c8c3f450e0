"""A regulariser that is learned by meta-gradients.

The loss in each task, planned with gamma_eval, of a learner with a prior and mixing rate by meta-gradients, as Sec. 7
suggests, beside the learners of the paper. Bands show one standard error.

Beyond the paper, which leaves this open.
"""

from pomrl.figures import Panel, PanelGrid, of_estimators

LEARNERS = ("oracle", "pomrl", "ada_pomrl", "meta_gradient")

PANELS = [
    Panel(f"σ = {sigma:g}", of_estimators("meta_gradient", {"sigma": sigma}, LEARNERS), "task", "se")
    for sigma in (0.01, 0.025, 0.047)
]

FIGURE = PanelGrid([PANELS])
