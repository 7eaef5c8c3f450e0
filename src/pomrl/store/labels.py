"""Labels of an experiment, each a file in its folder, so that they travel with it and merge by themselves.

tag-NAME          an empty file; NAME is percent-encoded
note-DIGEST       a remark, under the digest of its text
looks-DIGEST      how options that are not published look in figures, in JSON
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote

from pomrl.store import files
from pomrl.store.layout import StoreError

TAG, NOTE, LOOKS = "tag-", "note-", "looks-"

LONGEST = 255
"""The most bytes of the name of a file."""


def name(kind: str, text: str) -> str:
    """Return the name of the file of a label; StoreError if no file can have it."""
    found = kind + (quote(text, safe=" ") if kind == TAG else hashlib.sha256(text.encode()).hexdigest()[:16])
    if len(found) > LONGEST:
        raise StoreError(f"{text}: the file of a tag must have a name of at most {LONGEST} bytes, got {len(found)}")
    return found


def add(folder: Path, kind: str, text: str) -> None:
    """Add a label."""
    path = folder / name(kind, text)
    if not path.exists() or fault(path):
        files.write(path, b"" if kind == TAG else text.encode())


def texts(folder: Path, names: Iterable[str], kind: str) -> list[str]:
    """Return the labels of a kind among the names of files in a folder, sorted, without damaged ones."""
    of_kind = [name for name in names if name.startswith(kind)]
    if kind == TAG:
        return sorted(unquote(name.removeprefix(TAG)) for name in of_kind)
    return sorted(files.content(folder / name).decode() for name in of_kind if not fault(folder / name))


def fault(path: Path) -> str | None:
    """Return why a note or looks cannot be used, or None."""
    digest = hashlib.sha256(files.content(path)).hexdigest()[:16]
    if path.name.startswith(TAG) or path.name.endswith(f"-{digest}"):
        return None
    return f"{path}: its digest is not the one in its name; the same pomrl run removes it"
