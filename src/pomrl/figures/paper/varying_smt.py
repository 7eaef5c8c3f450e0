"""Figure F5: The average loss of ada-POMRL against gamma for pairs of m and T, with 20 and with 30 states.

Bands show one standard deviation.

The paper: "We note that despite larger state-space we observe the same effect [as with 10 states]. Results are averaged
over 20 independent runs".
"""

from pomrl.figures.parts import samples_and_tasks
from pomrl.figures.parts.losses import PanelGrid

SWEEPS = ("states_20", "states_30")

ROWS = [
    samples_and_tasks.row("states_20", [(5, 5), (20, 5), (5, 30)], "S = 20, "),
    samples_and_tasks.row("states_30", [(5, 5), (20, 5), (5, 15)], "S = 30, "),
]

FIGURE = PanelGrid(ROWS, legend_columns=4)
SERIES = FIGURE.series
draw = FIGURE.draw
