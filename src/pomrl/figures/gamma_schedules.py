"""Figure 6: loss per task of the gamma schedules with POMRL, (a) all of them, (b) running average without gamma_eval,
(c) the schedule that follows the upper bound for several gamma_0; bands of one standard error.

The paper: "(a) Planning with online-meta learning shows that all baselines outperform using a constant discount factor.
(b) Zoomed in plot of average planning loss over the progression of tasks T shows competitive performance with the
proposed schedule of gamma = f(m, alpha_t, sigma_t, T) beating best-fixed as more tasks are seen. The gamma schedule
gamma = min{1, gamma_0 + gamma_tilde} using the upper bound as a guidance beats the best-fixed and is very competitive
to the dynamic-best baseline. (c) Using the upper bound to guide the schedule significantly outperforms gamma_eval and
is shown for gamma_0 in (0.25, 0.50). Error bars depict 1-standard error for 600 independent runs."
"""

from pomrl.figures.parts import loss_per_task, panels, schedules
from pomrl.figures.parts.drawing import Drawing, Tables, collect
from pomrl.figures.parts.notes import annotate
from pomrl.figures.parts.style import SCHEDULES, TEXT_WIDTH, context

SWEEPS = ("gamma_schedules", "gamma_0")
RUNS = 600

ALL = schedules.wanted("a", "pomrl", list(SCHEDULES))
ZOOMED = schedules.wanted("b", "pomrl", [name for name in SCHEDULES if name != "gamma_eval"], averaged=True)
OFFSETS = [
    *schedules.wanted("c", "pomrl", ["gamma_eval"]),
    *schedules.wanted_offsets("c", (0.25, 0.3, 0.35, 0.4, 0.45, 0.5)),
]
WANTED = [*ALL, *ZOOMED, *OFFSETS]


def draw(tables: Tables) -> Drawing:
    """The figure. ValueError where the tables hold nothing of it."""
    data = collect((loss_per_task.points(tables, series, "se") for series in WANTED), WANTED)
    with context():
        figure, (a, b, c) = panels.row_of_panels(3, TEXT_WIDTH, 3.0)
        for ax, panel, series, title in (
            (a, "a", ALL, "All schedules"),
            (b, "b", ZOOMED, "Average of tasks 1 to t"),
            (c, "c", OFFSETS, "Upper bound"),
        ):
            loss_per_task.draw(ax, data, series)
            panels.letter(ax, panel, title)
            panels.legend(ax, columns=2 if panel == "c" else 1)
        panels.zoom(b)
        annotate(figure, data, WANTED, RUNS)
        panels.finish(figure)
    return Drawing(figure, data)
