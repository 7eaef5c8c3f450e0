"""Figure F3, as the authors would compute it: Few or many samples and tasks.

The loss of ada-POMRL against gamma, averaged over the first tasks, for three pairs of m and T. The average loss without
meta-learning is over all tasks.

By the notebook's definitions m counts trajectories of ten transitions, and the concentration of the Dirichlet
distribution is 1.5 S. Bands show one standard error over 100 runs.
"""

from pomrl_studies.pomrl2023 import averages
from pomrl_studies.pomrl2023.overlay import AuthorsGrid

NAME = "authors_arub_dependence_on_mT"

FIGURE = AuthorsGrid([averages.average_row("computed_samples_and_tasks", [(5, 5), (20, 5), (5, 30)], band="se")])
