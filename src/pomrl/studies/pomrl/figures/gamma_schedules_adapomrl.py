"""Schedules with ada-POMRL.

Panels (a) and (b) of Figure 6 with ada-POMRL instead of POMRL.

ada-POMRL has to estimate the task similarity, which two of the schedules use. Bands show one standard error.
"""

from pomrl.studies.pomrl import schedules
from pomrl.study import PanelGrid

ROW = schedules.all_and_averages("ada_pomrl")

FIGURE = PanelGrid([ROW], legend_columns=5, row_height=2.8, share_y=False)
