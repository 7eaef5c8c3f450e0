"""Writing a drawing to files, and the sidecar file that says where it comes from."""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from functools import cache
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.backend_bases import get_registered_canvas_class
from matplotlib.backends import _backend_pdf_ps as backend
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from pydantic import TypeAdapter, ValidationError

from pomrl.drawing.series import Drawing
from pomrl.drawing.style import context
from pomrl.results.sweep_results import Origin
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles
from pomrl.store.manifests import commit

ASCII_CHARACTERS = range(0x20, 0x7F)
"""The printable characters of ASCII. A subset with one of them has them all, and so fits most other figures too."""

_make_subset = backend.get_glyphs_subset

_open_fonts = ExitStack()
"""Keeps fonts open, because some of their tables are read when they are written."""


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
    sweeps: Mapping[str, Sequence[Origin]] = field(default_factory=dict)
    """The stored experiments of each sweep that the figure shows, by the option of the group `experiment`."""
    simulations: Mapping[str, Sequence[Origin]] = field(default_factory=dict)
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
    """Write NAME.pdf, NAME.png, NAME.csv and NAME.json, each whole or not at all, and return their paths.

    In one environment the bytes of the first three depend on the drawing alone.
    """
    pdf, png, csv, json_file = [folder / f"{name}.{suffix}" for suffix in ("pdf", "png", "csv", "json")]
    pictures = {path.name: picture(drawing.figure, path.suffix[1:]) for path in (pdf, png)}
    contents = {**pictures, csv.name: values(drawing)}
    DerivedFiles(json_file).write(contents, asdict(sidecar) | commit())
    return [pdf, png, csv, json_file]


_OMITTED_METADATA = {"pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")), "png": {"Software": None}}
"""The usual metadata that the files leave out."""


def picture(figure: Figure, kind: str, dpi: float = 300) -> bytes:
    """Return a figure as the content of a `pdf` or `png` file, without the layout that `savefig` would repeat."""
    buffer = BytesIO()
    before = figure.canvas, figure.dpi
    with context(), reused_subsets():
        canvas: Any = get_registered_canvas_class(kind)(figure)
        figure.dpi = dpi
        getattr(canvas, f"print_{kind}")(buffer, metadata=_OMITTED_METADATA[kind])
    figure.canvas, figure.dpi = before
    return buffer.getvalue()


def values(drawing: Drawing) -> bytes:
    """Return the table of the drawing as the content of a CSV file."""
    return drawing.data.to_csv(index=False, lineterminator="\n").encode()


@contextmanager
def reused_subsets() -> Iterator[None]:
    """Let the PDF files that are written meanwhile share the subsets of their fonts.

    Versions of matplotlib before 3.11 select characters and not glyphs: with them each file has its own subsets.
    """
    if "glyphs" in signature(_make_subset).parameters:
        backend.get_glyphs_subset = _reuse_subset
    try:
        yield
    finally:
        backend.get_glyphs_subset = _make_subset


def _reuse_subset(font: Any, glyphs: Set[int]) -> AbstractContextManager[Any]:
    letters = _letters(font)
    return nullcontext(_subset(font, frozenset(glyphs) | (frozenset() if letters.isdisjoint(glyphs) else letters)))


@cache
def _letters(font: Any) -> frozenset[int]:
    """Return the glyphs of `ASCII_CHARACTERS` in a font."""
    return frozenset(map(FT2Font(font).get_char_index, ASCII_CHARACTERS))


@cache
def _subset(font: Any, glyphs: frozenset[int]) -> Any:
    """Return what matplotlib makes of a font with these glyphs alone; its file depends on nothing else."""
    return _open_fonts.enter_context(_make_subset(font, set(glyphs)))
