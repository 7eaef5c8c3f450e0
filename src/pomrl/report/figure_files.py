"""The files that are written for a figure: a picture, a table, and a sidecar with their sources."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from PIL import Image

from pomrl.configuration.sweeps import command
from pomrl.drawing.figure import INTERVALS, Figure, caption_of, number_of, title_of
from pomrl.drawing.files import Sidecar
from pomrl.report import ReportError
from pomrl.report.markup import Caption, caption
from pomrl.results.stored_sweeps import Source
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles

Read = TypeVar("Read")

PIXELS = 1024
"""The most pixels of a picture's width: 1.4 for each of the page, whose column has 46 rem of 16 pixels."""

COLOURS = 40
"""Colours of a picture on the page. Drawings have few, and with a palette they take half of the bytes."""

SAMPLE = 6
"""The palette follows from each sixth pixel of each sixth row: clustering all takes six times as long."""

_BANDS = {"sd": "one standard deviation", "se": "one standard error", "ci": "95 % intervals of the mean"}


@dataclass(frozen=True)
class FigureFiles:
    """The files of one version of a figure in a folder. The picture, table and sidecar can be read only if `is_drawn`.

    Each is checked against the digests in the sidecar when it is read, and `ReportError` is raised if it is damaged.
    """

    name: str
    """The name of the figure, which its versions share."""
    folder: Path
    with_intervals: bool = False
    """Whether this is the version with 95 % intervals."""
    of: Figure | None = None
    """The figure; None if code of a page has drawn it."""
    word: str = ""
    """What stands for the study in commands."""
    command: str = ""
    """The command that draws figures of the study under the variant, without their names."""
    variant: str = ""
    """The variant under which it is drawn; empty for the default."""
    with_errata: bool = False
    """Whether the page has errata without a prefix, to which captions link."""

    @property
    def id(self) -> str:
        """An identifier of the figure on the page of its study."""
        return "-".join(["figure", *re.findall(r"\w+", self.variant), self.name])

    @property
    def stem(self) -> str:
        """The name of the files, without suffix."""
        return self.name + INTERVALS * self.with_intervals

    @property
    def docstring(self) -> str:
        """The title and the caption of the figure."""
        return self.of.docstring if self.of else self.sidecar.docstring

    @property
    def title(self) -> str:
        """The title of the figure on the page."""
        return title_of(self.docstring) or self.name

    @cached_property
    def caption(self) -> Caption:
        """The caption of the figure."""
        return caption(number_of(self.docstring), caption_of(self.docstring), with_errata=self.with_errata)

    @property
    def versions(self) -> list["FigureFiles"]:
        """The versions of this figure that are drawn: that with 95 % intervals, and that of the caption.

        Standard deviations, which captions of papers often ask for, hide what the means say, and so they stand second.
        """
        each = (replace(self, with_intervals=True), replace(self, with_intervals=False))
        return [version for version in each if version.is_drawn]

    @property
    def sources_of_sweeps(self) -> dict[str, list[list[Source]]]:
        """The experiments that the versions show by sweep: for each experiment its source in each version."""
        found: dict[str, dict[str, list[Source]]] = {}
        for sweep, source in (shown for version in self.versions for shown in version.sources):
            found.setdefault(sweep, {}).setdefault(source.signature, []).append(source)
        return {sweep: list(of_sweep.values()) for sweep, of_sweep in found.items()}

    @property
    def is_drawn(self) -> bool:
        """Return whether there is a sidecar, which is written last. The files may be damaged nevertheless."""
        return self._files.is_made

    @property
    def _files(self) -> DerivedFiles:
        return DerivedFiles(self.folder / f"{self.stem}.json")

    @property
    def fault(self) -> str | None:
        """Return what is wrong with the files of the figure; None if they are as they were written, or not drawn."""
        return self._files.fault() if self.is_drawn else None

    @cached_property
    def sidecar(self) -> Sidecar:
        """The content of NAME.json: the sources of the figure and the digests of its files."""
        return self._read(Sidecar.read, self.folder / f"{self.stem}.json")

    def _read(self, read: Callable[[Any], Read], file: Path | str) -> Read:
        try:
            return read(file)
        except StoreError as error:
            raise ReportError(f"{error}; {self.command} {self.stem} renews it") from error

    @property
    def sources(self) -> Iterator[tuple[str, Source]]:
        """Each experiment that the figure shows, after the name of its sweep."""
        for sweep, sources in self.sidecar.sweeps.items():
            yield from ((sweep, source) for source in sources)

    @cached_property
    def csv(self) -> bytes:
        """The content of NAME.csv: the values that are drawn."""
        return self._read(self._files.content, f"{self.stem}.csv")

    @cached_property
    def picture(self) -> "Picture":
        """The picture in NAME.png, as the page shows it."""
        return Picture.of(self._read(self._files.content, f"{self.stem}.png"))

    @property
    def commands(self) -> list[str]:
        """The commands that compute and draw the figure, in the order in which to run them."""
        if not self.is_drawn:
            return [f"pomrl reproduce {self.word}"]
        return [*(command(sweep) for sweep in self.sidecar.sweeps if not self.variant), self.sidecar.command]

    @cached_property
    def _values(self) -> pd.DataFrame:
        """The values that are drawn; an empty cell is an empty string."""
        return pd.read_csv(StringIO(self.csv.decode()), keep_default_na=False)

    def _distinct(self, column: str) -> list[str]:
        """Return the values in a column; none if a study draws something else, whose table has no such column."""
        values = self._values[column].unique() if column in self._values else ()
        return [str(value) for value in values if value != ""]

    @property
    def bands(self) -> str:
        """What the bands show and over how many runs, such as "one standard deviation over 100 runs"; may be empty."""
        kinds = [_BANDS[band] for band in self._distinct("band") if band in _BANDS]
        return f"{' or '.join(kinds)} over {self._values['n'].max()} runs" if kinds else ""

    @property
    def alternative(self) -> str:
        """A text for readers who do not see the picture: its panels, series, bands, and numbers of runs."""
        panels, series = self._distinct("panel"), self._distinct("series")
        number = f"Figure {self.caption.number}: " if self.caption.number else ""
        parts = [f"{number}{self.title}"]
        if len(panels) > 1:
            parts.append(f"Panels {panels[0]} to {panels[-1]}")
        if series:
            parts.append(f"Series: {', '.join(series)}")
        if self.bands:
            parts.append(f"Bands: {self.bands}")
        return ". ".join(parts) + ". The values are in the table below."


