"""Rows that move together.

The planning loss in each task on models that people know, with a learner that finds out whether rows are tied.

A panel for each family, at a spread of 0.15 of the latent, when planning with γ_eval; losses are in the units of the
family's rewards. Bands show 95 % intervals of the mean.
"""

from pomrl.studies.beyond.figures.families import TITLES
from pomrl.study import Panel, PanelGrid, of_estimators

LEARNERS = ("without_meta", "ada_pomrl", "empirical_bayes", "tied_rows", "exact_posterior")


def _panel(family: str) -> Panel:
    settings = {"task_distribution": family, "task_distribution.spread": 0.15}
    return Panel(TITLES[family], of_estimators("tied_rows", settings, LEARNERS), "task", "ci")


_PANELS = [_panel(family) for family in TITLES]
FIGURE = PanelGrid([_PANELS[i : i + 3] for i in (0, 3, 6)], share_y=False)
