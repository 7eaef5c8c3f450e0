"""Figures whose panels are all of one kind."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from pomrl.figures.parts import panels
from pomrl.figures.parts.drawing import Drawing, Series, Tables, collect
from pomrl.figures.parts.notes import annotate
from pomrl.figures.parts.style import TEXT_WIDTH, context
from pomrl.statistics import Kind


@runtime_checkable
class PanelKind(Protocol):
    """What a module for a kind of panel offers."""

    def points(self, tables: Tables, series: Series, kind: Kind) -> pd.DataFrame:
        """A series as `drawing.COLUMNS`."""
        ...

    def draw(self, ax: Axes, data: pd.DataFrame, series: Sequence[Series]) -> None:
        """Into one panel."""
        ...


Row = Mapping[str, tuple[str, Sequence[Series]]]
"""Panels side by side, which share their y axis: by letter, the title and the series."""


def figure(
    tables: Tables,
    rows: Sequence[Row],
    panel_kind: PanelKind,
    band: Kind,
    runs: int,
    *,
    width: float = TEXT_WIDTH,
    height: float = 2.4,
    columns: int,
    more: Sequence[Artist] = (),
) -> Drawing:
    """Rows of panels, each `height` inches, over one legend of so many columns, to which `more` is added.

    ValueError where the tables hold nothing of it.
    """
    wanted = [series for row in rows for _, of_panel in row.values() for series in of_panel]
    data = collect((panel_kind.points(tables, series, band) for series in wanted), wanted)
    with context():
        drawn = panels.blank(width, height * len(rows))
        axes = panels.grid_of_panels(drawn, len(rows), len(rows[0]), share_y=True)
        for ax, (letter, (title, series)) in zip(
            (ax for row in axes for ax in row), (panel for row in rows for panel in row.items()), strict=True
        ):
            panel_kind.draw(ax, data, series)
            panels.letter(ax, letter, title)
        for row in axes:
            for ax in row[1:]:
                ax.set_ylabel("")
        panels.shared_legend(drawn, [ax for row in axes for ax in row], columns=columns, more=more)
        annotate(drawn, data, wanted, runs)
        panels.finish(drawn)
    return Drawing(drawn, data)
