"""Files that are written whole or not at all, and read only where they are ordinary files of a sensible size.

Neither reading nor writing follows a link in the place of a file, so that nothing outside a folder is touched because
of what lies in it; and neither waits for a FIFO.
"""

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pomrl.store.layout import LOCK, StoreError, is_temporary_name


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: under another name, flushed to disk, then renamed.

    Raises OSError, which names the path, where the disk is full or the folder cannot be written; the file is then what
    it was before.
    """
    with flushed(path, content) as temporary:
        temporary.replace(path)


@contextmanager
def flushed(path: Path, content: bytes) -> Iterator[Path]:
    """Yield a temporary file beside `path` that holds `content`, flushed to disk; unless renamed it is removed after.

    The file is locked as long as its writer lives, so that `remove_abandoned` tells it from one left by a killed
    process.
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
        os.close(descriptor)  # it was taken for an abandoned one before it was locked


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of processes that were killed; those of living writers, which are locked, stay."""
    for path in folder.glob(".*.tmp"):
        if is_temporary_name(path.name):
            with suppress(OSError, StoreError), opened(path, os.O_RDONLY) as descriptor:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


def read(path: Path, most: int) -> bytes:
    """Return the content of a file of at most `most` bytes.

    Raises:
        FileNotFoundError: there is no such file.
        StoreError: it is larger, or no ordinary file.
    """
    with opened(path, os.O_RDONLY) as descriptor:
        size = os.fstat(descriptor).st_size
        if size > most:
            raise StoreError(f"{path}: it has {size} bytes, more than the {most} that it may have")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(size)


@contextmanager
def opened(path: Path, flags: int) -> Iterator[int]:
    """Yield the descriptor of an ordinary file. StoreError where a link, a FIFO or another kind of file is there."""
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
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder: of all processes that ask for it, one at a time goes on."""
    with opened(folder / LOCK, os.O_RDWR | os.O_CREAT) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def append_lines(path: Path, lines: bytes) -> None:
    """Append whole lines to a file that nobody else writes meanwhile; an unfinished last line is replaced.

    The cost does not depend on the size of the file. Where the disk is full, the file stays as it was.
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
"""Length in bytes at the end of a file within which the start of an unfinished line is looked for."""
