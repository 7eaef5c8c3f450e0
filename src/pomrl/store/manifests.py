"""The description of an experiment, `experiment.json`: its settings, which give its signature, and how it was computed.

It has a checksum, and is written once. Blocks do not depend on it: where it is lost, the command that made it writes it
again.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from pomrl.configuration.composed import GROUPS
from pomrl.configuration.settings import component_classes, flat_settings
from pomrl.store import files
from pomrl.store.code_digest import code_digest
from pomrl.store.layout import SCHEMA_VERSION, StoreError, UnreadableError
from pomrl.store.provenance import Provenance

DESCRIPTION = "experiment.json"

_REPAIR = "the same pomrl run writes it again; if there is none, remove the folder"


@dataclass(frozen=True)
class Manifest:
    """What `experiment.json` says."""

    settings: Mapping[str, Any]
    schema: int
    """The version of the store."""
    code: str
    """The digest of the code that the signature covers."""
    versions: Mapping[str, str]
    """The versions of the packages that decide on the bytes of tables."""
    options: Mapping[str, str]
    """The name of the chosen option of each group."""
    provenance: Provenance
    """The circumstances of the first computation; `run.log` has those of later ones."""
    signature: str = ""
    """The signature that its settings give, for people."""
    tags: Sequence[str] = ()
    notes: Sequence[str] = ()
    looks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Labels in descriptions of older versions; now they are files of their own (`labels`)."""

    def flat_settings(self) -> dict[str, Any]:
        """Return its settings by dotted keys, and the name of each group's option."""
        return flat_settings(self.settings, self.options)

    def computed_at(self) -> datetime:
        """Return the time of the first computation; ValueError if it is none."""
        return datetime.fromisoformat(self.provenance.start).astimezone()

    def label(self) -> str:
        """Return a label of the code that computed it: its commit or date, and the first digits of its digest."""
        return f"{(self.provenance.commit or self.provenance.start[:10])[:10]}+{self.code[:4]}"

    def is_outdated(self) -> bool:
        """Return whether the code has changed since; nobody knows where the source of a component is missing."""
        try:
            return (code_digest(component_classes(self.settings)), self.schema) != (self.code, SCHEMA_VERSION)
        except (ImportError, OSError, SyntaxError, ValueError):
            return False


def read(folder: Path) -> Manifest:
    """Return the description of an experiment; StoreError if it is missing or damaged."""
    path = f"{folder}/{DESCRIPTION}"
    try:
        status = os.stat(path)  # noqa: PTH116 (in half of the time, which counts for thousands of experiments)
    except OSError as error:
        raise StoreError(f"{path}: it is missing; {_REPAIR}") from error
    return _read(path, status.st_ino, status.st_mtime_ns)


@cache
def _validator() -> TypeAdapter[Manifest]:
    """Return what checks a description; making it takes longer than reading a hundred of them."""
    return TypeAdapter(Manifest)


@cache
def _read(name: str, _file: int, _time: int) -> Manifest:
    path = Path(name)
    try:
        manifest = _validator().validate_json(files.read_json(path))
        manifest.computed_at()
    except UnreadableError:
        raise
    except (StoreError, ValueError) as error:  # of pydantic as well
        raise StoreError(f"{path}: it is damaged, or another version wrote it; {_REPAIR}") from error
    if signature_of(manifest.settings, schema=manifest.schema, code=manifest.code) != path.parent.name:
        raise StoreError(f"{path}: its settings are not those of this experiment; {_REPAIR}")
    if not _is_wellformed(manifest.settings):
        raise StoreError(f"{path}: its settings are those of no experiment; remove the folder")
    return manifest


def _is_wellformed(settings: Mapping[str, Any]) -> bool:
    """Return whether settings are a number of tasks, other values, and components that name their classes."""
    components = {key: cast(dict[str, Any], value) for key, value in settings.items() if isinstance(value, dict)}
    return (
        type(T := settings.get("T")) is int
        and T > 0
        and "gamma_schedule" in components
        and components.keys() == settings.keys() & {*GROUPS}
        and all(isinstance(parts.get("_target_"), str) for parts in components.values())
        and all(key.isidentifier() for key in chain(settings, *components.values()))
    )


def write(folder: Path, manifest: Manifest) -> None:
    """Write the description of an experiment."""
    content = {name: value for name, value in asdict(manifest).items() if name not in ("tags", "notes", "looks")}
    files.write(folder / DESCRIPTION, files.json_with_checksum(content | {"signature": folder.name}))


def signature_of(settings: Mapping[str, Any], *, schema: int, code: str) -> str:
    """Return the signature of settings under some version of the store and some code."""
    identity = {"settings": settings, "schema": schema, "code": code}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]
