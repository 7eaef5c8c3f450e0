"""Models that people know.

The planning loss in each task on models that people know, with a latent that differs from task to task.

A panel for each family, at a spread of 0.15 of the latent, when planning with γ_eval; losses are in the units of the
family's rewards. Bands show 95 % intervals of the mean.
"""

from pomrl.study import Panel, PanelGrid, of_estimators

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


def _panel(family: str) -> Panel:
    settings = {"task_distribution": family, "task_distribution.spread": 0.15}
    return Panel(TITLES[family], of_estimators("families", settings, LEARNERS), "task", "ci")


_PANELS = [_panel(family) for family in TITLES]
FIGURE = PanelGrid([_PANELS[i : i + 3] for i in (0, 3, 6)], share_y=False)
