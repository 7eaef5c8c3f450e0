"""Planning with online meta-learning."""

from pomrl.studies.pomrl.horizons import HORIZON, MINIMUM, HorizonPanel
from pomrl.study import (
    TEXT_WIDTH,
    Drawing,
    Kind,
    Panel,
    Series,
    StoredSweeps,
    collect,
    figure,
    of_estimators,
    of_tasks,
    panels,
)

ADA_POMRL = {"sigma": 0.01, "estimator": "ada_pomrl"}
ALL_METHODS = of_estimators("task_similarity", {"sigma": 0.01})
PER_TASK = Panel("All methods, γ = γₑᵥₐₗ", ALL_METHODS, "task", "sd").lettered("a")
AGAINST_GAMMA = Panel("ada-POMRL", of_tasks("task_similarity", ADA_POMRL), "gamma", "se").lettered("b")
LOSS_AT_BEST = Series(MINIMUM, "task_similarity", ADA_POMRL, panel="c")
BEST = Series(HORIZON, "task_similarity", ADA_POMRL, panel="c")
HORIZONS = HorizonPanel("ada-POMRL, best γ", LOSS_AT_BEST, BEST, "sd")
SERIES = [*PER_TASK.series, *AGAINST_GAMMA.series, *HORIZONS.series]


@figure(series=SERIES)
def planning_omrl(sweeps: StoredSweeps, kind: Kind | None = None) -> Drawing:
    """Figure 4: Planning with online meta-learning.

    Planning with online meta-learning at sigma = 0.01.

    The paper: "(a) Per-task planning loss of our algorithms POMRL and ada-POMRL compared to an Oracle, and Without
    Meta-learning baselines. All methods use a fixed gamma = gamma_eval = 0.99. (b) ada-POMRL's planning loss decreases
    as more tasks are seen. Markers denote the gamma that minimizes the planning loss in respective tasks. Error bars
    show standard error. (c) ada-POMRL's empirically optimal guidance discount factor (right y axis) depicts the
    effective planning horizon, i.e., one that minimizes the planning loss. [...] Planning loss (left y axis) shows the
    minimum planning loss achieved by the agent in that round T. Results are averaged over 100 independent runs and
    error bars represent 1-standard deviation."

    In our panel (b) a curve shows the loss in task t, not the average over tasks 1 to t. In panel (c) gamma* minimises
    the mean loss over runs, so there is one value for all runs; its bars show a bootstrap standard deviation, and with
    95 % intervals those of the bootstrap.
    """
    points = [points for panel in (PER_TASK, AGAINST_GAMMA, HORIZONS) for points in panel.points(sweeps, kind)]
    data = collect(points, SERIES)
    figure, (a, b, c) = panels.row_of_panels(3, TEXT_WIDTH, 2.8)
    PER_TASK.draw(a, data)
    AGAINST_GAMMA.draw(b, data)
    right = HORIZONS.draw(c, data)
    panels.legend(a)
    panels.legend(b, columns=2, more=[panels.minimum_marker()])
    panels.legend(c, more=right.get_legend_handles_labels()[0])
    return panels.finish(figure, data, SERIES, sweeps)
