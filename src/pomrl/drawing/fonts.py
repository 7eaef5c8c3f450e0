"""Subsets of fonts in PDF files, made once a process: one takes longer than all else in the file of a figure."""

from collections.abc import Iterator, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from inspect import signature
from typing import Any

from matplotlib.backends import _backend_pdf_ps as backend
from matplotlib.ft2font import FT2Font

LETTERS = range(0x20, 0x7F)
"""The printable characters of ASCII. A subset with one of them has them all, and so fits most other figures too."""

_make_subset = backend.get_glyphs_subset

_open = ExitStack()
"""Keeps fonts open, because some of their tables are read when they are written."""


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
    """Return the glyphs of `LETTERS` in a font."""
    return frozenset(map(FT2Font(font).get_char_index, LETTERS))


@cache
def _subset(font: Any, glyphs: frozenset[int]) -> Any:
    """Return what matplotlib makes of a font with these glyphs alone; its file depends on nothing else."""
    return _open.enter_context(_make_subset(font, set(glyphs)))
