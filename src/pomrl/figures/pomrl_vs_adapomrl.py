"""Figure 3: loss per task at gamma_eval, of POMRL and ada-POMRL, at sigma = 0.01; bands of one standard deviation.

The paper: "ada-POMRL enables meta-learning the task-similarity on-the-fly with a performance gap for the initial set of
tasks as compared to the oracle POMRL, but improves with more tasks".
"""

import pandas as pd

from pomrl.figures import loss_per_task, panels
from pomrl.figures.drawing import Drawing, collect
from pomrl.figures.notes import annotate
from pomrl.figures.style import COLUMN_WIDTH, context

EXPERIMENT = "task_similarity"
RUNS = 100

WANTED = loss_per_task.wanted("", 0.01, ["pomrl", "ada_pomrl"])


def draw(tables: pd.DataFrame) -> Drawing:
    """The figure, from the tables of the sweep. ValueError where they hold nothing of it."""
    data = collect([loss_per_task.points(tables, series) for series in WANTED], WANTED)
    with context():
        figure, (ax,) = panels.row_of_panels(1, COLUMN_WIDTH, 2.4)
        loss_per_task.draw(ax, data, WANTED)
        panels.shared_legend(figure, [ax], columns=2)
        annotate(figure, data, WANTED, RUNS)
        panels.finish(figure)
    return Drawing(figure, data)
