"""The process of a command: interrupts by ^C, standard error, and garbage collection."""

import gc
import os
import signal
import sys
from typing import NoReturn

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


def open_standard_error() -> None:
    """Open standard error if it is closed; otherwise another file gets its descriptor."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]  (None is possible at run time)
        while (descriptor := os.open(os.devnull, os.O_WRONLY)) < 2:
            pass
        sys.stderr = os.fdopen(descriptor, "w")


def collect_garbage_rarely() -> None:
    """Let the garbage collector run rarely."""
    gc.set_threshold(ALLOCATIONS_PER_COLLECTION)


def skip_last_collection() -> None:
    """Exit without a last garbage collection, in half the time."""
    gc.freeze()
