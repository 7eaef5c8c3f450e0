"""The note above a figure: the runs behind intervals, curves that coincide, and what the figure lacks."""

import textwrap
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pomrl.drawing.drawing import Series
from pomrl.results.stored_sweeps import StoredSweeps

SHORTEST_CURVE = 5
"""The number of points that a series has at least if the note is to say with which others it coincides."""

AXES = {"Task t": "task", "Discount factor γ": "γ ="}
"""What a number on an axis with this label is, before that number."""

CHARACTERS_PER_INCH = 15
LINE_HEIGHT = 0.14
"""The height in inches that a figure gains with each line of its note, so that panels keep theirs."""


def annotate(figure: Figure, data: pd.DataFrame, wanted: Sequence[Series], sweeps: StoredSweeps) -> None:
    """Write a note above a figure if it shows other numbers of runs than promised, or lacks a wanted series.

    A note also names the curves that hide one another, and says over how many runs 95 % intervals are.

    Args:
        figure: The figure, which grows by the height of the note.
        data: The table of what is drawn, which has the columns `drawing.COLUMNS` if the figure shows series.
        wanted: The series that a complete figure shows.
        sweeps: What is stored of the sweeps of these series; each says how many runs it promises.
    """
    if not {"panel", "series", "band"} <= set(data):
        return
    labels = {ax.get_xlabel() for ax in figure.axes} - {""}
    axis = AXES.get(labels.pop(), "x =") if len(labels) == 1 else "x ="
    runs = data.loc[data["band"] == "ci", "n"]
    notes = [f"95 % intervals of the mean over {_from_to(runs)} runs"] if len(runs) else []
    if alike := list(coinciding(data, axis)):
        notes.append("; ".join(alike))
    warnings = [*_runs(data, wanted, sweeps, with_intervals=len(runs) > 0), *_missing(data, wanted)]
    width = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    text = "\n".join(textwrap.fill(line, width) for line in [*notes, *warnings])
    if text:
        figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * len(text.splitlines()))
        style = {"fontweight": "bold", "color": "#a02020"} if warnings else {"color": "0.25"}
        figure.suptitle(text, fontsize="medium", **style)


def coinciding(data: pd.DataFrame, axis: str = "x =") -> Iterator[str]:
    """Say of the curves of each panel that are equal in their second half, if there are any, from where on they are.

    Bands may differ.

    Args:
        data: The table of what is drawn, with the columns `drawing.COLUMNS`.
        axis: What a number on the horizontal axis is, before that number.
    """
    for panel, points in data.groupby("panel", sort=False):
        alike: dict[tuple[str, ...], dict[str, pd.Series]] = {}
        for name, curve in points.groupby("series", sort=False):
            if len(curve) >= SHORTEST_CURVE and curve["x"].is_monotonic_increasing and curve["x"].is_unique:
                means = curve.set_index("x")["mean"].map("{:.9g}".format)
                end = (str(list(means.index)), *means[len(means) // 2 :])
                alike.setdefault(end, {})[str(name)] = means
        for curves in (curves for curves in alike.values() if len(curves) > 1):
            differ = np.flatnonzero(pd.DataFrame(curves).nunique(axis=1) > 1)
            where = f" from {axis} {next(iter(curves.values())).index[differ[-1] + 1]:g} on" if len(differ) else ""
            *names, last = curves
            yield f"{f'({panel}) ' if panel else ''}{', '.join(names)} and {last} coincide{where}"


def _from_to(runs: Collection[int]) -> str:
    return " to ".join(map(str, sorted({min(runs), max(runs)})))


def _runs(data: pd.DataFrame, wanted: Sequence[Series], sweeps: StoredSweeps, *, with_intervals: bool) -> Iterator[str]:
    """Yield a line for each promised number of runs that the series drawn differ from.

    Series of simulations are left out, because no number of runs is promised for them. Intervals may be over more runs.
    """
    drawn: dict[int, set[int]] = {}
    for series in wanted:
        if (promised := sweeps[series.sweep].promised) is not None:
            drawn.setdefault(promised, set()).update(series.of(data)["n"])
    for promised, runs in drawn.items():
        if runs and min(runs) < promised:
            yield f"provisional: {_from_to(runs)} of {promised} runs"
        elif runs and max(runs) > promised and not with_intervals:
            yield f"{_from_to(runs)} runs instead of {promised}"


def _missing(data: pd.DataFrame, wanted: Sequence[Series]) -> Iterator[str]:
    """Yield a line that names the series without points in each panel, if there are any."""
    parts = []
    for panel, series in groupby(wanted, key=lambda one: one.panel):
        empty = {one.look.label: one.of(data).empty for one in series}
        absent = [label for label, is_empty in empty.items() if is_empty]
        if absent:
            names = "everything" if len(absent) == len(empty) > 1 else ", ".join(absent)
            parts.append(f"({panel}) {names}" if panel else names)
    if parts:
        yield f"missing: {'; '.join(parts)}"
