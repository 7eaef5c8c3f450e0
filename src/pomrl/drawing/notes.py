"""The note above a figure: the runs behind intervals, and what the figure lacks."""

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

import pandas as pd
from matplotlib.figure import Figure

from pomrl.drawing.drawing import Series
from pomrl.results.stored_sweeps import StoredSweeps

CHARACTERS_PER_INCH = 15
LINE_HEIGHT = 0.14
"""The height in inches that a figure gains with each line of its note or its legend, so that panels keep theirs."""

Numbers = Mapping[tuple[str, str], set[int]]
"""The numbers of runs behind the points of each panel's series."""


def annotate(figure: Figure, data: pd.DataFrame, wanted: Sequence[Series], sweeps: StoredSweeps) -> None:
    """Write a note above a figure if it shows other numbers of runs than promised, or lacks a wanted series.

    A note also says over how many runs 95 % intervals are.

    Args:
        figure: The figure, which grows by the height of the note.
        data: The table of what is drawn, which has the columns `drawing.COLUMNS` if the figure shows series.
        wanted: The series that a complete figure shows.
        sweeps: What is stored of the sweeps of these series; each says how many runs it promises.
    """
    if not {"panel", "series", "band"} <= set(data):
        return
    runs = data.loc[data["band"] == "ci", "n"]
    notes = [f"95 % intervals of the mean over {_from_to(runs)} runs"] if len(runs) else []
    numbers = {(str(panel), str(series)): {*n} for (panel, series), n in data.groupby(["panel", "series"])["n"]}
    warnings = [*_runs(numbers, wanted, sweeps, with_intervals=len(runs) > 0), *_missing(numbers, wanted)]
    width = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    text = "\n".join(textwrap.fill(line, width) for line in [*notes, *warnings])
    if text:
        figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * len(text.splitlines()))
        style = {"fontweight": "bold", "color": "#a02020"} if warnings else {"color": "0.25"}
        figure.suptitle(text, fontsize="medium", **style)


def _from_to(runs: Collection[int]) -> str:
    return " to ".join(map(str, sorted({min(runs), max(runs)})))


def _runs(numbers: Numbers, wanted: Sequence[Series], sweeps: StoredSweeps, *, with_intervals: bool) -> Iterator[str]:
    """Yield a line for each promised number of runs that the series drawn differ from.

    Series of simulations are left out, because no number of runs is promised for them. Intervals may be over more runs.
    """
    drawn: dict[int, set[int]] = {}
    for series in wanted:
        if (promised := sweeps[series.sweep].promised) is not None:
            drawn.setdefault(promised, set()).update(numbers.get(series.key, ()))
    for promised, runs in drawn.items():
        if runs and min(runs) < promised:
            yield f"provisional: {_from_to(runs)} of {promised} runs"
        elif runs and max(runs) > promised and not with_intervals:
            yield f"{_from_to(runs)} runs instead of {promised}"


def _missing(numbers: Numbers, wanted: Sequence[Series]) -> Iterator[str]:
    """Yield a line that names the series without points in each panel, if there are any."""
    parts = []
    for panel, series in groupby(wanted, key=lambda one: one.panel):
        empty = {one.look.label: one.key not in numbers for one in series}
        absent = [label for label, is_empty in empty.items() if is_empty]
        if absent:
            names = "everything" if len(absent) == len(empty) > 1 else ", ".join(absent)
            parts.append(f"({panel}) {names}" if panel else names)
    if parts:
        yield f"missing: {'; '.join(parts)}"
