"""Read and write the description and labels of an experiment.

experiment.json   settings, provenance and a checksum; written once.
tag-NAME          an empty file; NAME is percent-encoded, with capitals and a final dot or space.
note-DIGEST       a remark, named by the digest of its text.
looks-DIGEST      styles of unpublished options in figures, as JSON
"""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from itertools import chain
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any, cast
from urllib.parse import unquote

from pydantic import ConfigDict, TypeAdapter

from pomrl.configuration.composed import GROUPS
from pomrl.configuration.settings import component_classes, flat_settings
from pomrl.science.solvers import compiled
from pomrl.store import files
from pomrl.store.code_digest import code_digest
from pomrl.store.files import SCHEMA_VERSION, StoreError, UnreadableError

DESCRIPTION = "experiment.json"

_REMOVE = "repeat the pomrl run of this experiment to remove it"

_REPAIR = "repeat the pomrl run of this experiment to write it again, or remove the folder"

TAG, NOTE, LOOKS = "tag-", "note-", "looks-"

MAX_NAME_BYTES = 255
"""The longest file name, in bytes."""

_PLAIN = ascii_lowercase + digits + "-._~ "
"""The characters of a tag's file name. Without capitals, tags are distinct on disks that ignore case."""

MAX_CLASS_NAME = 500
"""The longest dotted name of a class, in characters; each of its prefixes is looked up."""

_PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "pydantic", "joblib", "hydra-core", "pomrl")

DECISIVE = ("numpy", "scipy", "pandas", "pyarrow")
"""Packages whose versions may change stored numbers or bytes."""


@dataclass(frozen=True)
class Provenance:
    """The circumstances of an experiment's first computation."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # rejects the formats before version 2

    command: tuple[str, ...]
    start: str
    """The start time, ISO 8601 in UTC."""
    python: str
    platform: str
    packages: Mapping[str, str]
    engine: str
    """`compiled`, or `numpy` if the extension was not built."""
    commit: str | None
    """The git commit; None outside of a repository."""
    dirty: bool | None
    """Whether files differed from the commit; None outside of a repository."""


@dataclass(frozen=True)
class Manifest:
    """The content of `experiment.json`."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    settings: Mapping[str, Any]
    schema: int
    """The version of the file format."""
    code: str
    """The code digest, part of the signature."""
    versions: Mapping[str, str]
    """Versions of the packages in `DECISIVE`."""
    options: Mapping[str, str]
    """The selected option of each group."""
    provenance: Provenance
    signature: str = ""
    """The signature, for readers of the file."""

    def flat_settings(self) -> dict[str, Any]:
        return flat_settings(self.settings, self.options)

    def computed_at(self) -> datetime:
        return datetime.fromisoformat(self.provenance.start).astimezone()

    def label(self) -> str:
        """Return a short label: the commit or date, and the code digest."""
        return f"{(self.provenance.commit or self.provenance.start[:10])[:10]}+{self.code[:4]}"

    def is_outdated(self) -> bool:
        """Return whether the code or file format has changed; False without source."""
        try:
            return (code_digest(component_classes(self.settings)), self.schema) != (self.code, SCHEMA_VERSION)
        except (ImportError, OSError, SyntaxError, ValueError):
            return False


def read_manifest(folder: Path) -> Manifest:
    """Read the description of an experiment; StoreError if missing or damaged."""
    path = f"{folder}/{DESCRIPTION}"
    try:
        status = os.stat(path)  # noqa: PTH116 (twice as fast, for thousands of experiments)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreError(f"{path}: missing; {_REPAIR}") from error
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    return _load(path, status.st_ino, status.st_mtime_ns)


@cache
def _validator() -> TypeAdapter[Manifest]:
    return TypeAdapter(Manifest)


@cache
def _load(name: str, _file: int, _time: int) -> Manifest:
    path = Path(name)
    try:
        manifest = _validator().validate_json(files.read_json(path))
        manifest.computed_at()
    except UnreadableError:
        raise
    except (StoreError, ValueError, OverflowError) as error:  # pydantic raises ValueErrors; years 1 and 9999 overflow
        raise StoreError(f"{path}: damaged, or written by another version; {_REPAIR}") from error
    if compute_signature(manifest.settings, schema=manifest.schema, code=manifest.code) != path.parent.name:
        raise StoreError(f"{path}: its settings do not match the signature in the folder name; {_REPAIR}")
    if not _is_wellformed(manifest.settings):
        raise StoreError(f"{path}: its settings do not describe an experiment; remove the folder")
    return manifest


def _is_wellformed(settings: Mapping[str, Any]) -> bool:
    components = {key: cast(dict[str, Any], value) for key, value in settings.items() if isinstance(value, dict)}
    return (
        type(T := settings.get("T")) is int
        and T > 0
        and "gamma_schedule" in components
        and components.keys() == settings.keys() & {*GROUPS}
        and all(_is_class_name(values.get("_target_")) for values in components.values())
        and all(key.isidentifier() for key in chain(settings, *components.values()))
        and is_json(settings)
    )


