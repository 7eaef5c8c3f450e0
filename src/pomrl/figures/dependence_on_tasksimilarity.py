"""Figure 5, (a) to (c): loss per task at gamma_eval at three similarities; bands of one standard deviation.

The paper: "POMRL and ada-POMRL are robust to varying task-similarity sigma for a small fixed amount of data m = 5
available at each round. A small value of sigma reflects the fact that tasks are closely related to each other and share
a good amount of structure whereas a much larger value indicates loosely related tasks [...]. In the former case,
meta-learning the shared structure alongside a good model initialization leads to most gains. In the latter, the learner
struggles to cope with new unseen tasks which differ significantly. Error bars represent 1-standard deviation of
uncertainty across 100 independent runs."
"""

import pandas as pd

from pomrl.figures import loss_per_task, panels
from pomrl.figures.drawing import Drawing, collect
from pomrl.figures.notes import annotate
from pomrl.figures.style import TEXT_WIDTH, context

EXPERIMENT = "task_similarity"
RUNS = 100

COLUMNS = {"a": ("Strong structure", 0.01), "b": ("Medium structure", 0.025), "c": ("Loosely structured", 0.047)}
ESTIMATORS = ["oracle", "without_meta", "pomrl", "ada_pomrl"]
PER_TASK = {panel: loss_per_task.wanted(panel, sigma, ESTIMATORS) for panel, (_, sigma) in COLUMNS.items()}
WANTED = [series for column in PER_TASK.values() for series in column]


def draw(tables: pd.DataFrame) -> Drawing:
    """The figure, from the tables of the sweep. ValueError where they hold nothing of it."""
    data = collect([loss_per_task.points(tables, series) for series in WANTED], WANTED)
    with context():
        figure, axes = panels.row_of_panels(3, TEXT_WIDTH, 2.4, share_y=True)
        for ax, (panel, (name, sigma)) in zip(axes, COLUMNS.items(), strict=True):
            loss_per_task.draw(ax, data, PER_TASK[panel])
            panels.letter(ax, panel, f"{name}, σ = {sigma:g}")
            ax.label_outer()
        panels.shared_legend(figure, axes, columns=len(ESTIMATORS))
        annotate(figure, data, WANTED, RUNS)
        panels.finish(figure)
    return Drawing(figure, data)
