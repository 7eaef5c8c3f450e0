"""What ^C does: it ends the process while modules are imported, and is a KeyboardInterrupt later."""

import os
import signal
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT
"""The exit status of a command that ^C has ended."""


def end_at_interrupt() -> None:
    """Let ^C end the process with one line, unless interrupts are ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_at_interrupt() -> None:
    """Let ^C raise a KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> NoReturn:
    """End the process at once: extension modules that are being imported may hide a KeyboardInterrupt."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)
