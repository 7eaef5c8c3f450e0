"""Series of the planning loss per task under the gamma schedules (Sec. 6)."""

from pomrl.study import (
    RUNNING_AVERAGE,
    Panel,
    Series,
    View,
    at_largest_gamma,
    best_fixed,
    dynamic_best,
    look,
    running_average,
)

STORED: dict[str, tuple[str, View]] = {
    "fixed": ("grid", at_largest_gamma),
    "best_fixed": ("grid", best_fixed),
    "dynamic_best": ("grid", dynamic_best),
    "dong": ("dong", at_largest_gamma),
    "upper_bound": ("upper_bound", at_largest_gamma),
}
"""For each gamma schedule, the option of the sweep that its losses are read from, and the view that selects them.

`fixed` is the constant gamma_eval.
"""


def wanted(estimator: str, schedule: str, *, averaged: bool = False) -> Series:
    """Return the series of a schedule: its loss in task t, or with `averaged` its average loss in tasks 1 to t."""
    stored, view = STORED[schedule]
    shown = running_average(view) if averaged else view
    settings = {"estimator": estimator, "gamma_schedule": stored}
    return Series(look(schedule, "gamma_schedule"), "gamma_schedules", settings, shown)


def all_and_averages(estimator: str) -> list[Panel]:
    """Return a panel of all schedules, and one of their averages over tasks without the constant gamma_eval."""
    averages = [wanted(estimator, name, averaged=True) for name in STORED if name != "fixed"]
    return [
        Panel("All schedules", [wanted(estimator, name) for name in STORED], "task", "se"),
        Panel("Averages", averages, "task", "se", zoomed=True, label=RUNNING_AVERAGE),
    ]