def found_in(folder: Path, known: Collection[str], word: str) -> list[FigureFiles]:
    """Return the figures whose files are in a folder, but those with these names."""
    stems = {path.stem for path in folder.glob("*.json") if path.with_suffix(".csv").exists()}
    names = {stem for stem in stems if not stem.endswith(INTERVALS)} - set(known)
    return [FigureFiles(name, folder, word=word) for name in sorted(names)]


def refuse_damage(figures: Sequence[FigureFiles]) -> None:
    """Raise an error if files of one of these figures are damaged.

    Raises:
        ReportError: Files are damaged. The message describes the first fault, and has the command that renews them all.
    """
    versions = [version for figure in figures for version in figure.versions]
    faults = {version.stem: fault for version in versions if (fault := version.fault)}
    if faults:
        first, *_ = faults.values()
        raise ReportError(f"{first}; {versions[0].command} {' '.join(faults)} renews it")


@dataclass(frozen=True)
class Picture:
    """A picture as a page contains it; width and height are those on the page, half of the pixels of the file."""

    content: bytes
    width: int
    height: int

    @classmethod
    def of(cls, content: bytes) -> "Picture":
        """Return a PNG image as WebP without loss, of at most `PIXELS` pixels in `COLOURS` colours.

        Each pixel is the mean of those it covers: filters that sharpen add colours at every edge. The colours are
        clusters, because bands are pale, and a palette that covers the extremes turns them into other hues.
        """
        with Image.open(BytesIO(content)) as image:
            width, height = image.size
            wide = min(width, PIXELS)
            small = image.convert("RGB").resize((wide, round(height * wide / width)), Image.Resampling.BOX)
        sample = small.resize([max(1, side // SAMPLE) for side in small.size], Image.Resampling.NEAREST)
        palette = sample.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3)
        drawn = small.quantize(palette=palette, dither=Image.Dither.NONE)
        buffer = BytesIO()
        drawn.convert("RGB").save(buffer, "WEBP", lossless=True)
        return cls(buffer.getvalue(), width // 2, height // 2)
