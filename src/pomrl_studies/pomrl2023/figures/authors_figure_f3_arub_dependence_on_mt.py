"""Figure F3, as the authors would compute it: Few or many samples and tasks.

The average loss of ada-POMRL against gamma for three pairs of m and T.

By the notebook's definitions m counts trajectories of ten transitions; the concentration factor c is 1.5. Bands show
one standard error over 100 runs.
"""

from pomrl_studies.pomrl2023 import averages
from pomrl_studies.pomrl2023.overlay import AuthorsGrid

NAME = "authors_arub_dependence_on_mT"

FIGURE = AuthorsGrid([averages.average_row("computed_samples_and_tasks", [(5, 5), (20, 5), (5, 30)], band="se")])
