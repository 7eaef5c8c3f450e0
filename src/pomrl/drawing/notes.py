"""The note above a figure: the runs behind intervals, curves that coincide, and what the figure lacks."""

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
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
        data: The table of what is drawn, with the columns `drawing.COLUMNS`.
        wanted: The series that a complete figure shows.
        sweeps: What is stored of the sweeps of these series; each says how many runs it promises.
    """
    width = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    warnings = [*_runs(data, wanted, sweeps), *_missing(data, wanted)]
    of_curves = coinciding(data, axis_of(figure))
    text = "\n".join(textwrap.fill(line, width) for line in [*_intervals(data), *of_curves, *warnings])
    if text:
        figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * len(text.splitlines()))
        style = {"fontweight": "bold", "color": "#a02020"} if warnings else {"color": "0.25"}
        figure.suptitle(text, fontsize="medium", **style)


def _intervals(data: pd.DataFrame) -> Iterator[str]:
    """Yield the line that says over how many runs 95 % intervals are, if there are any."""
    runs = data.loc[_of_intervals(data), "n"] if "n" in data else ()
    if len(runs):
        yield f"95 % intervals of the mean over {_from_to(runs)} runs"


def axis_of(figure: Figure) -> str:
    """Return what a number on the horizontal axes of all panels is, before that number."""
    labels = {ax.get_xlabel() for ax in figure.axes} - {""}
    return AXES.get(labels.pop(), "x =") if len(labels) == 1 else "x ="


def coinciding(data: pd.DataFrame, axis: str = "x =") -> Iterator[str]:
    """Yield a line that names the curves of each panel that are equal, or equal from some point on, if there are any.

    Curves count as equal from a point on if at least half of their points follow. Bands may differ.

    Args:
        data: The table of what is drawn, with the columns `drawing.COLUMNS`.
        axis: What a number on the horizontal axis is, before that number.
    """
    if not {"panel", "series", "x"} <= set(data.columns):
        return
    parts = []
    for panel, points in data.groupby("panel", sort=False):
        curves = {
            str(name): of.set_index("x")["mean"] for name, of in points.groupby("series", sort=False) if _is_curve(of)
        }
        for names, start in _groups(curves):
            where = f" from {axis} {start:g} on" if start is not None else ""
            parts.append(f"{f'({panel}) ' if panel else ''}{', '.join(names[:-1])} and {names[-1]} coincide{where}")
    if parts:
        yield "; ".join(parts)


def _is_curve(points: pd.DataFrame) -> bool:
    return len(points) >= SHORTEST_CURVE and points["x"].is_monotonic_increasing and points["x"].is_unique


def _groups(curves: Mapping[str, pd.Series]) -> Iterator[tuple[list[str], float | None]]:
    """Yield the names of curves that end alike, and the place from which on they do; None for the whole curve."""
    left = list(curves)
    while left:
        first, *others = left
        starts = {name: _alike_from(curves[first], curves[name]) for name in others}
        alike = {name: start for name, start in starts.items() if 2 * start <= len(curves[first])}
        if alike:
            start = max(alike.values())
            yield [first, *alike], float(curves[first].index[start]) if start else None
        left = [name for name in others if name not in alike]


def _alike_from(one: pd.Series, other: pd.Series) -> int:
    """Return the number of points after which two curves are equal; the length of the first if they never are."""
    if not one.index.equals(other.index):
        return len(one)
    differ = np.flatnonzero(~np.isclose(one, other, rtol=1e-9, atol=0.0))
    return int(differ[-1]) + 1 if len(differ) else 0


def _of_intervals(data: pd.DataFrame) -> pd.Series:
    """Return for each row whether it has a 95 % interval over runs; tables that are no curves have none."""
    return data["band"] == "ci" if "band" in data else pd.Series(data=False, index=data.index)


def _from_to(runs: Collection[int]) -> str:
    return " to ".join(map(str, sorted({min(runs), max(runs)})))


def _runs(data: pd.DataFrame, wanted: Sequence[Series], sweeps: StoredSweeps) -> Iterator[str]:
    """Yield a line for each promised number of runs that the series drawn differ from.

    Series of simulations, of which no number is promised, are left out. Intervals may be over more runs.
    """
    intervals = _of_intervals(data).any()
    drawn: dict[int, set[int]] = {}
    for series in wanted:
        if (promised := sweeps[series.sweep].promised) is not None:
            drawn.setdefault(promised, set()).update(series.of(data)["n"])
    for promised, runs in drawn.items():
        if runs and min(runs) < promised:
            yield f"provisional: {_from_to(runs)} of {promised} runs"
        elif runs and max(runs) > promised and not intervals:
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
