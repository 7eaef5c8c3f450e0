"""Read the files of the store, and write them atomically."""

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from pomrl.outputs import StoreError as StoreError
from pomrl.outputs import check_link, outputs

SCHEMA_VERSION = 2
"""The version of the file formats."""
BLOCK = 200
"""The number of runs per file. Smaller blocks take longer to store; larger ones lose more if a process is killed."""

REPAIR = "repeat the pomrl run of this experiment to compute it again"

MAX_BYTES = 2**32
"""The size in bytes from which a file counts as damaged."""

MAX_ATTEMPTS = 5
"""The number of attempts to write a file while its folder is being removed."""

_CHECK = b',\n "check": "'


class UnreadableError(StoreError):
    """A system error while reading a file."""


class StoreWarning(UserWarning):
    """A warning about an unusable, skipped experiment."""


def root() -> Path:
    """Return the folder of all experiments; StoreError if it is a link to nothing."""
    return check_link(outputs() / "runs")


def write(path: Path, content: bytes) -> None:
    """Write a file atomically; recreate its folder if another process removes it."""
    for attempt in range(MAX_ATTEMPTS):
        try:
            with replacing(path) as file:
                file.write(content)
            return
        except FileNotFoundError:
            if attempt == MAX_ATTEMPTS - 1:
                raise


@contextmanager
def replacing(path: Path) -> Generator[BinaryIO]:
    """Open a temporary file; on success, flush it and replace `path` by it."""
    make_folder(path.parent)
    temporary = None
    try:
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".tmp", delete=False) as file:
            temporary = Path(file.name)
            yield cast(BinaryIO, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException as error:
        if temporary:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, and flush each to the disk."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries, if its file system supports it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def check_writable(folder: Path) -> None:
    """Raise an OSError with the folder's name unless it is writable."""
    try:
        make_folder(folder)
        with NamedTemporaryFile(dir=folder, prefix=".", suffix=".tmp"):
            pass
    except OSError as error:
        error.filename = str(folder)
        raise


def remove(path: Path) -> None:
    """Remove a file or folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def content(path: Path) -> bytes:
    """Read a file; empty if missing, not regular, or at least `MAX_BYTES`."""
    return path.read_bytes() if path.is_file() and path.stat().st_size < MAX_BYTES else b""


def read_json(path: Path) -> bytes:
    """Read a file's JSON without its checksum; StoreError if missing or damaged."""
    if not path.exists():
        raise StoreError(f"{path}: missing")
    try:
        text, _, check = content(path).rpartition(_CHECK)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    if check != _end(text):
        raise StoreError(f"{path}: damaged, or written by another version")
    return text + b"}"


def json_with_checksum(entries: object) -> bytes:
    """Encode a mapping as JSON, with a checksum as last key `check`."""
    text = json.dumps(entries, indent=1).removesuffix("\n}").encode()
    return text + _CHECK + _end(text)


def _end(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:16].encode() + b'"\n}\n'
