"""Panels (a) and (b) of Figure 6 with ada-POMRL, which has to estimate the similarity that two of the schedules use;
bands of one standard error.
"""

from pomrl.figures.parts import loss_per_task, panels, schedules
from pomrl.figures.parts.drawing import Drawing, Tables, collect
from pomrl.figures.parts.notes import annotate
from pomrl.figures.parts.style import SCHEDULES, TEXT_WIDTH, context

SWEEPS = ("gamma_schedules",)
RUNS = 600

ALL = schedules.wanted("a", "ada_pomrl", list(SCHEDULES))
ZOOMED = schedules.wanted("b", "ada_pomrl", [name for name in SCHEDULES if name != "gamma_eval"], averaged=True)
WANTED = [*ALL, *ZOOMED]


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    data = collect((loss_per_task.points(tables, series, "se") for series in WANTED), WANTED)
    with context():
        figure, (a, b) = panels.row_of_panels(2, TEXT_WIDTH, 2.8)
        loss_per_task.draw(a, data, ALL)
        panels.letter(a, "a", "All schedules")
        loss_per_task.draw(b, data, ZOOMED)
        panels.letter(b, "b", "Average of tasks 1 to t")
        panels.zoom(b)
        panels.shared_legend(figure, [a, b], columns=5)
        annotate(figure, data, WANTED, RUNS)
        panels.finish(figure)
    return Drawing(figure, data)
