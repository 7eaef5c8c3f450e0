"""Draw Figure 4: losses over tasks and against gamma."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, Series, dynamic_best, figure, of_estimators, of_tasks
from pomrl_studies.pomrl2023.horizon_panels import HORIZON, MINIMUM, HorizonPanel

SWEEP = "task_similarity"
ADA_POMRL = {"sigma": 0.01, "estimator": "ada_pomrl"}

GRID = PanelGrid(
    [
        [
            Panel("All methods, γ = γₑᵥₐₗ", of_estimators(SWEEP, {"sigma": 0.01}), "task", "sd"),
            Panel("ada-POMRL", of_tasks(SWEEP, ADA_POMRL), "gamma", "se"),
        ],
        [
            Panel("ada-POMRL, γ = γ*", [Series(MINIMUM, SWEEP, ADA_POMRL, dynamic_best)], "task", "sd"),
            HorizonPanel("ada-POMRL", [Series(HORIZON, SWEEP, ADA_POMRL)], "task", "sd"),
        ],
    ],
    share_y=False,
)


@figure(panels=GRID)
def planning_omrl(data: DataFrame) -> Figure:
    """Figure 4: Over tasks, ada-POMRL's loss falls, and the best γ grows.

    Planning with online meta-learning at sigma = 0.01.

    The paper: "(a) [...] All methods use a fixed gamma = gamma_eval = 0.99. (b) [...] Markers denote the gamma that
    minimizes the planning loss in respective tasks. Error bars show standard error. (c) ada-POMRL's empirically optimal
    guidance discount factor (right y axis) depicts the effective planning horizon [...]. Planning loss (left y axis)
    shows the minimum planning loss achieved by the agent in that round T. Results are averaged over 100 independent
    runs and error bars represent 1-standard deviation."

    In our panel (b) a curve shows the loss in task t, not the average over tasks 1 to t. Panels (c) and (d) are the
    paper's panel (c).
    """
    return GRID.draw(data)
