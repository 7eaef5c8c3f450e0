"""Average losses over the first tasks (R10), and draw the averages in panels."""

from collections.abc import Mapping, Sequence

import pandas as pd

from pomrl.figures import AVERAGE_LOSS, TASKS, Kind, Panel, Series, View, dynamic_best, look, sequence


def average_series(sweep: str, settings: Mapping[str, int | float | str], tasks: Sequence[int] = TASKS) -> list[Series]:
    """Return one series for each t: the average loss over tasks 1 to t."""
    looks = sequence(tasks, lambda t: f"tasks 1 to {t}" if t > 1 else "task 1")
    return [Series(look, sweep, settings, average_of_first(t)) for t, look in looks.items()]


def average_of_first(t: int) -> View:
    """Return a view of losses averaged over tasks 1 to t.

    Experiments with fewer tasks have no rows.
    """

    def averaged(rows: pd.DataFrame) -> pd.DataFrame:
        if len(rows) and rows["task"].max() < t:
            return rows.iloc[:0]
        first = rows.loc[rows["task"] <= t]
        return first.groupby(["run", "gamma"])[["planning_loss"]].mean().reset_index()

    return averaged


def best_so_far(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the average loss up to each task, at its best constant gamma."""
    if rows.empty:
        return rows
    total = rows.sort_values(["run", "gamma", "task"]).groupby(["run", "gamma"])["planning_loss"].cumsum()
    return dynamic_best(rows.assign(planning_loss=total / rows["task"]).sort_values(["run", "task", "gamma"]))


AVERAGED_TASKS = (1, 2, 5, 15, 30)
"""The numbers t of first tasks in the averages of ada-POMRL."""


def average_row(sweep: str, pairs: Sequence[tuple[int, int]], prefix: str = "", band: Kind = "sd") -> list[Panel]:
    """Return a panel for each pair (m, T), with and without meta-learning."""
    return [
        Panel(f"{prefix}m = {m}, T = {T}", _series(sweep, m, T), "gamma", band, label=AVERAGE_LOSS) for m, T in pairs
    ]


def _series(sweep: str, m: int, T: int) -> list[Series]:
    batches = {"batches": f"m{m}_T{T}"}
    averages = average_series(sweep, {**batches, "estimator": "ada_pomrl"}, AVERAGED_TASKS)
    ada_pomrl = [average for average, t in zip(averages, AVERAGED_TASKS, strict=True) if t <= T]
    without = {**batches, "estimator": "without_meta"}
    return [*ada_pomrl, Series(look("without_meta"), sweep, without, average_of_first(T))]
