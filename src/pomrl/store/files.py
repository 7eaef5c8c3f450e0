"""Files that are written whole or not at all, and read only where they are ordinary files of a sensible size.

Reading and writing do not follow symbolic links, so that a link in a folder cannot make the store read or change a file
elsewhere. They do not wait for a FIFO either.
"""

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pomrl.store.layout import LOCK, StoreError, name_of_temporary

Found = TypeVar("Found")


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: it is written under another name, flushed to disk, and then renamed.

    Raises:
        OSError: The disk is full or the folder cannot be written. The error names the path, and the file stays what it
            was before.
    """
    with flushed(path, content) as temporary:
        temporary.replace(path)


@contextmanager
def flushed(path: Path, content: bytes) -> Generator[Path, None, None]:
    """Yield a temporary file beside `path` that holds `content` and is flushed to disk.

    The file is removed when the context ends, unless the caller has renamed it. It is locked as long as the process
    that writes it lives, so that `remove_abandoned` can tell it from a file that a killed process has left.
    """
    descriptor, temporary = _new_temporary(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            yield temporary
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
        of = name_of_temporary(path.name)
        if of is not None and is_ours(of):
            with suppress(OSError, StoreError), opened(path, os.O_RDONLY) as descriptor:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


def read(path: Path, most: int) -> bytes:
    """Return the content of a file of at most `most` bytes.

    Raises:
        FileNotFoundError: There is no such file.
        StoreError: The file is larger, or it is not an ordinary file.
    """
    return read_version(path, most)[0]


def read_version(path: Path, most: int) -> tuple[bytes, "Version"]:
    """Return the content of a file of at most `most` bytes, and the version of the file that has it.

    Raises:
        FileNotFoundError: There is no such file.
        StoreError: The file is larger, or it is not an ordinary file.
    """
    with opened(path, os.O_RDONLY) as descriptor:
        before = Version.of(os.fstat(descriptor))
        if before.size > most:
            raise StoreError(f"{path}: it has {before.size} bytes, more than the {most} that it may have")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(before.size), before


SETTLED = 2 * 10**9
"""Nanoseconds after a change of a file from which on a further change is sure to have another time."""


@dataclass(frozen=True)
class Version:
    """Which file is at a path, and when it last changed. As long as this stays the same, so does the content."""

    device: int
    inode: int
    size: int
    modified: int
    """Time of the last change of the content, in nanoseconds; programs may set it."""
    changed: int
    """Time of the last change of the content, the name or the attributes, in nanoseconds; no program may set it."""

    @staticmethod
    def of(status: os.stat_result) -> "Version":
        """Return the version of a file with this status."""
        return Version(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Memory(Generic[Found]):
    """What was found in files, which is kept in this process as long as the files do not change."""

    def __init__(self) -> None:
        self._found: dict[Hashable, tuple[Version, Found]] = {}

    def recall(self, path: Path, *of: Hashable) -> Found | None:
        """Return what was found in a file about something, unless the file has changed since."""
        version, found = self._found.get((path, *of), (None, None))
        if version is None:
            return None
        try:
            return found if Version.of(path.lstat()) == version else None
        except OSError:
            return None

    def keep(self, found: Found, version: Version, path: Path, *of: Hashable) -> Found:
        """Keep and return what was found in a version of a file, unless it changed so lately that it may change again.

        A further change could have the same time, so that it would not be noticed.
        """
        if time.time_ns() - version.changed > SETTLED:
            self._found[path, *of] = version, found
        return found


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
