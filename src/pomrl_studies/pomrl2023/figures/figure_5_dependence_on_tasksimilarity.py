"""Draw Figure 5: the loss at three task similarities."""

import pandas as pd

from pomrl.figures import TEXT_WIDTH, Figure, Kind, Panel, StoredSweeps, draw_row, figure, of_tasks, panels, series_of
from pomrl_studies.pomrl2023 import similarities

PER_TASK = similarities.similarity_panels("task_similarity")
AGAINST_GAMMA = [
    Panel(
        f"ada-POMRL, σ = {sigma:g}",
        of_tasks("task_similarity", {"sigma": sigma, "estimator": "ada_pomrl"}),
        "gamma",
        "sd",
    ).with_letter(letter)
    for letter, sigma in zip("def", similarities.STRUCTURES, strict=True)
]
SERIES = [*PER_TASK.series, *series_of(AGAINST_GAMMA)]


def _points(sweeps: StoredSweeps, kind: Kind | None = None) -> pd.DataFrame:
    curves = [points for panel in AGAINST_GAMMA for points in panel.points(sweeps, kind)]
    return pd.concat([PER_TASK.points(sweeps, kind), *curves], ignore_index=True)


@figure(points=_points, series=SERIES)
def dependence_on_tasksimilarity(data: pd.DataFrame) -> Figure:
    """Figure 5: Meta-learning gains at every similarity, and most where tasks are similar.

    The loss in each task, and the loss of ada-POMRL against gamma, at three task similarities sigma.

    Panels (a) to (c) show the loss at gamma_eval, panels (d) to (f) the loss of ada-POMRL in several tasks t.

    The paper: "POMRL and ada-POMRL are robust to varying task-similarity sigma for a small fixed amount of data m = 5
    available at each round. [...] Error bars represent 1-standard deviation of uncertainty across 100 independent
    runs."

    The insets show draws from a symmetric Dirichlet distribution over three states whose entries have the variance
    sigma.
    """
    figure = panels.blank(TEXT_WIDTH, 5.2)
    upper, lower = figure.subfigures(2, 1, squeeze=False)[:, 0]
    (above,) = panels.grid_of_panels(upper, 1, 3, share_y=True)
    (below,) = panels.grid_of_panels(lower, 1, 3, share_y=True)
    PER_TASK.draw_row(above, data, PER_TASK.panels)
    draw_row(below, data, AGAINST_GAMMA)
    panels.add_shared_legend(upper, above)
    panels.add_shared_legend(lower, below, more=[panels.minimum_marker()])
    return figure
