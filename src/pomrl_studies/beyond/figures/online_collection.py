"""Learners that collect their data.

Tasks of ten trajectories of ten steps instead of a generative model, collected by three policies.

Actions are uniform; or greedy in the present estimate, one in ten of them uniform; or greedy in a model drawn from the
learner's belief, updated before each trajectory. The final loss is at gamma_eval, and bands show one standard error.

Beyond the paper, which assumes a generative model (Sec. 3.2).
"""

from pomrl.figures import Panel, PanelGrid, of_estimators

TITLES = {"uniform": "Uniform", "epsilon_greedy": "Epsilon-greedy", "posterior_sampling": "Posterior sampling"}

LEARNERS = ("oracle", "without_meta", "ada_pomrl", "empirical_bayes")

PANELS = [
    Panel(title, of_estimators("online_collection", {"data.behaviour": behaviour}, LEARNERS), "task", "se")
    for behaviour, title in TITLES.items()
]

FIGURE = PanelGrid([PANELS])
