"""Figure 3: POMRL and ada-POMRL lose less in the last task than in the first.

The loss of POMRL and ada-POMRL in each task when planning with gamma_eval, at sigma = 0.01.
"""

from pomrl.figures import COLUMN_WIDTH, Panel, PanelGrid, of_estimators

PANEL = Panel("", of_estimators("task_similarity", {"sigma": 0.01}, ["pomrl", "ada_pomrl"]), "task", "sd")

FIGURE = PanelGrid([[PANEL]], width=COLUMN_WIDTH)
