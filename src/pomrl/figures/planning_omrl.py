"""Figure 4: planning with online meta-learning, at sigma = 0.01.

The paper: "(a) Per-task planning loss of our algorithms POMRL and ada-POMRL compared to an Oracle, and Without
Meta-learning baselines. All methods use a fixed gamma = gamma_eval = 0.99. (b) ada-POMRL's planning loss decreases as
more tasks are seen. Markers denote the gamma that minimizes the planning loss in respective tasks. Error bars show
standard error. (c) ada-POMRL's empirically optimal guidance discount factor (right y axis) depicts the effective
planning horizon, i.e., one that minimizes the planning loss. [...] Planning loss (left y axis) shows the minimum
planning loss achieved by the agent in that round T. Results are averaged over 100 independent runs and error bars
represent 1-standard deviation."

Here a curve of (b) is the loss in task t, not the average over the tasks up to t. In (c) the gamma that minimises a
mean over runs has no deviation over runs: its bar is a bootstrap deviation.
"""

import pandas as pd
from matplotlib.lines import Line2D

from pomrl.figures import horizon_per_task, loss_against_gamma, loss_per_task, panels
from pomrl.figures.drawing import Drawing, collect
from pomrl.figures.notes import annotate
from pomrl.figures.style import TEXT_WIDTH, context

EXPERIMENT = "task_similarity"
RUNS = 100

SIGMA = 0.01
PER_TASK = loss_per_task.wanted("a", SIGMA, ["oracle", "without_meta", "pomrl", "ada_pomrl"])
AGAINST_GAMMA = loss_against_gamma.wanted("b", SIGMA, "ada_pomrl", [1, 2, 3, 5, 10, 15])
HORIZON = horizon_per_task.wanted("c", SIGMA, "ada_pomrl")
WANTED = [*PER_TASK, *AGAINST_GAMMA, *HORIZON]


def draw(tables: pd.DataFrame) -> Drawing:
    """The figure, from the tables of the sweep. ValueError where they hold nothing of it."""
    data = _data(tables)
    with context():
        figure, (a, b, c) = panels.row_of_panels(3, TEXT_WIDTH, 2.8)
        loss_per_task.draw(a, data, PER_TASK)
        loss_against_gamma.draw(b, data, AGAINST_GAMMA)
        right = horizon_per_task.draw(c, data, HORIZON)
        panels.letter(a, "a", f"All methods, γ = {tables['gamma'].max():g}")
        panels.letter(b, "b", "ada-POMRL")
        panels.letter(c, "c", "ada-POMRL, best γ")
        panels.legend(a)
        minimum = Line2D([], [], marker="o", linestyle="", color="white", markeredgecolor="black", label="minimum")
        panels.legend(b, columns=2, more=[minimum])
        panels.legend(c, more=right.get_legend_handles_labels()[0])
        annotate(figure, data, WANTED, RUNS)
        panels.finish(figure)
    return Drawing(figure, data)


def _data(tables: pd.DataFrame) -> pd.DataFrame:
    parts = [
        *(loss_per_task.points(tables, series) for series in PER_TASK),
        *(loss_against_gamma.points(tables, series) for series in AGAINST_GAMMA),
        *horizon_per_task.points(tables, HORIZON),
    ]
    return collect(parts, WANTED)
