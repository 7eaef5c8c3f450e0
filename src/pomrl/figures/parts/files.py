"""Drawings as files."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pomrl.figures.parts.drawing import Drawing
from pomrl.figures.parts.style import context


def save(drawing: Drawing, folder: Path, name: str, sources: Mapping[str, Any]) -> list[Path]:
    """Write NAME.pdf, NAME.png, NAME.csv and NAME.json into a folder, which is made where it is not; their paths.

    The first three depend on the drawing alone (in one environment): no date and no name of a program is written.
    NAME.json says where they come from, `sources`, and has the digest of each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pdf, png, csv, sidecar = (folder / f"{name}.{suffix}" for suffix in ("pdf", "png", "csv", "json"))
    with context():
        drawing.figure.savefig(pdf, metadata={"CreationDate": None, "Creator": None, "Producer": None})
        drawing.figure.savefig(png, metadata={"Software": None})
    drawing.data.to_csv(csv, index=False, lineterminator="\n")
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (pdf, png, csv)}
    sidecar.write_text(json.dumps({**sources, "files": digests}, indent=2) + "\n")
    return [pdf, png, csv, sidecar]


def save_small(drawing: Drawing, folder: Path, name: str) -> list[Path]:
    """Write a small NAME.png, for a page."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    with context():
        drawing.figure.savefig(path, dpi=120, metadata={"Software": None})
    return [path]
