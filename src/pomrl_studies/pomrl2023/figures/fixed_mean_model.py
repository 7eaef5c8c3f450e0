"""Draw losses with one mean model, or one for each run."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, figure, of_estimators

TITLES = {"per_run": "A mean model for each run", "fixed": "One mean model for all runs"}
PANELS = [
    Panel(title, of_estimators("fixed_mean_model", {"task_distribution.mean_model": mean_model}), "task", "sd")
    for mean_model, title in TITLES.items()
]

GRID = PanelGrid([PANELS])


@figure(panels=GRID)
def fixed_mean_model(data: DataFrame) -> Figure:
    """One mean model, or one for each run.

    Panel (a) of Figure 4 with a mean model for each run, and with one mean model for all runs (R6).

    The paper: "For each experiment, we fix a mean model"; it does not say which one.
    """
    return GRID.draw(data)
