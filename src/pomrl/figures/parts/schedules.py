"""Panels of loss per task for gamma schedules, at 600 runs, with bands of one standard error."""

from collections.abc import Sequence

from pomrl.figures.parts.drawing import Series
from pomrl.figures.parts.style import SCHEDULES, sequence
from pomrl.figures.parts.views import View, at_largest_gamma, best_fixed, dynamic_best, running_average

SWEEP = "gamma_schedules"

STORED: dict[str, tuple[str, View]] = {
    "gamma_eval": ("grid", at_largest_gamma),
    "best_fixed": ("grid", best_fixed),
    "dynamic_best": ("grid", dynamic_best),
    "dong": ("dong", at_largest_gamma),
    "upper_bound": ("upper_bound", at_largest_gamma),
}
"""Which stored schedule each is read from, and how."""


def wanted(panel: str, estimator: str, schedules: Sequence[str], *, averaged: bool = False) -> list[Series]:
    """A series per schedule: its loss in each task, or its average loss up to each."""
    return [_series(panel, estimator, name, averaged) for name in schedules]


def _series(panel: str, estimator: str, name: str, averaged: bool) -> Series:
    stored, view = STORED[name]
    shown = running_average(view) if averaged else view
    return Series(panel, SCHEDULES[name], SWEEP, {"estimator": estimator, "gamma_schedule": stored}, shown)


def wanted_offsets(panel: str, offsets: Sequence[float]) -> list[Series]:
    """A series per gamma_0 of the schedule that follows the upper bound: its loss in each task."""
    looks = sequence([f"γ₀ = {offset:g}" for offset in offsets])
    return [
        Series(panel, look, "gamma_0", {"gamma_schedule.gamma_0": offset}, at_largest_gamma)
        for offset, look in zip(offsets, looks, strict=True)
    ]
