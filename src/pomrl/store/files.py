"""Files that are written whole or not at all."""

import hashlib
import json
import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from pomrl.store.layout import StoreError

MOST_BYTES = 2**32
"""The size that no file of the store reaches; one that has it was damaged, and would not fit into memory."""

_CHECK = b',\n "check": "'


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: under another name, flushed to disk, and then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = None
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp", delete=False) as file:
            temporary = Path(file.name)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary:
            temporary.unlink(missing_ok=True)
        error.filename = str(path)
        raise


def content(path: Path) -> bytes:
    """Return the content of a file; nothing if it is no ordinary file, or larger than what was ever written."""
    return path.read_bytes() if path.is_file() and path.stat().st_size < MOST_BYTES else b""


def read_json(path: Path) -> bytes:
    """Return the JSON in a file of `json_with_checksum`; StoreError if it is not what was written."""
    try:
        said, _, check = content(path).rpartition(_CHECK)
    except OSError as error:
        raise StoreError(f"{path}: it is missing or cannot be read") from error
    if check != _end(said):
        raise StoreError(f"{path}: it is damaged, or another version wrote it")
    return said + b"}"


def json_with_checksum(said: object) -> bytes:
    """Return a mapping as JSON, with a checksum of all bytes before it as the last entry."""
    text = json.dumps(said, indent=1).removesuffix("\n}").encode()
    return text + _CHECK + _end(text)


def _end(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:16].encode() + b'"\n}\n'
