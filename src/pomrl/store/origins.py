"""The record of numbers that were not computed here by the present code, and which were recomputed here since.

These are the files that an import added, and those that `pomrl adopt` carried over from earlier code.

The record, `.imported.json` in the folder of outputs, has the digest of each such file. It lies beside what is stored,
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

IMPORTED, CARRIED = "imported", "carried over"

KINDS = {IMPORTED: "files", CARRIED: "carried"}
"""What the record tells apart, and the key of each in it."""

HERE = "computed here"
"""The origin of numbers that the code computed here."""


def origin(digests: Sequence[str]) -> str:
    """Say where the files with these digests come from.

    Returns:
        `computed here`, `imported`, or such as `imported, 3 of 20 blocks recomputed`, and so for `carried over`.

    Raises:
        StoreError: The record of what was not computed here is damaged.
    """
    said: list[str] = []
    for kind in KINDS:
        known = recorded(kind)
        recomputed = [known[digest] for digest in digests if digest in known]
        if recomputed:
            share = f", {sum(recomputed)} of {len(recomputed)} blocks recomputed" if any(recomputed) else ""
            said.append(f"{kind}{share}")
    return "; ".join(said) or HERE


def recorded(kind: str) -> Mapping[str, bool]:
    """Return the digest of each file of numbers of a kind, and whether it has been recomputed here.

    Raises:
        StoreError: The record is damaged.
    """
    path = outputs() / FILE
    return _read(path).get(KINDS[kind], {}) if os.path.lexists(path) else {}


@files.remembered
def _read(path: Path) -> Mapping[str, Mapping[str, bool]]:
    said, is_sound = files.read_json(path, MOST_LIST_BYTES)
    if not is_sound:
        raise StoreError(f"{path}: it is damaged; without it, what was imported counts as computed here")
    return cast(dict[str, dict[str, bool]], said)


def record(digests: Iterable[str], *, recomputed: bool, kind: str = IMPORTED) -> None:
    """Record files of numbers by their digests, as not computed here or as recomputed since.

    Raises:
        StoreError: The record is damaged.
    """
    with files.locked(outputs()):
        known = {name: recorded(each) for each, name in KINDS.items()}
        known[KINDS[kind]] = {**known[KINDS[kind]], **dict.fromkeys(digests, recomputed)}
        files.write(outputs() / FILE, files.json_with_checksum(known))


def confirm(digest: str) -> None:
    """Record that a file of numbers has been recomputed here, if it was not computed here."""
    for kind in KINDS:
        if digest in recorded(kind):
            record([digest], recomputed=True, kind=kind)


def inherit(old: str, new: str) -> None:
    """Record that a file contains the numbers of another one, if that was not computed here."""
    for kind in KINDS:
        if old in (known := recorded(kind)):
            record([new], recomputed=known[old], kind=kind)
