"""Writing a drawing to files, and the sidecar file that says where it comes from."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.backend_bases import get_registered_canvas_class
from matplotlib.figure import Figure
from pydantic import TypeAdapter, ValidationError

from pomrl.drawing.drawing import Drawing
from pomrl.drawing.fonts import reused_subsets
from pomrl.drawing.style import context
from pomrl.results.stored_sweeps import Source
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles
from pomrl.store.manifests import commit


@dataclass(frozen=True)
class Sidecar:
    """The content of NAME.json, which says where the files of a figure come from."""

    figure: str
    command: str = ""
    """The command that draws the figure again."""
    docstring: str = ""
    """The title and the caption of the figure."""
    commit: str | None = None
    """The git commit of the code, which `save` adds; None outside of a repository."""
    dirty: bool | None = None
    """Whether the code was changed since that commit, which `save` adds; None outside of a repository."""
    variant: str = ""
    """The variant under which the experiments were computed."""
    sweeps: Mapping[str, Sequence[Source]] = field(default_factory=dict)
    """The stored experiments of each sweep that the figure shows, by the option of the group `experiment`."""
    simulations: Mapping[str, Sequence[Source]] = field(default_factory=dict)
    """What is stored of each simulation that the figure shows."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 digest of each other file of the figure, by its name; `save` adds them."""

    @classmethod
    def read(cls, path: Path) -> "Sidecar":
        """Read a sidecar that `save` has written.

        Raises:
            StoreError: The file is missing or damaged, or another version wrote it.
        """
        try:
            return TypeAdapter(cls).validate_python(DerivedFiles(path).read_sidecar())
        except ValidationError as error:
            raise StoreError(f"{path}: it is damaged, or another version wrote it") from error


def save(drawing: Drawing, folder: Path, name: str, sidecar: Sidecar) -> list[Path]:
    """Write NAME.pdf, NAME.png, NAME.csv and NAME.json, and create the folder if there is none.

    Each file is written whole or not at all, and the sidecar last (`pomrl.store.derived`). In one environment
    the bytes of the first three depend on the drawing alone: they contain neither a date nor the name of a program.

    Returns:
        The paths of the four files, in this order.
    """
    pdf, png, csv, json_file = [folder / f"{name}.{suffix}" for suffix in ("pdf", "png", "csv", "json")]
    pictures = {path.name: picture(drawing.figure, path.suffix[1:]) for path in (pdf, png)}
    contents = {**pictures, csv.name: values(drawing)}
    DerivedFiles(json_file).write(contents, asdict(sidecar) | commit())
    return [pdf, png, csv, json_file]


_UNSAID = {"pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")), "png": {"Software": None}}
"""The usual metadata that the files leave out."""


def picture(figure: Figure, kind: str, dpi: float = 300) -> bytes:
    """Return a figure as the content of a file of this kind, `pdf` or `png`.

    Its layout is fixed already, for which `Figure.savefig` would draw the figure one more time.
    """
    buffer = BytesIO()
    before = figure.canvas, figure.dpi
    with context(), reused_subsets():
        canvas: Any = get_registered_canvas_class(kind)(figure)
        figure.dpi = dpi
        getattr(canvas, f"print_{kind}")(buffer, metadata=_UNSAID[kind])
    figure.canvas, figure.dpi = before
    return buffer.getvalue()


def values(drawing: Drawing) -> bytes:
    """Return the table of the drawing as the content of a CSV file."""
    return drawing.data.to_csv(index=False, lineterminator="\n").encode()
