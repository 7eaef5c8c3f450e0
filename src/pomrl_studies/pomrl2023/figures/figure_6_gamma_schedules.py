"""Draw Figure 6: the loss in each task under the gamma schedules (Sec. 6)."""

from pomrl.figures import (
    RUNNING_AVERAGE,
    DataFrame,
    Figure,
    Panel,
    PanelGrid,
    Series,
    View,
    at_largest_gamma,
    best_fixed,
    dynamic_best,
    figure,
    look,
    of_values,
    running_average,
    sequence,
)

STORED: dict[str, tuple[str, View]] = {
    "fixed": ("grid", at_largest_gamma),
    "best_fixed": ("grid", best_fixed),
    "dynamic_best": ("grid", dynamic_best),
    "dong": ("dong", at_largest_gamma),
    "upper_bound": ("upper_bound", at_largest_gamma),
}
"""The stored option of each gamma schedule, and the view of its losses; `fixed` is the constant gamma_eval."""


def schedule_series(estimator: str, schedule: str, *, averaged: bool = False) -> Series:
    """Return the series of a schedule's loss by task, or running average."""
    stored, view = STORED[schedule]
    curve_view = running_average(view) if averaged else view
    settings = {"estimator": estimator, "gamma_schedule": stored}
    return Series(look(schedule, "gamma_schedule"), "gamma_schedules", settings, curve_view)


def all_and_averages(estimator: str) -> list[Panel]:
    """Return a panel of all schedules, and one of averages without gamma_eval."""
    averages = [schedule_series(estimator, name, averaged=True) for name in STORED if name != "fixed"]
    return [
        Panel("All schedules", [schedule_series(estimator, name) for name in STORED], "task", "se"),
        Panel("Averages", averages, "task", "se", zoomed=True, label=RUNNING_AVERAGE),
    ]


OFFSETS = of_values(
    "gamma_0",
    "gamma_schedule.gamma_0",
    sequence((0.25, 0.3, 0.35, 0.4, 0.45, 0.5), "γ₀ = {:g}".format),
    {"estimator": "pomrl"},
)
UPPER_BOUND = Panel("Upper bound", [schedule_series("pomrl", "fixed"), *OFFSETS], "task", "se")


POMRL_GRID = PanelGrid([[*all_and_averages("pomrl"), UPPER_BOUND]], share_y=False)
ADA_POMRL_GRID = PanelGrid([all_and_averages("ada_pomrl")], share_y=False)


@figure(panels=POMRL_GRID)
def gamma_schedules(data: DataFrame) -> Figure:
    """Figure 6: No schedule beats the best γ of each task.

    The loss of POMRL in each task under the gamma schedules.

    Panel (a) shows all schedules, (b) the average loss in tasks 1 to t without the constant gamma_eval, and (c) the
    schedule that follows the upper bound, for several offsets gamma_0. Curves that coincide have alternating dashes.

    The paper: "(a) Planning with online-meta learning shows that all baselines outperform using a constant discount
    factor. [...] Error bars depict 1-standard error for 600 independent runs."
    """
    return POMRL_GRID.draw(data)


@figure(panels=ADA_POMRL_GRID)
def gamma_schedules_adapomrl(data: DataFrame) -> Figure:
    """Schedules with ada-POMRL.

    Panels (a) and (b) of Figure 6 with ada-POMRL instead of POMRL.

    ada-POMRL must estimate the task similarity, which two of the schedules use.
    """
    return ADA_POMRL_GRID.draw(data)
