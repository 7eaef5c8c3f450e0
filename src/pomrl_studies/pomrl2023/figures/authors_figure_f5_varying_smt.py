"""Figure F5, as the authors would compute it: More states.

The average loss against gamma for pairs of m and T, with more states.

By the notebook's definitions m counts trajectories of ten transitions. Pairs have five successors before smoothing, and
the concentration is proportional to the number of states (factor c = 1.5). Bands show one standard error over 20 runs.
"""

from pomrl_studies.pomrl2023 import averages
from pomrl_studies.pomrl2023.overlay import AuthorsGrid

ROWS = [
    averages.average_row("computed_states_20", [(5, 5), (20, 5), (5, 30)], "S = 20, ", "se"),
    averages.average_row("computed_states_30", [(5, 5), (20, 5), (5, 15)], "S = 30, ", "se"),
]
NAME = "authors_varyingSmT"

FIGURE = AuthorsGrid(ROWS)
