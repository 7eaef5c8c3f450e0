"""Planning with online meta-learning."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from pomrl.studies.pomrl import agreement, overlay
from pomrl.studies.pomrl.agreement import AuthorsSeries
from pomrl.studies.pomrl.horizons import HORIZON, MINIMUM, HorizonPanel
from pomrl.study import (
    METHODS,
    TEXT_WIDTH,
    Drawing,
    Kind,
    Panel,
    StoredSweeps,
    figure,
    panels,
    series_of,
)

SHOWN = (1.5, overlay.DIGITISED)


def _row(c: float, letters: str) -> list[Panel]:
    """Return the panels against the task and against gamma."""
    row = overlay.per_task(c, METHODS, overlay.title(c)), overlay.against_gamma(c, "ada-POMRL")
    return [panel.lettered(letter) for panel, letter in zip(row, letters, strict=True)]


def _horizons(c: float, letter: str) -> HorizonPanel:
    settings = {"task_distribution.concentration_over_S": c, "estimator": "ada_pomrl"}
    where = {"panel": letter, "cells": (45,) if c == overlay.DIGITISED else ()}
    loss = AuthorsSeries(MINIMUM, overlay.SIMILARITY, settings, curve="min loss", **where)
    gamma = AuthorsSeries(HORIZON, overlay.SIMILARITY, settings, curve="gamma*", **where)
    return HorizonPanel("ada-POMRL, best γ", loss, gamma, "se")


ROWS = [_row(c, letters) for c, letters in zip(SHOWN, ("ab", "de"), strict=True)]
HORIZONS = [_horizons(c, letter) for c, letter in zip(SHOWN, "cf", strict=True)]
SERIES = [*series_of([*ROWS[0], *ROWS[1]]), *HORIZONS[0].series, *HORIZONS[1].series]


@figure(overlay.SIMILARITY, series=SERIES)
def authors_planning_omrl(sweeps: StoredSweeps, kind: Kind | None = None) -> Drawing:
    """Figure 4, as the authors computed it: Planning with online meta-learning.

    Planning with online meta-learning, at two similarities of the tasks.

    Panels (a) to (c) have the similarity of the paper's figure, and (d) to (f) that of the figures in cells 44, 45, 55
    and 61 of the notebook, whose points are drawn hollow, with their errors of reading. Bands show one standard error
    over 100 runs. In panels (c) and (f) the bars of gamma* show a bootstrap standard deviation.

    All 112 readings agree with our curves, with |z| up to 1.7, although two of them are contradicted by the notebook
    itself: the markers of task 1 in the figure of cell 45 were read as a loss of 0.964 and gamma* = 0.511, and the same
    cell prints 0.950 and 0.5, which are drawn as crosses.
    """
    data = pd.concat([overlay.points(sweeps, [*ROWS[0], *ROWS[1]], kind), *_of_horizons(sweeps, kind)])
    figure = panels.blank(TEXT_WIDTH, 5.6)
    grid = panels.grid_of_panels(figure, 2, 3)
    rights = [_draw_row(*each, data) for each in zip(grid, ROWS, HORIZONS, strict=True)]
    axes = [*grid[0], rights[0]]
    more = [panels.minimum_marker(), *overlay.legend_entries(data)]
    panels.shared_legend(figure, axes, columns=4, more=more)
    return panels.finish(figure, data, SERIES, sweeps)


def _of_horizons(sweeps: StoredSweeps, kind: Kind | None) -> list[pd.DataFrame]:
    """Return the points of the panels of gamma*, ours and the notebook's; none of what is not stored."""
    compare = (agreement.of_losses_at_best_gamma, agreement.of_best_gammas)
    theirs = [
        agreement.points(sweeps, series, "task", by)
        for panel in HORIZONS
        for series, by in zip(panel.series, compare, strict=True)
        if isinstance(series, AuthorsSeries)
    ]
    ours = [table for panel in HORIZONS for table in panel.points(sweeps, kind)]
    return [table for table in (*ours, *theirs) if len(table)]


def _draw_row(axes: Sequence[Axes], row: Sequence[Panel], horizons: HorizonPanel, data: pd.DataFrame) -> Axes:
    """Draw a row of panels, and return the axes at the right of the last one."""
    overlay.draw_row(axes[:2], data, row)
    overlay.draw_points(axes[2], data, horizons.loss)
    right = horizons.draw(axes[2], data)
    overlay.draw_points(right, data, horizons.horizon)
    return right
