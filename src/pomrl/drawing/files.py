"""Writing a drawing to files, and the sidecar file that says where it comes from."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.backend_bases import get_registered_canvas_class
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from pomrl.drawing.drawing import Drawing
from pomrl.drawing.style import context
from pomrl.results.stored_sweeps import Source
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles

SUFFIXES = ("pdf", "png", "csv", "json")
"""The files of a figure, in the order in which `save` writes them: two pictures, the table, and the sidecar."""


_OPTIONAL = ("simulations",)
"""The keys of a sidecar file that are left out if there is nothing to say."""


@dataclass(frozen=True)
class Sidecar:
    """The content of NAME.json, which says where the files of a figure come from."""

    figure: str
    command: str = ""
    """The command that draws the figure again."""
    docstring: str = ""
    """The title and the caption of the figure."""
    commit: str | None = None
    """The git commit of the code; None outside of a repository."""
    dirty: bool | None = None
    """Whether the code was changed since that commit; None outside of a repository."""
    variant: str = ""
    """The variant under which the experiments were computed."""
    sweeps: Mapping[str, Sequence[Source]] = field(default_factory=dict)
    """The stored experiments of each sweep that the figure shows, by the option of the group `experiment`."""
    simulations: Mapping[str, Sequence[Source]] = field(default_factory=dict)
    """What is stored of each simulation that the figure shows; absent from the file if there is none."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 digest of each other file of the figure, by its name; `save` adds them."""

    def content(self) -> dict[str, Any]:
        """Return the content of the file as plain data."""
        return {key: value for key, value in asdict(self).items() if value or key not in _OPTIONAL}

    @classmethod
    def read(cls, path: Path) -> "Sidecar":
        """Read a sidecar that `save` has written.

        Raises:
            StoreError: The file is missing or damaged, or another version wrote it.
        """
        try:
            return TypeAdapter(cls).validate_python(DerivedFiles(path).said())
        except ValidationError as error:
            raise StoreError(f"{path}: it is damaged, or another version wrote it") from error


def save(drawing: Drawing, folder: Path, name: str, sidecar: Sidecar) -> list[Path]:
    """Write NAME.pdf, NAME.png, NAME.csv and NAME.json, and create the folder if there is none.

    Each file is written whole or not at all, and the sidecar last (`pomrl.store.derived`). In one environment
    the bytes of the first three depend on the drawing alone: they contain neither a date nor the name of a program.

    Returns:
        The paths of the four files, in the order of `SUFFIXES`.
    """
    pdf, png, csv, json_file = [folder / f"{name}.{suffix}" for suffix in SUFFIXES]
    contents = {
        pdf.name: _picture(drawing, "pdf", {"CreationDate": None, "Creator": None, "Producer": None}),
        png.name: _picture(drawing, "png", {"Software": None}),
        csv.name: _values(drawing),
    }
    DerivedFiles(json_file).write(contents, sidecar.content())
    return [pdf, png, csv, json_file]


def _picture(drawing: Drawing, kind: str, metadata: Mapping[str, None], dpi: float = 300) -> bytes:
    """Return the drawing as the content of a file of this kind, with some of the usual metadata left out.

    Its layout is fixed already, for which `Figure.savefig` would draw the figure one more time.
    """
    buffer, figure = BytesIO(), drawing.figure
    before = figure.canvas, figure.dpi
    with context():
        canvas: Any = get_registered_canvas_class(kind)(figure)
        figure.dpi = dpi
        getattr(canvas, f"print_{kind}")(buffer, metadata=metadata)
    figure.canvas, figure.dpi = before
    return buffer.getvalue()


def save_small(drawing: Drawing, folder: Path, name: str, said: Mapping[str, Any]) -> list[Path]:
    """Write a small NAME.png for a web page, and what is said of it into NAME.json; create the folder if there is none.

    The picture has 128 colours, which takes half of the bytes and shows no difference. NAME.json has the digest of the
    values that are drawn as well.

    Returns:
        The path of the picture, in a list.
    """
    path = folder / f"{name}.png"
    values = hashlib.sha256(_values(drawing)).hexdigest()
    picture = Image.open(BytesIO(_picture(drawing, "png", {"Software": None}, dpi=120))).convert("RGB").quantize(128)
    small = BytesIO()
    picture.save(small, "PNG", optimize=True)
    DerivedFiles(path.with_suffix(".json")).write({path.name: small.getvalue()}, {**said, "values": values})
    return [path]


def _values(drawing: Drawing) -> bytes:
    return drawing.data.to_csv(index=False, lineterminator="\n").encode()
