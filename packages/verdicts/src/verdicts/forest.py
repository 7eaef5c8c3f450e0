"""A picture of judgements: estimates, intervals and claimed ranges."""

import textwrap
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from verdicts.judging import Row, result_rows
from verdicts.output import interval, notes, verdict_text
from verdicts.parts import LOOKS, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_HEIGHT = 0.75
"""The height of a claim, in inches."""

WIDTH = 9.0
"""The width of the picture, in inches."""

NOTE_HEIGHT = 0.8
"""The height of the note below the claims, in inches."""

NOTE_WIDTH = 150
"""The width of the note, in characters."""

LABEL_WIDTH = 45
"""The width of a label, in characters."""

MAX_RATIO = 2.5
"""The largest width of a shared scale, as a multiple of the smallest width of a claim."""

CLAIMED = "#DDEEDD"
"""The colour of the claimed range."""

THRESHOLD = "#558855"
"""The colour of its ends."""

INTERVAL_EDGE = "#333333"
"""The colour of the edge of an interval, and of its arrows."""

NOTE_COLOR = "#444444"
"""The colour of the note."""


def forest(result: pd.DataFrame, path: str | Path) -> None:
    """Draw a row for each claim, and write the picture; needs matplotlib.

    Claims share a scale if their widths are alike; otherwise each has its own.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows, ranges = result_rows(result), result.attrs["ranges"]
    limits = [_limits(row, ranges[row.id]) for row in rows]
    union = min(low for low, _ in limits), max(high for _, high in limits)
    is_shared = union[1] - union[0] <= MAX_RATIO * min(high - low for low, high in limits)
    height = ROW_HEIGHT * len(result) + NOTE_HEIGHT
    figure = Figure(figsize=(WIDTH, height))
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(result), 1, squeeze=False)[:, 0]
    for axes, row, ends in zip(grid, rows, limits, strict=True):
        _draw_row(axes, row, union if is_shared else ends, ranges[row.id])
        axes.tick_params(labelbottom=not is_shared or axes is grid[-1])
    figure.subplots_adjust(0.36, NOTE_HEIGHT / height, 0.76, 1.0 - 0.1 / height, hspace=0.1 if is_shared else 0.75)
    note = textwrap.fill("Shaded: claimed. " + " ".join(notes(result)), NOTE_WIDTH)
    figure.text(0.02, 0.1 / height, note, fontsize=7, color=NOTE_COLOR, va="bottom")
    figure.savefig(path, dpi=150)


def _limits(row: Row, ends: list[float]) -> tuple[float, float]:
    """Return the ends of an axis with the estimate, its interval and the thresholds."""
    numbers = np.array([x for x in (row.estimate, row.lower, row.upper, *ends) if isfinite(x)] or [0.0])
    low, high = float(numbers.min()), float(numbers.max())
    space = 0.15 * (high - low) or 0.1 * max(abs(low), 1.0)
    return low - space, high + space


def _draw_row(axes: "Axes", row: Row, limits: tuple[float, float], ends: list[float]) -> None:
    low, high = limits
    look = LOOKS[Verdict(row.verdict)]
    axes.axvspan(max(ends[0], low), min(ends[1], high), color=CLAIMED, lw=0)
    for end in filter(isfinite, ends):
        axes.axvline(end, color=THRESHOLD, lw=1)
    _draw_interval(axes, row, limits, look.color)
    axes.set(xlim=limits, ylim=(-1, 1), yticks=[])
    axes.tick_params(labelsize=7, length=2)
    axes.locator_params(axis="x", nbins=5)
    axes.spines[["left", "right", "top"]].set_visible(False)
    label = f"{row.id}\n{textwrap.fill(row.claim, LABEL_WIDTH)}"
    axes.text(-0.02, 0.5, label, transform=axes.transAxes, ha="right", va="center", fontsize=7.5)
    text = f"{verdict_text(row)}\n{interval(row)}"
    axes.text(1.02, 0.5, text, transform=axes.transAxes, ha="left", va="center", fontsize=8)


def _draw_interval(axes: "Axes", row: Row, limits: tuple[float, float], color: str) -> None:
    """Draw an interval, with arrows where it leaves the axis, and the estimate."""
    if not np.isnan(row.lower):
        low, high = np.clip([row.lower, row.upper], *limits)
        axes.plot([low, high], [0, 0], color=INTERVAL_EDGE, lw=8, solid_capstyle="butt")
        axes.plot([low, high], [0, 0], color=color, lw=6.5, solid_capstyle="butt")
        for end, position, marker in ((row.lower, low, "<"), (row.upper, high, ">")):
            if not isfinite(end):
                axes.plot(position, 0, marker, color=INTERVAL_EDGE, ms=8, clip_on=False)
    if isfinite(row.estimate):
        axes.plot(row.estimate, 0, "o", color="black", ms=5)
