"""Figure 2: loss against gamma for several numbers of samples m, a panel for each weight alpha on the true prior; bands
of one standard error.

The paper: "The learner has m = 5, 10, 20, 50 samples per task to estimate the model, corresponding to the curves in
each sub figure. Inspecting any of the sub figures, we observe that larger values of m lead to lower planning loss and a
larger effective discount factor. Besides, inspecting one value of m across tasks (e.g., m = 5), we see that the same
effect (lower planning loss and larger effective discount) occurs when the learner puts more weight on the ground truth
prior through alpha."

The values of alpha, the number of runs and the kind of band are not given (A19).
"""

from pomrl.figures.parts import loss_against_gamma, panels, uniform
from pomrl.figures.parts.drawing import Drawing, Series, Tables
from pomrl.figures.parts.style import sequence

SWEEPS = ("illustration",)
RUNS = 100

SAMPLES = (5, 10, 20, 50)
ALPHAS = (0.0, 0.25, 0.5, 0.75)
PANELS = {
    panel: (
        f"α = {alpha:g}",
        [
            Series(panel, look, "illustration", {"estimator.mixing": alpha, "m": m})
            for m, look in zip(SAMPLES, sequence([f"m = {m}" for m in SAMPLES]), strict=True)
        ],
    )
    for panel, alpha in zip("abcd", ALPHAS, strict=True)
}


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    more = [panels.minimum_marker()]
    return uniform.figure(tables, [PANELS], loss_against_gamma, "se", RUNS, columns=5, more=more)
