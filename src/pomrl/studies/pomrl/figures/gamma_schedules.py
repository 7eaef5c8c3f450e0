"""Schedules of the discount factor."""

from pomrl.studies.pomrl import schedules
from pomrl.study import (
    TEXT_WIDTH,
    Drawing,
    Kind,
    Panel,
    StoredSweeps,
    draw_row,
    figure,
    lettered,
    of_values,
    panels,
    points_of_panels,
    sequence,
    series_of,
)

OFFSETS = of_values(
    "gamma_0", "gamma_schedule.gamma_0", sequence((0.25, 0.3, 0.35, 0.4, 0.45, 0.5), "γ₀ = {:g}".format)
)
UPPER_BOUND = Panel("Upper bound", [schedules.wanted("pomrl", "fixed"), *OFFSETS], "task", "se")
(PANELS,) = lettered([[*schedules.all_and_averages("pomrl"), UPPER_BOUND]])
SERIES = series_of(PANELS)


@figure(series=SERIES)
def gamma_schedules(sweeps: StoredSweeps, kind: Kind | None = None) -> Drawing:
    """Figure 6: Schedules of the discount factor.

    The loss of POMRL in each task under the gamma schedules.

    Panel (a) shows all schedules, (b) the average loss in tasks 1 to t without the constant gamma_eval, and (c) the
    schedule that follows the upper bound, for several offsets gamma_0; a curve coincides with that of the constant
    gamma_eval from the task on in which its schedule reaches it. Bands show one standard error.

    The paper: "(a) Planning with online-meta learning shows that all baselines outperform using a constant discount
    factor. (b) Zoomed in plot of average planning loss over the progression of tasks T shows competitive performance
    with the proposed schedule of gamma = f(m, alpha_t, sigma_t, T) beating best-fixed as more tasks are seen. The gamma
    schedule gamma = min{1, gamma_0 + gamma_tilde} using the upper bound as a guidance beats the best-fixed and is very
    competitive to the dynamic-best baseline. (c) Using the upper bound to guide the schedule significantly outperforms
    gamma_eval and is shown for gamma_0 in (0.25, 0.50). Error bars depict 1-standard error for 600 independent runs."
    """
    data = points_of_panels(sweeps, PANELS, kind)
    figure, axes = panels.row_of_panels(3, TEXT_WIDTH, 3.0)
    draw_row(axes, data, PANELS)
    for ax, columns in zip(axes, (1, 1, 2), strict=True):
        panels.legend(ax, columns=columns)
    return panels.finish(figure, data, SERIES, sweeps)
