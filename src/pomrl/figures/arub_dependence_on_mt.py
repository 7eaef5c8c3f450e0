"""Figure F3: average loss of ada-POMRL against gamma, for pairs of m and T; bands of one standard deviation.

The paper: "(a) For m = T, smaller loss is obtained with very small discount factor. This implies that with a lot of
uncertainty it is not interesting to plan far too ahead, (b) For m >> T, each task has enough samples to inform itself
resulting in slightly larger effective discount factors. Not a lot is gained in this scenario from meta-learning,
(c) m << T is the most interesting case as samples seen in each individual task are very limited due to small m.
However, the number of tasks are much more resulting in huge gains from leveraging shared structure across tasks."

What is gained is seen beside the average loss without meta-learning, which the paper does not draw.
"""

from pomrl.figures.parts import loss_against_gamma, panels, samples_and_tasks, uniform
from pomrl.figures.parts.drawing import Drawing, Tables

SWEEPS = ("samples_and_tasks",)
RUNS = 100

PANELS = samples_and_tasks.row("samples_and_tasks", {"a": (5, 5), "b": (20, 5), "c": (5, 30)})


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    more = [panels.minimum_marker()]
    return uniform.figure(tables, [PANELS], loss_against_gamma, "sd", RUNS, columns=4, more=more)