def _is_class_name(name: Any) -> bool:
    return isinstance(name, str) and len(name) <= MAX_CLASS_NAME


def is_json(value: Any) -> bool:
    """Return whether a value is JSON in UTF-8, with finite numbers."""
    try:
        json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def write(folder: Path, manifest: Manifest) -> None:
    """Write the description of an experiment."""
    files.write(folder / DESCRIPTION, files.json_with_checksum(asdict(manifest) | {"signature": folder.name}))


def compute_signature(settings: Mapping[str, Any], *, schema: int, code: str) -> str:
    """Compute the signature: 12 hex digits over settings, schema and code digest."""
    identity = {"settings": settings, "schema": schema, "code": code}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]


def provenance() -> Provenance:
    """Return the provenance of a computation starting now."""
    return Provenance(
        command=tuple(sys.argv),
        start=now(),
        python=platform.python_version(),
        platform=platform.platform(),
        packages={package: version(package) for package in _PACKAGES},
        engine="compiled" if compiled.is_built() else "numpy",
        **commit(),
    )


def decisive_versions() -> dict[str, str]:
    """Return the installed versions of the packages in `DECISIVE`."""
    return {package: version(package) for package in DECISIVE}


def describe_versions(versions: Mapping[str, str], other: str, other_versions: Mapping[str, str]) -> str:
    """List packages with two different versions, as `numpy 2.2.0, now 2.4.6` if `other` is `now`."""
    return ", ".join(
        f"{package} {version}, {other} {other_versions.get(package)}"
        for package, version in versions.items()
        if version != other_versions.get(package)
    )


def releases(versions: Mapping[str, str]) -> dict[str, str]:
    """Return versions without their patch numbers."""
    return {package: version.rpartition(".")[0] for package, version in versions.items()}


@cache  # reads a file
def version(package: str) -> str:
    """Return the installed version of a package."""
    return metadata.version(package)


def now() -> str:
    """Return the present time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat()


@cache
def commit() -> dict[str, Any]:
    """Return the git `commit` and whether files are `dirty`; both None outside repositories."""

    def git(*arguments: str) -> str | None:
        command = ["git", "-C", str(Path(__file__).parent), *arguments]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return None

    commit = git("rev-parse", "HEAD")
    return {"commit": commit, "dirty": bool(git("status", "--porcelain")) if commit else None}


def label_name(kind: str, text: str) -> str:
    """Return the file name of a label; StoreError if too long."""
    name = kind + (_encode(text) if kind == TAG else hashlib.sha256(text.encode()).hexdigest()[:16])
    if len(name) > MAX_NAME_BYTES:
        raise StoreError(
            f"the file name of a tag must have at most {MAX_NAME_BYTES} bytes, got {len(name)}; shorten {text!r}"
        )
    return name


def _encode(text: str) -> str:
    name = "".join(byte if byte in _PLAIN else f"%{ord(byte):02X}" for byte in text.encode().decode("latin-1"))
    return re.sub(r"[. ]\Z", lambda last: f"%{ord(last[0]):02X}", name)  # Windows drops these


def tag_of(name: str) -> str | None:
    """Return the tag of a file name, or None."""
    return unquote(name.removeprefix(TAG)) if name.startswith(TAG) and name != TAG else None


def portable_name(name: str) -> str:
    """Return a file name, without capitals if it is an older name of a tag."""
    present = name if (tag := tag_of(name)) is None else TAG + _encode(tag)
    return present if len(present) <= MAX_NAME_BYTES else name


def add_label(folder: Path, kind: str, text: str) -> None:
    """Write a label, unless its file exists undamaged."""
    path = folder / label_name(kind, text)
    if not path.exists() or label_fault(path):
        files.write(path, b"" if kind == TAG else text.encode())


def read_labels(folder: Path, names: Iterable[str], kind: str) -> list[str]:
    """Read the undamaged labels of one kind among file names, sorted."""
    if kind == TAG:
        return sorted({tag for tag in map(tag_of, names) if tag is not None})
    labels = [name for name in names if name.startswith(kind)]
    return sorted(files.content(folder / name).decode() for name in labels if not label_fault(folder / name))


def label_fault(path: Path) -> str | None:
    """Return the fault of a label file, or None."""
    content = files.content(path)
    if path.name.startswith(TAG):
        return None
    if not path.name.endswith(f"-{hashlib.sha256(content).hexdigest()[:16]}"):
        return f"{path}: its digest does not match its name; {_REMOVE}"
    try:
        content.decode()
        is_valid = not path.name.startswith(LOOKS) or _is_looks(json.loads(content))
    except (ValueError, RecursionError):  # not UTF-8, or not JSON
        is_valid = False
    return None if is_valid else f"{path}: not a text in UTF-8, or not styles in JSON; {_REMOVE}"


def _is_looks(looks: Any) -> bool:
    return isinstance(looks, dict) and all(isinstance(look, dict) for look in cast(dict[str, Any], looks).values())
