"""Figure 3: Known and estimated similarity.

The loss of POMRL and ada-POMRL in each task when planning with gamma_eval, at sigma = 0.01.
"""

from pomrl.figures import COLUMN_WIDTH, Panel, PanelGrid, of_estimators

PANEL = Panel("", of_estimators("task_similarity", {"sigma": 0.01}, ["pomrl", "ada_pomrl"]), "task", "sd")

FIGURE = PanelGrid([[PANEL]], width=COLUMN_WIDTH)
