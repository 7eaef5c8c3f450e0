"""Figure 5: (a) to (c) loss per task at gamma_eval at three similarities, with draws of tasks on the simplex; (d) to
(f) loss of ada-POMRL against gamma. Bands of one standard deviation.

The paper: "POMRL and ada-POMRL are robust to varying task-similarity sigma for a small fixed amount of data m = 5
available at each round. A small value of sigma reflects the fact that tasks are closely related to each other and share
a good amount of structure whereas a much larger value indicates loosely related tasks (simplex plots illustrate the
meta-distribution in dimension 2). In the former case, meta-learning the shared structure alongside a good model
initialization leads to most gains. In the latter, the learner struggles to cope with new unseen tasks which differ
significantly. Error bars represent 1-standard deviation of uncertainty across 100 independent runs."

The simplex plots are of a symmetric Dirichlet of three states whose entries have the variance sigma.
"""

import pandas as pd

from pomrl.figures.parts import loss_against_gamma, panels, similarities
from pomrl.figures.parts.drawing import Drawing, Tables
from pomrl.figures.parts.notes import annotate
from pomrl.figures.parts.style import TEXT_WIDTH, context

SWEEPS = ("task_similarity",)
RUNS = 100

ESTIMATORS = ["oracle", "without_meta", "pomrl", "ada_pomrl"]
PER_TASK = similarities.wanted("abc", "task_similarity", {}, ESTIMATORS)
AGAINST_GAMMA = {
    panel: loss_against_gamma.wanted(panel, "task_similarity", {"sigma": sigma, "estimator": "ada_pomrl"})
    for panel, sigma in zip("def", similarities.SIGMAS, strict=True)
}
WANTED = [series for column in (*PER_TASK.values(), *AGAINST_GAMMA.values()) for series in column]


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    curves = [loss_against_gamma.points(tables, series, "sd") for column in AGAINST_GAMMA.values() for series in column]
    data = pd.concat([similarities.points(tables, PER_TASK), *curves], ignore_index=True)
    with context():
        figure = panels.blank(TEXT_WIDTH, 5.2)
        upper, lower = figure.subfigures(2, 1, squeeze=False)[:, 0]
        (above,) = panels.grid_of_panels(upper, 1, 3, share_y=True)
        (below,) = panels.grid_of_panels(lower, 1, 3, share_y=True)
        similarities.draw(above, data, PER_TASK)
        for ax, (panel, series) in zip(below, AGAINST_GAMMA.items(), strict=True):
            loss_against_gamma.draw(ax, data, series)
            panels.letter(ax, panel, "ada-POMRL")
            ax.label_outer()
        panels.shared_legend(upper, above, columns=4)
        panels.shared_legend(lower, below, columns=7, more=[panels.minimum_marker()])
        annotate(figure, data, WANTED, RUNS)
        panels.finish(figure)
    return Drawing(figure, data)
