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

from pomrl.figures.parts import horizon_per_task, loss_against_gamma, loss_per_task, panels
from pomrl.figures.parts.drawing import Drawing, Tables, collect
from pomrl.figures.parts.notes import annotate
from pomrl.figures.parts.style import TEXT_WIDTH, context

SWEEPS = ("task_similarity",)
RUNS = 100

ADA_POMRL = {"sigma": 0.01, "estimator": "ada_pomrl"}
PER_TASK = loss_per_task.wanted(
    "a", "task_similarity", {"sigma": 0.01}, ["oracle", "without_meta", "pomrl", "ada_pomrl"]
)
AGAINST_GAMMA = loss_against_gamma.wanted("b", "task_similarity", ADA_POMRL)
HORIZON = horizon_per_task.wanted("c", "task_similarity", ADA_POMRL)
WANTED = [*PER_TASK, *AGAINST_GAMMA, *HORIZON]


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    parts = [
        *(loss_per_task.points(tables, series) for series in PER_TASK),
        *(loss_against_gamma.points(tables, series) for series in AGAINST_GAMMA),
        *horizon_per_task.points(tables, HORIZON),
    ]
    data = collect(parts, WANTED)
    with context():
        figure, (a, b, c) = panels.row_of_panels(3, TEXT_WIDTH, 2.8)
        loss_per_task.draw(a, data, PER_TASK)
        loss_against_gamma.draw(b, data, AGAINST_GAMMA)
        right = horizon_per_task.draw(c, data, HORIZON)
        panels.letter(a, "a", "All methods, γ = γₑᵥₐₗ")
        panels.letter(b, "b", "ada-POMRL")
        panels.letter(c, "c", "ada-POMRL, best γ")
        panels.legend(a)
        panels.legend(b, columns=2, more=[panels.minimum_marker()])
        panels.legend(c, more=right.get_legend_handles_labels()[0])
        annotate(figure, data, WANTED, RUNS)
        panels.finish(figure)
    return Drawing(figure, data)
