"""Write drawings to files, with a sidecar about their sources."""

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

COMMON_CHARACTERS = ("".join(map(chr, range(0x20, 0x7F))), "αγσ₀₁₂₃₅ₐₑₗₒₜᵥ−ﬀﬁ")
"""Printable ASCII characters, and symbols. A font subset with any of a text includes all, so that figures share it."""

_OPTIONS: Mapping[str, Any] = {
    "pdf": {"metadata": dict.fromkeys(("CreationDate", "Creator", "Producer"))},
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 1}},  # 10 % larger in 2/3 of the time
}

_make_subset = backend.get_glyphs_subset

_open_fonts = ExitStack()
"""Keeps fonts open, because writing reads some of their tables."""


@dataclass(frozen=True)
class Sidecar:
    """The content of NAME.json: the sources of a figure's files."""

    figure: str
    command: str = ""
    """The command to draw the figure again."""
    docstring: str = ""
    """Title and caption."""
    commit: str | None = None
    """The git commit of the code, set by `save`; None outside of a repository."""
    dirty: bool | None = None
    """Whether the code was changed since that commit, set by `save`; None outside of a repository."""
    variant: str = ""
    """The variant of the experiments."""
    sweeps: Mapping[str, Sequence[Origin]] = field(default_factory=dict)
    """The stored experiments of each sweep, by the option of the group `experiment`."""
    simulations: Mapping[str, Sequence[Origin]] = field(default_factory=dict)
    """The stored files of each simulation."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 digest of each other file by name, set by `save`."""

    @classmethod
    def read(cls, path: Path) -> "Sidecar":
        """Read a sidecar; StoreError if it is missing or damaged."""
        try:
            return TypeAdapter(cls).validate_python(DerivedFiles(path).read_sidecar())
        except ValidationError as error:
            raise StoreError(f"{path}: damaged, or written by another version; draw the figure again") from error


def save(drawing: Drawing, folder: Path, name: str, sidecar: Sidecar) -> list[Path]:
    """Write NAME.pdf, NAME.png, NAME.csv and NAME.json atomically; return their paths.

    In one environment, the bytes of the first three depend only on the drawing.
    """
    pdf, png, csv, json_file = [folder / f"{name}.{suffix}" for suffix in ("pdf", "png", "csv", "json")]
    pictures = {path.name: picture(drawing.figure, path.suffix[1:]) for path in (pdf, png)}
    contents = {**pictures, csv.name: values(drawing)}
    DerivedFiles(json_file).write(contents, asdict(sidecar) | commit())
    return [pdf, png, csv, json_file]


def picture(figure: Figure, kind: str, dpi: float = 300) -> bytes:
    """Encode a figure as `pdf` or `png`; unlike Matplotlib, keep its layout."""
    buffer = BytesIO()
    before = figure.canvas, figure.dpi
    with context(), reused_subsets():
        canvas: Any = get_registered_canvas_class(kind)(figure)
        figure.dpi = dpi
        getattr(canvas, f"print_{kind}")(buffer, **_OPTIONS[kind])
    figure.canvas, figure.dpi = before
    return buffer.getvalue()


def values(drawing: Drawing) -> bytes:
    """Return the drawn values as CSV."""
    return drawing.data.to_csv(index=False, lineterminator="\n").encode()


@contextmanager
def reused_subsets() -> Iterator[None]:
    """Share font subsets among PDF files.

    Before matplotlib 3.11, subsets are of characters, not glyphs, and are not shared.
    """
    if "glyphs" in signature(_make_subset).parameters:
        backend.get_glyphs_subset = _reuse_subset
    try:
        yield
    finally:
        backend.get_glyphs_subset = _make_subset


def _reuse_subset(font: Any, glyphs: Set[int]) -> AbstractContextManager[Any]:
    common = (characters for characters in _common_glyphs(font) if not characters.isdisjoint(glyphs))
    return nullcontext(_subset(font, frozenset(glyphs).union(*common)))


@cache
def _common_glyphs(font: Any) -> list[frozenset[int]]:
    opened = FT2Font(font)
    return [frozenset(opened.get_char_index(ord(character)) for character in text) for text in COMMON_CHARACTERS]


@cache
def _subset(font: Any, glyphs: frozenset[int]) -> Any:
    return _open_fonts.enter_context(_make_subset(font, set(glyphs)))
