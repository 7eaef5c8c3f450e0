"""The files that `python -m src.figures` writes for a figure: a picture, a table, and a sidecar with their sources."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path

import pandas as pd
from PIL import Image

from pomrl.figures import FIGURES
from pomrl.figures.parts.files import Sidecar
from pomrl.report import ReportError
from pomrl.report.markup import Caption, caption
from pomrl.report.titles import title
from pomrl.results.stored_sweeps import Source

COLOURS = 256
"""Colours of a picture on the page. Drawings have few, and with a palette they take less than a third of the bytes."""

_BANDS = {"sd": "one standard deviation", "se": "one standard error"}


@dataclass(frozen=True)
class FigureFiles:
    """The files of one figure in a folder. The picture, table and sidecar can be read only if `is_drawn`."""

    name: str
    folder: Path

    @property
    def title(self) -> str:
        """The title of the figure on the page."""
        return title(self.name)

    @cached_property
    def caption(self) -> Caption:
        """The caption of the figure, from the docstring of its module."""
        return caption(FIGURES[self.name].__doc__ or "")

    @property
    def is_drawn(self) -> bool:
        """Return whether the picture, the table and the sidecar all exist."""
        return all((self.folder / f"{self.name}.{suffix}").is_file() for suffix in ("png", "csv", "json"))

    @cached_property
    def sidecar(self) -> Sidecar:
        """The content of NAME.json: the sources of the figure and the digests of its files.

        Raises:
            ReportError: If the file is damaged, or another version wrote it.
        """
        try:
            return Sidecar.read(self.folder / f"{self.name}.json")
        except ValueError as error:
            raise ReportError(f"{error}; python -m src.figures {self.name} renews it") from error

    @property
    def sources(self) -> Iterator[tuple[str, Source]]:
        """Each experiment that the figure shows, after the name of its sweep."""
        for sweep, sources in self.sidecar.sweeps.items():
            yield from ((sweep, source) for source in sources)

    @cached_property
    def csv(self) -> bytes:
        """The content of NAME.csv: the values that are drawn."""
        return (self.folder / f"{self.name}.csv").read_bytes()

    @cached_property
    def picture(self) -> "Picture":
        """The picture in NAME.png, reduced to a palette."""
        return Picture.of((self.folder / f"{self.name}.png").read_bytes())

    @property
    def commands(self) -> list[str]:
        """The commands that compute and draw the figure, in the order in which to run them."""
        sweeps = [f"python -m src.run experiment={sweep}" for sweep in FIGURES[self.name].SWEEPS]
        return [*sweeps, f"python -m src.figures {self.name}"]

    @property
    def alternative(self) -> str:
        """A text for readers who do not see the picture: its panels, series, bands, and numbers of runs."""
        table = pd.read_csv(StringIO(self.csv.decode()), keep_default_na=False)
        panels = [str(panel) for panel in table["panel"].unique() if panel]
        number = f"Figure {self.caption.number}: " if self.caption.number else ""
        parts = [f"{number}{self.title}"]
        if len(panels) > 1:
            parts.append(f"Panels {panels[0]} to {panels[-1]}")
        parts.append(f"Series: {', '.join(map(str, table['series'].unique()))}")
        bands = [_BANDS[band] for band in table["band"].unique() if band in _BANDS]
        if bands:
            parts.append(f"Bands: {' or '.join(bands)} over {table['n'].max()} runs")
        return ". ".join(parts) + ". The values are in the table below."


@dataclass(frozen=True)
class Picture:
    """A PNG image; width and height are in pixels."""

    content: bytes
    width: int
    height: int

    @classmethod
    def of(cls, content: bytes) -> "Picture":
        """Reduce a PNG image to a palette of `COLOURS` colours, so that it takes fewer bytes."""
        with Image.open(BytesIO(content)) as image:
            small = image.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        buffer = BytesIO()
        small.save(buffer, "PNG")
        return cls(buffer.getvalue(), *small.size)
