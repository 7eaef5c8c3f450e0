"""Draw losses with unequal numbers of transitions."""

from pomrl.figures import DataFrame, Figure, Look, Panel, PanelGrid, Series, at_largest_gamma, figure, look, palette

TITLES = {"extremes": "one or fifteen", "geometric": "geometric"}

KEYS = ("estimator.samples", "estimator.weights")

NUMBERS = {
    ("m", "tasks"): Look("mean number", palette.VERMILION, "D"),
    ("visits", "tasks"): Look("own number", palette.GREEN, "o"),
    ("visits", "transitions"): Look("own number, transitions weigh equally", palette.BLUE, "s"),
}
"""Plot styles by the number of transitions in the mixing rate and the weights of averages over tasks."""


def _panel(numbers: str, learner: str) -> Panel:
    panel_settings = {"data.numbers": numbers, "estimator": learner}
    settings = {look: dict(zip(KEYS, values, strict=True)) for values, look in NUMBERS.items()}
    series = [
        Series(look, "unequal_data", {**panel_settings, **own}, at_largest_gamma) for look, own in settings.items()
    ]
    return Panel(f"{look(learner).label}, {TITLES[numbers]}", series, "task", "se")


GRID = PanelGrid([[_panel(numbers, name) for name in ("pomrl", "ada_pomrl")] for numbers in TITLES])


@figure(panels=GRID)
def unequal_data(data: DataFrame) -> Figure:
    """Each pair's own number of transitions beats the mean number.

    The loss where numbers of transitions differ between pairs and between tasks, for three uses of these numbers.

    Each pair has eight transitions on average: one or fifteen, equally likely, or a geometric number. The loss is at
    gamma_eval.

    Beyond the paper, which assumes m transitions from every pair of every task (Sec. 3.2).
    """
    return GRID.draw(data)
