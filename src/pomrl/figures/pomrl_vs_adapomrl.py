"""Figure 3: loss per task at gamma_eval, of POMRL and ada-POMRL, at sigma = 0.01; bands of one standard deviation.

The paper: "ada-POMRL enables meta-learning the task-similarity on-the-fly with a performance gap for the initial set of
tasks as compared to the oracle POMRL, but improves with more tasks".
"""

from pomrl.figures.parts import loss_per_task, uniform
from pomrl.figures.parts.drawing import Drawing, Tables
from pomrl.figures.parts.style import COLUMN_WIDTH

SWEEPS = ("task_similarity",)
RUNS = 100

PANEL = {"": ("", loss_per_task.wanted("", "task_similarity", {"sigma": 0.01}, ["pomrl", "ada_pomrl"]))}


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    return uniform.figure(tables, [PANEL], loss_per_task, "sd", RUNS, width=COLUMN_WIDTH, columns=2)
