"""Panels of average loss against gamma for few or many samples m in each task, and few or many tasks T."""

from collections.abc import Mapping

from pomrl.figures.parts import loss_against_gamma
from pomrl.figures.parts.drawing import Series
from pomrl.figures.parts.style import ESTIMATORS
from pomrl.figures.parts.uniform import Row
from pomrl.figures.parts.views import average_of_first

TASKS = (1, 2, 5, 15, 30)
"""Of ada-POMRL the averages over so many tasks are drawn, as far as there are so many."""


def row(sweep: str, panels: Mapping[str, tuple[int, int]], prefix: str = "") -> Row:
    """A panel for each pair (m, T), with ada-POMRL, and without meta-learning for comparison."""
    return {panel: (f"{prefix}m = {m}, T = {T}", _series(panel, sweep, m, T)) for panel, (m, T) in panels.items()}


def _series(panel: str, sweep: str, m: int, T: int) -> list[Series]:
    batches = {"batches": f"m{m}_T{T}"}
    averages = loss_against_gamma.wanted_averages(panel, sweep, {**batches, "estimator": "ada_pomrl"}, TASKS)
    ada_pomrl = [average for average, t in zip(averages, TASKS, strict=True) if t <= T]
    without = {**batches, "estimator": "without_meta"}
    return [*ada_pomrl, Series(panel, ESTIMATORS["without_meta"], sweep, without, average_of_first(T))]
