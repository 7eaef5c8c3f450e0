"""Learners that collect their data.

Tasks of ten trajectories of ten steps in place of a generative model, collected by three policies.

Actions are uniform; or those of the best policy in the learner's present estimate, one in ten of them uniform; or
those of the best policy in a model that is drawn from what the learner believes. The estimate is renewed before each
trajectory. The loss is that at gamma_eval after all of them, and bands show one standard error.

Beyond the paper, which assumes a generative model (Sec. 3.2).
"""

from pomrl.study import Panel, PanelGrid, Series, at_largest_gamma, look

SWEEP = "online_collection"

TITLES = {"uniform": "Uniform", "epsilon_greedy": "Epsilon-greedy", "posterior_sampling": "Posterior sampling"}

LOOKS = {name: look(name) for name in ("oracle", "without_meta", "ada_pomrl", "empirical_bayes")}

PANELS = [
    Panel(
        title,
        [
            Series(look, SWEEP, {"data.behaviour": behaviour, "estimator": name}, at_largest_gamma)
            for name, look in LOOKS.items()
        ],
        "task",
        "se",
    )
    for behaviour, title in TITLES.items()
]

FIGURE = PanelGrid([PANELS], legend_columns=4)
