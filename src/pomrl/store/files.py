"""Files that are written whole or not at all, and read only where they are ordinary files of a sensible size.

Reading and writing do not follow symbolic links, so that a link in a folder cannot make the store read or change a file
elsewhere. They do not wait for a FIFO either.
"""

import errno
import fcntl
import hashlib
import json
import os
import secrets
import stat
import time
from collections.abc import Callable, Generator, Hashable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO, Concatenate, ParamSpec, TypeVar

from pomrl.store.layout import LOCK, StoreError, name_of_temporary

Found = TypeVar("Found")
Of = ParamSpec("Of")


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: it is written under another name, flushed to disk, and then renamed.

    Raises:
        OSError: The disk is full or the folder cannot be written. The error names the path, and the file stays what it
            was before.
    """
    with flushed(path, content) as temporary:
        temporary.replace(path)


@contextmanager
def replacement(path: Path) -> Generator[BinaryIO, None, None]:
    """Yield a file to write to, which is flushed and takes the place of `path` when the context ends without an error.

    Raises:
        OSError: As for `write`.
    """
    with _temporary(path) as (file, temporary):
        yield file
        _flush(file)
        temporary.replace(path)


@contextmanager
def flushed(path: Path, content: bytes) -> Generator[Path, None, None]:
    """Yield a temporary file beside `path` that holds `content` and is flushed to disk.

    The file is removed when the context ends, unless the caller has renamed it. It is locked as long as the process
    that writes it lives, so that `remove_abandoned` can tell it from a file that a killed process has left.
    """
    with _temporary(path) as (file, temporary):
        file.write(content)
        _flush(file)
        yield temporary


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _temporary(path: Path) -> Generator[tuple[BinaryIO, Path], None, None]:
    """Yield a locked temporary file beside `path` and its name; in the end it is removed unless it was renamed."""
    descriptor, temporary = _new_temporary(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file, temporary
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _new_temporary(path: Path) -> tuple[int, Path]:
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, temporary
        os.close(descriptor)  # another process has removed the file as abandoned before it was locked here


def remove_abandoned(folder: Path, is_ours: Callable[[str], bool]) -> None:
    """Remove temporary files that killed processes have left; files of living processes are locked, and stay.

    Args:
        folder: The folder, in which only the caller's temporary files are removed.
        is_ours: Whether the caller writes files of this name.
    """
    for path in folder.glob(".*.tmp"):
        if is_ours(name_of_temporary(path.name) or "") and is_abandoned(path):
            path.unlink(missing_ok=True)


def is_abandoned(path: Path) -> bool:
    """Return whether no living process holds the lock of a temporary file, or of a folder (`held`)."""
    with suppress(OSError), held(path, fcntl.LOCK_NB):
        return True
    return False


@contextmanager
def held(path: Path, wait: int = 0) -> Generator[None, None, None]:
    """Hold the lock of a temporary file or of a folder itself.

    Raises:
        OSError: With `wait=fcntl.LOCK_NB`, another process holds the lock; or the path leads to a link or to nothing.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | wait)
        yield
    finally:
        os.close(descriptor)


def read(path: Path, most: int) -> bytes:
    """Return the content of a file of at most `most` bytes.

    Raises:
        FileNotFoundError: There is no such file.
        StoreError: The file is larger, or it is not an ordinary file.
    """
    with opened(path, os.O_RDONLY) as descriptor:
        size = os.fstat(descriptor).st_size
        if size > most:
            raise StoreError(f"{path}: it has {size} bytes, more than the {most} that it may have")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(size)


def read_json(path: Path, most: int) -> tuple[dict[str, Any], bool]:
    """Return what a file of `json_with_checksum` says, and whether this has the checksum in the file.

    Raises:
        StoreError: The file is missing or no ordinary file, has more than `most` bytes, or is no object in JSON.
    """
    try:
        said = json.loads(read(path, most))
        checksum = said.pop("check", None)
    except FileNotFoundError as error:
        raise StoreError(f"{path}: it is missing") from error
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{path}: it is damaged, or another version wrote it") from error
    return said, checksum == _checksum(said)


def json_with_checksum(said: object) -> bytes:
    """Return data, which may have dataclasses, as JSON with a checksum of them as a further entry."""
    plain = json.loads(json.dumps(said, default=asdict))
    return (json.dumps(plain | {"check": _checksum(plain)}, indent=2) + "\n").encode()


def _checksum(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


SETTLED = 2 * 10**9
"""Nanoseconds after a change of a file from which on a further change is sure to have another time."""


def remembered(find: Callable[Concatenate[Path, Of], Found]) -> Callable[Concatenate[Path, Of], Found]:
    """Let a function of a path remember what it finds in a file, as long as the file at this path does not change.

    What it raises is not remembered, and neither is what it finds in a file that changed so lately that a further
    change could have the same time. All arguments have to be hashable.
    """
    kept: dict[Hashable, tuple[tuple[int, ...], Found]] = {}

    @wraps(find)
    def recalled(path: Path, *of: Of.args, **named: Of.kwargs) -> Found:
        version = _version(path)
        if version and (path, of) in kept and kept[path, of][0] == version:
            return kept[path, of][1]
        settled = version and time.time_ns() - version[-1] > SETTLED
        found = find(path, *of, **named)
        if settled:
            kept[path, of] = version, found
        return found

    return recalled


def _version(path: Path) -> tuple[int, ...]:
    """Return which file is at a path, and when it last changed; empty if there is none.

    The last entry is the time of the last change of the content, the name or the attributes, which no program may set.
    """
    try:
        status = path.lstat()
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@contextmanager
def opened(path: Path, flags: int) -> Generator[int, None, None]:
    """Yield the descriptor of an ordinary file.

    Raises:
        StoreError: The path leads to a symbolic link, a FIFO or another special file.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise StoreError(f"{path}: it is no ordinary file") from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StoreError(f"{path}: it is no ordinary file")
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def locked(folder: Path) -> Generator[None, None, None]:
    """Hold the lock of a folder, which only one process at a time can hold; others wait until it is released."""
    with opened(folder / LOCK, os.O_RDWR | os.O_CREAT) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def append_lines(path: Path, lines: bytes) -> None:
    """Append whole lines to a file; an unfinished last line of the file is replaced.

    No other process may write to the file at the same time. The cost does not depend on the size of the file. If the
    disk is full, the file keeps its whole lines and gets none of the new ones.
    """
    with opened(path, os.O_RDWR | os.O_CREAT) as descriptor:
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, _LONGEST_LINE, max(0, size - _LONGEST_LINE))
        end = size - (len(tail) - 1 - tail.rfind(b"\n"))
        os.ftruncate(descriptor, end)
        try:
            written = 0
            while written < len(lines):
                written += os.pwrite(descriptor, lines[written:], end + written)
        except OSError as error:
            os.ftruncate(descriptor, end)
            error.filename = str(path)
            raise


_LONGEST_LINE = 4096
"""Number of bytes at the end of a file in which `append_lines` looks for the start of an unfinished line."""
