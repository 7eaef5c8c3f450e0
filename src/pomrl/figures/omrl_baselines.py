"""Figure F4: loss against gamma in each task, of ada-POMRL, the oracle, and without meta-learning, at sigma = 0.01;
bands of one standard deviation.

The paper: "(a) ada-POMRL. Meta updates include learning P_o, sigma, alpha as a function of tasks. (b) Oracle Prior
Knowledge considers the optimal alpha, true mean of the task distribution P_o and actual underlying task similarity
sigma as known apriori, (c) Without Meta-Learning estimates the transition kernel in each round T without any
meta-learning. All baselines are obtained with T = 15 tasks and m = 5 samples per task."
"""

from pomrl.figures.parts import loss_against_gamma, panels, uniform
from pomrl.figures.parts.drawing import Drawing, Tables
from pomrl.figures.parts.style import ESTIMATORS

SWEEPS = ("task_similarity",)
RUNS = 100

METHODS = ("ada_pomrl", "oracle", "without_meta")
PANELS = {
    panel: (
        ESTIMATORS[name].label,
        loss_against_gamma.wanted(panel, "task_similarity", {"sigma": 0.01, "estimator": name}),
    )
    for panel, name in zip("abc", METHODS, strict=True)
}


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    more = [panels.minimum_marker()]
    return uniform.figure(tables, [PANELS], loss_against_gamma, "sd", RUNS, columns=7, more=more)
