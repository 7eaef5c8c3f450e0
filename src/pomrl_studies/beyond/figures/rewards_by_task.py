"""Draw losses with other rewards in each task."""

import pandas as pd

from pomrl.figures import AVERAGE_LOSS, Figure, Panel, PanelGrid, figure, of_estimators

LEARNERS = ("ada_pomrl", "empirical_bayes", "tied_rows")

REWARDS = {True: "own prices", False: "mean prices"}


def _average(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.groupby(["run", "gamma"])[["planning_loss"]].mean().reset_index()


def _panel(gamma_eval: float, *, differ: bool) -> Panel:
    setting = {"task_distribution.prices_differ": differ, "gamma_eval": gamma_eval}
    series = of_estimators("rewards_by_task", setting, LEARNERS, _average)
    return Panel(f"{REWARDS[differ]}, γₑᵥₐₗ = {gamma_eval:g}", series, "gamma", "se", label=AVERAGE_LOSS)


ROWS = [[_panel(gamma_eval, differ=differ) for differ in REWARDS] for gamma_eval in (0.95, 0.99)]

GRID = PanelGrid(ROWS, share_y=False)


@figure(panels=GRID)
def rewards_by_task(data: pd.DataFrame) -> Figure:
    """Rewards that differ from task to task.

    The planning loss against the discount factor, averaged over tasks, for customers with different batteries.

    Models vary between tasks; in (a) and (c) rewards vary too, in (b) and (d) all customers have the mean prices.
    Losses are at γ_eval, the largest discount factor of each panel.
    """
    return GRID.draw(data)
