"""The entry of the command `pomrl`: what has to be in force before its modules are imported."""

import os
import signal
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT
"""The exit status of a command that ^C has ended."""


def main() -> None:
    """Run the command; while its modules are imported, ^C ends the process with one line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where interrupts are ignored
        signal.signal(signal.SIGINT, end_at_interrupt)
    from pomrl.commands.main import main

    main()


def end_at_interrupt(*_: object) -> NoReturn:
    """End the process at once: extension modules that are being imported may hide a KeyboardInterrupt."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def raise_at_interrupt() -> None:
    """Let ^C raise a KeyboardInterrupt again, once all that a command needs is imported."""
    if signal.getsignal(signal.SIGINT) is end_at_interrupt:
        signal.signal(signal.SIGINT, signal.default_int_handler)
