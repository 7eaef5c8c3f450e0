"""Figure 3: Known and estimated similarity.

The loss of POMRL and ada-POMRL in each task when planning with gamma_eval, at sigma = 0.01.

Bands show one standard deviation.

The paper: "ada-POMRL enables meta-learning the task-similarity on-the-fly with a performance gap for the initial set of
tasks as compared to the oracle POMRL, but improves with more tasks".
"""

from pomrl.figures import COLUMN_WIDTH, Panel, PanelGrid, of_estimators

PANEL = Panel("", of_estimators("task_similarity", {"sigma": 0.01}, ["pomrl", "ada_pomrl"]), "task", "sd")

FIGURE = PanelGrid([[PANEL]], width=COLUMN_WIDTH)
