"""Interrupts: ^C ends the process during imports, and raises KeyboardInterrupt later."""

import os
import signal
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT
"""The exit status of a command that ^C has ended."""


def end_at_interrupt() -> None:
    """End the process with one line on ^C, unless interrupts are ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_at_interrupt() -> None:
    """Raise a KeyboardInterrupt on ^C again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> NoReturn:
    """End the process at once: modules being imported may hide a KeyboardInterrupt."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)
