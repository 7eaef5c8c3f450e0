"""What a figure has to say about itself: how far its runs go, and what it lacks."""

import textwrap
from collections.abc import Sequence
from itertools import groupby

import pandas as pd
from matplotlib.figure import Figure

from pomrl.figures.parts.drawing import Series

CHARACTERS_PER_INCH = 15
LINE_HEIGHT = 0.14
"""Of a note, in inches: it takes no room from the panels."""


def annotate(figure: Figure, data: pd.DataFrame, wanted: Sequence[Series], runs: int) -> None:
    """Write above a figure where it shows other than the promised number of runs, or lacks a wanted series."""
    lines = [line for line in (_runs(data, runs), _missing(data, wanted)) if line]
    width = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    text = "\n".join(textwrap.fill(line, width) for line in lines)
    if text:
        figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * len(text.splitlines()))
        figure.suptitle(text, fontsize="medium", fontweight="bold", color="#a02020")


def _runs(data: pd.DataFrame, runs: int) -> str:
    of_runs = data.loc[data["n"] > 0, "n"].to_numpy()
    if not len(of_runs):
        return ""
    fewest, most = of_runs.min(), of_runs.max()
    shown = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    if fewest < runs:
        return f"provisional: {shown} of {runs} runs"
    return f"{shown} runs instead of {runs}" if most > runs else ""


def _missing(data: pd.DataFrame, wanted: Sequence[Series]) -> str:
    parts = []
    for panel, series in groupby(wanted, key=lambda one: one.panel):
        empty = {one.look.label: one.of(data).empty for one in series}
        absent = [label for label, is_empty in empty.items() if is_empty]
        if absent:
            names = "everything" if len(absent) == len(empty) > 1 else ", ".join(absent)
            parts.append(f"({panel}) {names}" if panel else names)
    return f"missing: {'; '.join(parts)}" if parts else ""
