"""Draw losses in families of models."""

from collections.abc import Sequence

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, figure, of_estimators

LEARNERS = ("without_meta", "ada_pomrl", "pomrl", "aggregating", "oracle", "empirical_bayes", "exact_posterior")

TITLES = {
    "river_swim": "RiverSwim",
    "inventory": "Inventory",
    "queue": "Queue",
    "machine_replacement": "Machine replacement",
    "forest": "Forest",
    "garnet": "Garnet",
    "frozen_lake": "FrozenLake 4x4",
    "frozen_lake_8x8": "FrozenLake 8x8",
    "cliff_walking": "CliffWalking",
}
"""Titles of the families, by their options."""


def learners_grid(sweep: str, learners: Sequence[str]) -> PanelGrid:
    """Return a grid of losses, with a panel per family."""
    spread = {"task_distribution.spread": 0.15}
    series = {family: of_estimators(sweep, {"task_distribution": family, **spread}, learners) for family in TITLES}
    grid_panels = [Panel(TITLES[family], panel_series, "task", "ci") for family, panel_series in series.items()]
    return PanelGrid([grid_panels[:3], grid_panels[3:6], grid_panels[6:]], share_y=False)


GRID = learners_grid("families", LEARNERS)


@figure(panels=GRID)
def families(data: DataFrame) -> Figure:
    """Meta-learning does not help in every family of models.

    The planning loss in each task, with a latent that differs from task to task.

    The spread of the latent is 0.15. All plan with γ_eval; losses are in the units of the family's rewards.
    """
    return GRID.draw(data)
