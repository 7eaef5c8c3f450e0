"""The note above a figure: the runs behind intervals, and what the figure lacks."""

import textwrap
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

import pandas as pd
from matplotlib.figure import Figure

from pomrl.figures.parts.drawing import Series
from pomrl.results.stored_sweeps import StoredSweeps

CHARACTERS_PER_INCH = 15
LINE_HEIGHT = 0.14
"""The height in inches that a figure gains with each line of its note, so that panels keep theirs."""


def annotate(figure: Figure, data: pd.DataFrame, wanted: Sequence[Series], sweeps: StoredSweeps) -> None:
    """Write a note above a figure if it shows other numbers of runs than promised, or lacks a wanted series.

    A figure with 95 % intervals has a note in any case, which says over how many runs they are.

    Args:
        figure: The figure, which grows by the height of the note.
        data: The table of what is drawn, with the columns `drawing.COLUMNS`.
        wanted: The series that a complete figure shows.
        sweeps: What is stored of the sweeps of these series; each says how many runs it promises.
    """
    width = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    warnings = [*_runs(data, wanted, sweeps), *_missing(data, wanted)]
    text = "\n".join(textwrap.fill(line, width) for line in [*_intervals(data), *warnings])
    if text:
        figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * len(text.splitlines()))
        style = {"fontweight": "bold", "color": "#a02020"} if warnings else {"color": "0.25"}
        figure.suptitle(text, fontsize="medium", **style)


def _intervals(data: pd.DataFrame) -> Iterator[str]:
    """Yield the line that says over how many runs 95 % intervals are, if there are any."""
    runs = data.loc[_of_intervals(data), "n"] if "n" in data else ()
    if len(runs):
        yield f"95 % intervals of the mean over {_from_to(runs)} runs"


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
