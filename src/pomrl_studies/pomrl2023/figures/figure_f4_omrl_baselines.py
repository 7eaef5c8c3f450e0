"""Draw Figure F4: the losses of three methods against gamma."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, figure, look, of_tasks

PANELS = [
    Panel(look(name).label, of_tasks("task_similarity", {"sigma": 0.01, "estimator": name}), "gamma", "sd")
    for name in ("ada_pomrl", "oracle", "without_meta")
]

GRID = PanelGrid([PANELS])


@figure(panels=GRID)
def omrl_baselines(data: DataFrame) -> Figure:
    """Figure F4: With meta-learning, the best γ is larger.

    The loss against gamma in several tasks t for three methods, at sigma = 0.01.

    The methods are ada-POMRL, the oracle, and planning without meta-learning.

    The paper: "Oracle Prior Knowledge considers the optimal alpha, true mean of the task distribution P_o and actual
    underlying task similarity sigma as known apriori [...]. All baselines are obtained with T = 15 tasks and m = 5
    samples per task."
    """
    return GRID.draw(data)
