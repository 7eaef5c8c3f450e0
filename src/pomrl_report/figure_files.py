"""Read the files of a figure: a picture, a table and a sidecar."""

import re
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path

import pandas as pd
from markupsafe import Markup
from PIL import Image

from pomrl.configuration.sweeps import command
from pomrl.drawing.figure import INTERVALS, figure_caption, figure_number, figure_title, file_name
from pomrl.drawing.picture_files import Sidecar
from pomrl.results.intervals import BAND_NAMES, CONFIDENCE_PERCENT
from pomrl.store.derived import DerivedFiles
from pomrl_report.markup import paragraphs
from pomrl_report.provenance import ShownExperiment

PIXELS = 1024
"""The largest width of a picture: 1.4 pixels for each pixel of the page's column of 46 rem."""

COLOURS = 40
"""The number of colours of a picture. Drawings have few, and a palette takes half of the bytes."""

SAMPLE = 6
"""The palette is made from every sixth pixel of every sixth row, in a sixth of the time."""

EFFORT = {"method": 2, "quality": 40}
"""The compression. Files are as small as by default in Pillow, in two thirds of the time."""

_BANDS = {
    "sd": "one standard deviation",
    "se": "one standard error",
    "ci": BAND_NAMES["ci"],
    "bootstrap sd": "one bootstrap standard deviation",
    "bootstrap ci": f"{CONFIDENCE_PERCENT} % bootstrap intervals",
}


@dataclass(frozen=True)
class Version:
    """The files of a figure's version, checked against digests."""

    path: Path
    """The path of its sidecar."""

    @property
    def stem(self) -> str:
        return self.path.stem

    @cached_property
    def sidecar(self) -> Sidecar:
        return Sidecar.read(self.path)

    @property
    def experiments(self) -> list[ShownExperiment]:
        """Its experiments, with the names of their sweeps."""
        return [(sweep, source) for sweep, sources in self.sidecar.sweeps.items() for source in sources]

    @cached_property
    def csv(self) -> bytes:
        return DerivedFiles(self.path).content(f"{self.stem}.csv")

    @cached_property
    def picture(self) -> "Picture":
        return Picture.from_png(DerivedFiles(self.path).content(f"{self.stem}.png"))

    def distinct(self, column: str) -> list[str]:
        """Return the distinct nonempty values of a column."""
        values = self._table[column].unique() if column in self._table else ()
        return [str(value) for value in values if value != ""]

    @cached_property
    def _table(self) -> pd.DataFrame:
        return pd.read_csv(StringIO(self.csv.decode()), keep_default_na=False)

    @property
    def bands(self) -> str:
        """The meaning of the bands, by panel if panels differ, and their runs."""
        kinds = [band for band in self.distinct("band") if band in _BANDS]
        if len(kinds) < 2:
            texts = [_BANDS[kind] for kind in kinds]
        else:
            panels = {kind: self._table.loc[self._table["band"] == kind, "panel"].unique() for kind in kinds}
            texts = [f"{_BANDS[kind]} ({', '.join(map(str, panels[kind]))})" for kind in kinds]
        cut = ", cut off where they exceed the axes" if "sd" in kinds else ""
        return f"{', '.join(texts)} over {self._table['n'].max():,} runs{cut}" if kinds else ""


@dataclass(frozen=True)
class FigureFiles:
    """A figure on a page, drawn or not."""

    name: str
    """The name shared by its versions."""
    folder: Path
    docstring: str = ""
    """Title and caption; empty if the sidecar has them."""
    study: str = ""
    """The name of the study in commands."""
    variant: str = ""
    """The variant; empty for the default."""

    @property
    def id(self) -> str:
        return "-".join(["figure", *re.findall(r"\w+", self.variant), self.name])

    @cached_property
    def versions(self) -> list[Version]:
        """The drawn versions; intervals come first."""
        names = (file_name(self.name + end, self.docstring) for end in (INTERVALS, ""))
        paths = (self.folder / f"{name}.json" for name in names)
        return [Version(path) for path in paths if path.exists()]

    def file(self, version: Version, kind: str) -> str:
        """Return the name of a version's file in the folder of the page."""
        return f"{'-'.join(filter(None, [self.variant, version.stem]))}.{kind}"

    def write(self, folder: Path, command: str) -> None:
        """Write the pictures and tables of a page into its folder."""
        for version in self.versions:
            contents = {self.file(version, "webp"): version.picture.content, self.file(version, "csv"): version.csv}
            DerivedFiles(folder / self.file(version, "json")).write(contents, {"command": command})

    @property
    def title(self) -> str:
        return figure_title(self._text) or self.name

    @property
    def number(self) -> str:
        """The number in the paper; may be empty."""
        return figure_number(self._text)

    @property
    def caption(self) -> list[Markup]:
        return paragraphs(figure_caption(self._text))

    @property
    def _text(self) -> str:
        return self.docstring or self.versions[0].sidecar.docstring

    @property
    def commands(self) -> list[str]:
        if not self.versions:
            return [f"pomrl reproduce {self.study}"]
        sidecar = self.versions[-1].sidecar
        return [*(command(sweep) for sweep in sidecar.sweeps if not self.variant), sidecar.command]


@dataclass(frozen=True)
class Picture:
    """A WebP picture, and its shown size: half of the PNG's."""

    content: bytes
    width: int
    height: int

    @classmethod
    def from_png(cls, content: bytes) -> "Picture":
        """Convert PNG to lossless WebP of at most `PIXELS` width.

        Pixels are averaged, because sharpening filters add colours. The palette has the centres of clusters, because
        extreme colours change the hues of pale bands.
        """
        with Image.open(BytesIO(content)) as image:
            width, height = image.size
            wide = min(width, PIXELS)
            small = image.convert("RGB").resize((wide, round(height * wide / width)), Image.Resampling.BOX)
        sample = small.resize([max(1, side // SAMPLE) for side in small.size], Image.Resampling.NEAREST)
        palette = sample.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3)
        quantized = small.quantize(palette=palette, dither=Image.Dither.NONE)
        buffer = BytesIO()
        quantized.convert("RGB").save(buffer, "WEBP", lossless=True, **EFFORT)
        return cls(buffer.getvalue(), width // 2, height // 2)
