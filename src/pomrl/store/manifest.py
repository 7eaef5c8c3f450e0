"""The manifest of an experiment: what was computed, by which code, and whether the computation came to its end.

It is written when an experiment is opened for writing and when it is closed, with a checksum over its content.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from pomrl.checks import CHECKED
from pomrl.store import files
from pomrl.store.layout import MANIFEST, MOST_BYTES, SCHEMA_VERSION, StoreError
from pomrl.store.provenance import Provenance

Status = Literal["incomplete", "complete", "failed"]


class OtherVersionError(StoreError):
    """The error for a manifest that another version of the store has written."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Manifest:
    """The record of a stored experiment, apart from its settings and its tables."""

    schema: int
    """Version of the store that wrote the manifest."""
    signature: str
    code: str
    """Digest of the code that the signature covers."""
    versions: Mapping[str, str]
    """Versions of the packages in `provenance.DECISIVE` when the first run of the experiment was computed."""
    options: Mapping[str, str]
    """The name of the chosen option of each group."""
    derived: Mapping[str, Any]
    """Quantities that follow from the settings."""
    status: Status
    provenance: Provenance
    tags: tuple[str, ...] = ()
    """Words that people have given to the experiment, to find it by."""
    notes: tuple[str, ...] = ()
    """Remarks that people have made on the experiment."""


_MANIFEST = TypeAdapter(Manifest)


def read(folder: Path) -> Manifest:
    """Return the manifest of the folder of an experiment.

    Raises:
        OtherVersionError: Another version of the store wrote the manifest.
        StoreError: The manifest is missing, damaged, or that of another experiment.
    """
    return _read(folder / MANIFEST)


@files.remembered
def _read(path: Path) -> Manifest:
    said, is_sound = files.read_json(path, MOST_BYTES)
    if isinstance(version := said.get("schema"), int) and version != SCHEMA_VERSION:
        raise OtherVersionError(f"{path}: version {version} of the store wrote it, this is {SCHEMA_VERSION}")
    try:
        manifest = _MANIFEST.validate_json(json.dumps(said))
    except ValueError as error:
        raise StoreError(f"{path}: it is damaged") from error
    if not is_sound or manifest.signature != path.parent.name:
        raise StoreError(f"{path}: it is damaged, or that of another experiment")
    return manifest


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of the folder of an experiment. The caller holds the lock of the folder."""
    files.write(folder / MANIFEST, files.json_with_checksum(manifest))
