"""Panels (a) of Figure 4 with a mean model for each run, and with one for all runs (A6); bands of one standard
deviation.

The paper: "For each experiment, we fix a mean model"; which one is not said.
"""

from pomrl.figures.parts import loss_per_task, uniform
from pomrl.figures.parts.drawing import Drawing, Tables

SWEEPS = ("fixed_mean_model",)
RUNS = 100

ESTIMATORS = ["oracle", "without_meta", "pomrl", "ada_pomrl"]
TITLES = {"per_run": "A mean model for each run", "fixed": "One mean model for all runs"}
PANELS = {
    panel: (
        title,
        loss_per_task.wanted(panel, "fixed_mean_model", {"task_distribution.mean_model": mean_model}, ESTIMATORS),
    )
    for panel, (mean_model, title) in zip("ab", TITLES.items(), strict=True)
}


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    return uniform.figure(tables, [PANELS], loss_per_task, "sd", RUNS, columns=4)
