"""Interrupts by ^C, during imports and later."""

import os
import signal
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT
"""The exit status after ^C."""


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
