"""Drawings as files."""

from pathlib import Path

from pomrl.figures.drawing import Drawing
from pomrl.figures.style import context


def save(drawing: Drawing, folder: Path, name: str) -> list[Path]:
    """Write NAME.pdf, NAME.png and NAME.csv into a folder, which is made where it is not, and return their paths.

    The bytes depend on the drawing alone (in one environment): no date and no name of a program is written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pdf, png, csv = (folder / f"{name}.{suffix}" for suffix in ("pdf", "png", "csv"))
    with context():
        drawing.figure.savefig(pdf, metadata={"CreationDate": None, "Creator": None, "Producer": None})
        drawing.figure.savefig(png, metadata={"Software": None})
    drawing.data.to_csv(csv, index=False, lineterminator="\n")
    return [pdf, png, csv]


def save_small(drawing: Drawing, folder: Path, name: str) -> list[Path]:
    """Write a small NAME.png, for a page."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    with context():
        drawing.figure.savefig(path, dpi=120, metadata={"Software": None})
    return [path]
