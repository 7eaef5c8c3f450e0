"""What a figure is made of: series chosen from the tables of a sweep, and the drawing that shows them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from pomrl.figures.parts.style import Look
from pomrl.figures.parts.views import View, everything

COLUMNS = ["panel", "series", "x", "mean", "lower", "upper", "band", "n", "marker"]
"""Of the table behind a drawing: a row per point. band says what lower and upper are, n is the number of runs, marker
whether the minimum of the series is marked there. What no runs are behind, such as a bound, has its value in mean,
neither lower nor upper, n = 0, and band says what it is."""


@dataclass(frozen=True)
class Drawing:
    """A figure, and the table of exactly what it draws, with the `COLUMNS`."""

    figure: Figure
    data: pd.DataFrame

    def renamed(self, old: str, new: str) -> "Drawing":
        """With another name for a series, wherever it is written."""
        for text in self.figure.findobj(Text):
            text.set_text(text.get_text().replace(old, new))  # type: ignore[attr-defined]
        return Drawing(self.figure, self.data.assign(series=self.data["series"].str.replace(old, new, regex=False)))


Tables = Mapping[str, pd.DataFrame]
"""For each sweep, by its name, the tables of all its jobs, with the settings that it varies as columns in front."""


@dataclass(frozen=True)
class Series:
    """One series of a figure: its panel (a letter, or nothing), its look, and what it shows: of the tables of a sweep
    the rows with these settings, or a view of them.
    """

    panel: str
    look: Look
    sweep: str = ""
    settings: Mapping[str, float | str] = field(default_factory=dict)
    view: View = everything

    def rows(self, tables: Tables) -> pd.DataFrame:
        """What it shows, with column run. ValueError where the tables of the sweep lack a column."""
        table = tables[self.sweep]
        missing = set(self.settings) - set(table.columns)
        if missing:
            raise ValueError(f"the tables have no column {', '.join(sorted(missing))}, which this figure chooses by")
        chosen = np.ones(len(table), bool)
        for name, value in self.settings.items():
            column = table[name]
            chosen &= (column == value if isinstance(value, str) else np.isclose(column, value)).astype(bool)
        return self.view(table.loc[chosen])

    def points(self, bands: pd.DataFrame, x: str, band: str, marked: Sequence[float] = ()) -> pd.DataFrame:
        """Bands of this series as rows of a drawing's table; x names the column of the horizontal axis."""
        points = bands.rename(columns={x: "x"}).astype({"x": float})
        marker = points["x"].isin(marked)
        return points.assign(panel=self.panel, series=self.look.label, band=band, marker=marker).loc[:, COLUMNS]

    def values(self, table: pd.DataFrame, x: str, y: str, what: str) -> pd.DataFrame:
        """Two columns of a table that no runs are behind, as rows of a drawing's table; what says what they are."""
        points = pd.DataFrame({"x": table[x].astype(float), "mean": table[y], "lower": np.nan, "upper": np.nan})
        return points.assign(panel=self.panel, series=self.look.label, band=what, n=0, marker=False).loc[:, COLUMNS]

    def of(self, data: pd.DataFrame) -> pd.DataFrame:
        """The rows of a drawing's table that belong to this series."""
        return data.loc[(data["panel"] == self.panel) & (data["series"] == self.look.label)]


def collect(parts: Iterable[pd.DataFrame], wanted: Sequence[Series]) -> pd.DataFrame:
    """The table of a drawing from those of its series. ValueError where nothing that is wanted was found."""
    found = [part for part in parts if len(part)]
    if found:
        return pd.concat(found, ignore_index=True)
    values: dict[str, list[str]] = {}
    for series in wanted:
        for name, value in series.settings.items():
            values.setdefault(name, []).append(str(value))
    needed = "; ".join(f"{name} in {', '.join(dict.fromkeys(these))}" for name, these in values.items())
    sweeps = ", ".join(dict.fromkeys(series.sweep for series in wanted))
    raise ValueError(
        f"the tables of {sweeps} hold nothing that this figure shows{': it needs ' * bool(needed)}{needed}"
    )
