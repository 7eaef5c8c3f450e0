"""Figure 3: The loss of POMRL and ada-POMRL in each task when planning with gamma_eval, at sigma = 0.01.

Bands show one standard deviation.

The paper: "ada-POMRL enables meta-learning the task-similarity on-the-fly with a performance gap for the initial set of
tasks as compared to the oracle POMRL, but improves with more tasks".
"""

from pomrl.figures.parts.losses import Panel, PanelGrid, of_estimators
from pomrl.figures.parts.style import COLUMN_WIDTH

SWEEPS = ("task_similarity",)

PANEL = Panel("", of_estimators("task_similarity", {"sigma": 0.01}, ["pomrl", "ada_pomrl"]), "task", "sd")

FIGURE = PanelGrid([[PANEL]], legend_columns=2, width=COLUMN_WIDTH)
SERIES = FIGURE.series
draw = FIGURE.draw
