"""Draw the losses of learners with data of their own policies."""

from pomrl.figures import DataFrame, Figure, Panel, PanelGrid, figure, of_estimators

TITLES = {"uniform": "Uniform", "epsilon_greedy": "Epsilon-greedy", "posterior_sampling": "Posterior sampling"}

LEARNERS = ("oracle", "without_meta", "ada_pomrl", "empirical_bayes")

PANELS = [
    Panel(title, of_estimators("online_collection", {"data.behaviour": behaviour}, LEARNERS), "task", "se")
    for behaviour, title in TITLES.items()
]

GRID = PanelGrid([PANELS])


@figure(panels=GRID)
def online_collection(data: DataFrame) -> Figure:
    """Learners that collect their data.

    The loss in each task, from ten trajectories of ten steps instead of a generative model, collected by three
    policies.

    Actions are uniform; greedy in the estimate, with one in ten uniform; or greedy in a model drawn from the learner's
    belief. Estimate and belief are updated before each trajectory. The loss is at gamma_eval.

    Beyond the paper, which assumes a generative model (Sec. 3.2).
    """
    return GRID.draw(data)
