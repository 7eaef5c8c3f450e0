"""Panels of the average loss against gamma, by numbers of samples m and tasks T."""

from collections.abc import Sequence

from pomrl.study import AVERAGE_LOSS, Kind, Panel, Series, look
from pomrl_studies.pomrl2023.averages import average_of_first, average_panels

TASKS = (1, 2, 5, 15, 30)
"""The drawn averages over tasks 1 to t of ada-POMRL, up to T."""


def row(sweep: str, pairs: Sequence[tuple[int, int]], prefix: str = "", band: Kind = "sd") -> list[Panel]:
    """Return a panel for each pair (m, T), with ada-POMRL and without meta-learning.

    Args:
        sweep: The name of the sweep.
        pairs: The pair (m, T) of each panel.
        prefix: The start of each title.
        band: The kind of bands.
    """
    return [
        Panel(f"{prefix}m = {m}, T = {T}", _series(sweep, m, T), "gamma", band, label=AVERAGE_LOSS) for m, T in pairs
    ]


def _series(sweep: str, m: int, T: int) -> list[Series]:
    batches = {"batches": f"m{m}_T{T}"}
    averages = average_panels(sweep, {**batches, "estimator": "ada_pomrl"}, TASKS)
    ada_pomrl = [average for average, t in zip(averages, TASKS, strict=True) if t <= T]
    without = {**batches, "estimator": "without_meta"}
    return [*ada_pomrl, Series(look("without_meta"), sweep, without, average_of_first(T))]
