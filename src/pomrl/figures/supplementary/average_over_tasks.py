"""What Figures 4 (b), 5 (d) to (f) and F4 show if a curve "T = j" is the average over the first j tasks and not the
loss in task j: captions and names of files disagree about it (A10). Bands of one standard error.
"""

from pomrl.figures.parts import loss_against_gamma, panels, uniform
from pomrl.figures.parts.drawing import Drawing, Tables
from pomrl.figures.parts.style import ESTIMATORS

SWEEPS = ("task_similarity",)
RUNS = 100

SHOWN = {
    "a": ("ada_pomrl", 0.01),
    "b": ("ada_pomrl", 0.025),
    "c": ("ada_pomrl", 0.047),
    "d": ("oracle", 0.01),
    "e": ("without_meta", 0.01),
    "f": ("pomrl", 0.01),
}
"""Estimator and sigma of each panel."""

PANELS = {
    panel: (
        f"{ESTIMATORS[name].label}, σ = {sigma:g}",
        loss_against_gamma.wanted_averages(panel, "task_similarity", {"sigma": sigma, "estimator": name}),
    )
    for panel, (name, sigma) in SHOWN.items()
}
ROWS = [{panel: PANELS[panel] for panel in letters} for letters in ("abc", "def")]


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    more = [panels.minimum_marker()]
    return uniform.figure(tables, ROWS, loss_against_gamma, "se", RUNS, columns=7, more=more)
