"""The figures as they are drawn: pictures, tables, and where they come from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from pomrl.figures import FIGURES
from pomrl.report.contents import title
from pomrl.report.words import Caption, caption

COLOURS = 256
"""Of a picture on the page. Drawings have few, and with a palette take less than a third of the bytes."""

_BANDS = {"sd": "one standard deviation", "se": "one standard error"}


@dataclass(frozen=True)
class Drawn:
    """A figure, from the files that `src.figures` writes. Where `is_drawn` is false, it has no picture and no data."""

    name: str
    folder: Path

    @property
    def title(self) -> str:
        return title(self.name)

    @cached_property
    def caption(self) -> Caption:
        return caption(FIGURES[self.name].__doc__ or "")

    @property
    def is_drawn(self) -> bool:
        return all((self.folder / f"{self.name}.{suffix}").is_file() for suffix in ("png", "csv", "json"))

    @cached_property
    def sidecar(self) -> Mapping[str, Any]:
        """What NAME.json says."""
        return json.loads((self.folder / f"{self.name}.json").read_text())

    @cached_property
    def csv(self) -> bytes:
        """The table of what is drawn."""
        return (self.folder / f"{self.name}.csv").read_bytes()

    @cached_property
    def picture(self) -> "Picture":
        return Picture.of((self.folder / f"{self.name}.png").read_bytes())

    @property
    def commands(self) -> list[str]:
        """Those that make it, in order."""
        sweeps = [f"python -m src.run experiment={sweep}" for sweep in FIGURES[self.name].SWEEPS]
        return [*sweeps, f"python -m src.figures {self.name}"]

    @property
    def alternative(self) -> str:
        """What one would see, in words: panels, series, and how many runs are behind them."""
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
    """A PNG with its size in pixels."""

    content: bytes
    width: int
    height: int

    @classmethod
    def of(cls, content: bytes) -> "Picture":
        """A smaller one that looks the same."""
        with Image.open(BytesIO(content)) as image:
            small = image.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        buffer = BytesIO()
        small.save(buffer, "PNG")
        return cls(buffer.getvalue(), *small.size)
