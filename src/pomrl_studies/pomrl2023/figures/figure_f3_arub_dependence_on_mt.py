"""Figure F3: Few or many samples and tasks.

The average loss of ada-POMRL against gamma for three pairs of m and T.

Bands show one standard deviation.

The paper: "(a) For m = T, smaller loss is obtained with very small discount factor. This implies that with a lot of
uncertainty it is not interesting to plan far too ahead, (b) For m >> T, each task has enough samples to inform itself
resulting in slightly larger effective discount factors. Not a lot is gained in this scenario from meta-learning,
(c) m << T is the most interesting case as samples seen in each individual task are very limited due to small m.
However, the number of tasks are much more resulting in huge gains from leveraging shared structure across tasks."

The average loss without meta-learning, which the paper does not draw, is added to show what meta-learning gains.
"""

from pomrl.figures import PanelGrid
from pomrl_studies.pomrl2023 import averages

NAME = "arub_dependence_on_mT"

FIGURE = PanelGrid([averages.average_row("samples_and_tasks", [(5, 5), (20, 5), (5, 30)])])
