"""The record of imported numbers: files that an import added, and which of them were recomputed here since.

The record, `.imported.json` in the folder of outputs, has the digest of each such file. It is beside what is stored,
because a crate could bring a record of its own.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from pomrl.outputs import outputs
from pomrl.store import files
from pomrl.store.layout import MOST_LIST_BYTES, StoreError

FILE = ".imported.json"

HERE = "computed here"
"""The origin of numbers of which none was imported."""


def origin(digests: Sequence[str]) -> str:
    """Say where the files with these digests come from.

    Returns:
        `computed here`, `imported`, or such as `imported, 3 of 20 blocks recomputed`.

    Raises:
        StoreError: The record of what was imported is damaged.
    """
    known = imported()
    recomputed = [known[digest] for digest in digests if digest in known]
    if not recomputed:
        return HERE
    return f"imported, {sum(recomputed)} of {len(recomputed)} blocks recomputed" if any(recomputed) else "imported"


def imported() -> Mapping[str, bool]:
    """Return the digest of each file of numbers that was imported, and whether it has been recomputed here.

    Raises:
        StoreError: The record is damaged.
    """
    path = outputs() / FILE
    return _read(path) if os.path.lexists(path) else {}


@files.remembered
def _read(path: Path) -> Mapping[str, bool]:
    said, is_sound = files.read_json(path, MOST_LIST_BYTES)
    if not is_sound:
        raise StoreError(f"{path}: it is damaged; without it, what was imported counts as computed here")
    return cast(dict[str, bool], said["files"])


def record(digests: Iterable[str], *, recomputed: bool) -> None:
    """Record files of numbers by their digests, as imported or as recomputed since.

    Raises:
        StoreError: The record is damaged.
    """
    with files.locked(outputs()):
        known = {**imported(), **dict.fromkeys(digests, recomputed)}
        files.write(outputs() / FILE, files.json_with_checksum({"files": known}))


def inherit(old: str, new: str) -> None:
    """Record that a file contains the numbers of another one, if that was imported."""
    if old in (known := imported()):
        record([new], recomputed=known[old])
