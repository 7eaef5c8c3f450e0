"""Figure F5: average loss of ada-POMRL against gamma, for pairs of m and T, at 20 and 30 states; bands of one standard
deviation.

The paper: "We note that despite larger state-space we observe the same effect [as with 10 states]. Results are averaged
over 20 independent runs".
"""

from pomrl.figures.parts import loss_against_gamma, panels, samples_and_tasks, uniform
from pomrl.figures.parts.drawing import Drawing, Tables

SWEEPS = ("states_20", "states_30")
RUNS = 20

ROWS = [
    samples_and_tasks.row("states_20", {"a": (5, 5), "b": (20, 5), "c": (5, 30)}, "S = 20, "),
    samples_and_tasks.row("states_30", {"d": (5, 5), "e": (20, 5), "f": (5, 15)}, "S = 30, "),
]


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    more = [panels.minimum_marker()]
    return uniform.figure(tables, ROWS, loss_against_gamma, "sd", RUNS, columns=4, more=more)
