"""Drawings as files."""

from pathlib import Path

from pomrl.figures.drawing import Drawing
from pomrl.figures.style import context


def save(drawing: Drawing, folder: Path | str, name: str) -> list[Path]:
    """Write NAME.pdf, NAME.png and NAME.csv into a folder, which is made where it is not, and return their paths.

    The bytes depend on the drawing alone (in one environment): no date and no name of a program is written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pdf, png, csv = (folder / f"{name}.{suffix}" for suffix in ("pdf", "png", "csv"))
    with context():
        drawing.figure.savefig(pdf, metadata={"CreationDate": None, "Creator": None, "Producer": None})
        drawing.figure.savefig(png, metadata={"Software": None})
    drawing.data.to_csv(csv, index=False, lineterminator="\n")
    return [pdf, png, csv]
