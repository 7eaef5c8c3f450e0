"""Draw losses with a changing mean model."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, figure, of_estimators

TITLES = {"stationary": "Stationary", "drift": "Drift", "switch": "Switch", "cycle": "Three in turn"}

LEARNERS = ("oracle", "ada_pomrl", "ada_pomrl_forgetting", "empirical_bayes", "empirical_bayes_forgetting", "mixture")

PANELS = [
    Panel(title, of_estimators("streams", {"stream": stream}, LEARNERS), "task", "se")
    for stream, title in TITLES.items()
]

GRID = PanelGrid([PANELS[:2], PANELS[2:]])


@figure(panels=GRID)
def streams(data: DataFrame) -> Figure:
    """Learned forgetting helps where the mean model changes, and costs little elsewhere.

    The loss at gamma_eval where the mean model of tasks stays, drifts, switches once, or is one of three in turn.

    The drift moves each entry by about sigma per task; the switch is at task 20. Two learners forget at a learned rate;
    the mixture averages up to four mean models; the oracle knows the present one.

    Beyond the paper, which assumes that all tasks come from one distribution (Sec. 3.1).
    """
    return GRID.draw(data)
