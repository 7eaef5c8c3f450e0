"""Numbers of transitions that differ from pair to pair and from task to task: what the formulas do with them.

Each pair has eight transitions on average: one or fifteen, equally likely, or a geometric number, which may be 0. The
mixing rate has the pair's own number in the place of m, or the mean number; averages over tasks weigh tasks equally, as
the paper's do, or transitions. The loss is that at gamma_eval, and bands show one standard error.

Beyond the paper, which assumes m transitions from every pair of every task (Sec. 3.2).
"""

from pomrl.figures.parts.drawing import Series
from pomrl.figures.parts.losses import Panel, PanelGrid
from pomrl.figures.parts.style import UNEQUAL
from pomrl.figures.parts.views import at_largest_gamma

SWEEPS = ("unequal_data",)

TITLES = {"extremes": "one or fifteen", "geometric": "geometric"}
LEARNERS = {"pomrl": "POMRL(σ)", "ada_pomrl": "ada-POMRL"}

PANELS = [
    [
        Panel(
            f"{learner}, {title}",
            [
                Series(
                    look,
                    SWEEPS[0],
                    {
                        "data.numbers": numbers,
                        "estimator": name,
                        "estimator.samples": samples,
                        "estimator.weights": weights,
                    },
                    at_largest_gamma,
                )
                for (samples, weights), look in UNEQUAL.items()
            ],
            "task",
            "se",
        )
        for name, learner in LEARNERS.items()
    ]
    for numbers, title in TITLES.items()
]

FIGURE = PanelGrid(PANELS, legend_columns=3)
SERIES = FIGURE.series
draw = FIGURE.draw
