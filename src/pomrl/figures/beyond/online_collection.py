"""Tasks of ten trajectories of ten steps in place of a generative model, collected by three policies.

Actions are uniform; or those of the best policy in the learner's present estimate, one in ten of them uniform; or
those of the best policy in a model that is drawn from what the learner believes. The estimate is renewed before each
trajectory. The loss is that at gamma_eval after all of them, and bands show one standard error.

Beyond the paper, which assumes a generative model (Sec. 3.2).
"""

from pomrl.figures.parts.drawing import Series
from pomrl.figures.parts.losses import Panel, PanelGrid
from pomrl.figures.parts.style import BEYOND, ESTIMATORS
from pomrl.figures.parts.views import at_largest_gamma

SWEEPS = ("online_collection",)

TITLES = {"uniform": "Uniform", "epsilon_greedy": "Epsilon-greedy", "posterior_sampling": "Posterior sampling"}

LOOKS = {name: (ESTIMATORS | BEYOND)[name] for name in ("oracle", "without_meta", "ada_pomrl", "empirical_bayes")}

PANELS = [
    Panel(
        title,
        [
            Series(look, SWEEPS[0], {"data.behaviour": behaviour, "estimator": name}, at_largest_gamma)
            for name, look in LOOKS.items()
        ],
        "task",
        "se",
    )
    for behaviour, title in TITLES.items()
]

FIGURE = PanelGrid([PANELS], legend_columns=4)
SERIES = FIGURE.series
draw = FIGURE.draw
