"""The process of a command: interrupts by ^C, standard error, and garbage collection."""

import gc
import os
import signal
import sys
from typing import NoReturn

STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
"""The file descriptors of the standard streams."""

INTERRUPTED = 128 + signal.SIGINT
"""The exit status after ^C."""

ALLOCATIONS_PER_COLLECTION = 200_000
"""The new objects between two garbage collections; more frequent ones find nothing."""


def end_at_interrupt() -> None:
    """End the process on ^C, unless interrupts are ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_at_interrupt() -> None:
    """Let ^C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> NoReturn:  # modules may catch a KeyboardInterrupt during their import
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def open_closed_streams() -> None:
    """Open standard output and error if they are closed; otherwise other files get their descriptors."""
    if sys.stdout is None or sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]  (possible at run time)
        while (descriptor := os.open(os.devnull, os.O_WRONLY)) <= STANDARD_ERROR:
            pass
        os.close(descriptor)
        sys.stdout = sys.stdout or os.fdopen(STANDARD_OUTPUT, "w")
        sys.stderr = sys.stderr or os.fdopen(STANDARD_ERROR, "w")


def collect_garbage_rarely() -> None:
    """Let the garbage collector run rarely."""
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)


def skip_last_collection() -> None:
    """Exit without a last garbage collection, in half the time."""
    gc.freeze()
