"""The note above a figure that lacks runs or series."""

import textwrap
from collections.abc import Iterator, Sequence
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

    Args:
        figure: The figure, which grows by the height of the note.
        data: The table of what is drawn, with the columns `drawing.COLUMNS`.
        wanted: The series that a complete figure shows.
        sweeps: What is stored of the sweeps of these series; each says how many runs it promises.
    """
    width = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    lines = [*_runs(data, wanted, sweeps), *_missing(data, wanted)]
    text = "\n".join(textwrap.fill(line, width) for line in lines)
    if text:
        figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * len(text.splitlines()))
        figure.suptitle(text, fontsize="medium", fontweight="bold", color="#a02020")


def _runs(data: pd.DataFrame, wanted: Sequence[Series], sweeps: StoredSweeps) -> Iterator[str]:
    """Yield a line for each promised number of runs that the series drawn differ from.

    Series of simulations, of which no number is promised, are left out.
    """
    drawn: dict[int, set[int]] = {}
    for series in wanted:
        if (promised := sweeps[series.sweep].promised) is not None:
            drawn.setdefault(promised, set()).update(series.of(data)["n"])
    for promised, runs in drawn.items():
        shown = " to ".join(map(str, sorted({min(runs), max(runs)}))) if runs else ""
        if runs and min(runs) < promised:
            yield f"provisional: {shown} of {promised} runs"
        elif runs and max(runs) > promised:
            yield f"{shown} runs instead of {promised}"


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
