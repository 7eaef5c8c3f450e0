"""The entry of the program `pomrl`, and what ^C does there.

^C ends the process while modules are imported, because extension modules may hide a KeyboardInterrupt; later it raises
one.
"""

import os
import signal
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT
"""The exit status of a command that ^C has ended."""


def main() -> None:
    """Run the command of this process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # unless interrupts are ignored
        signal.signal(signal.SIGINT, _end)
    from pomrl.commands.main import main

    main()


def raise_at_interrupt() -> None:
    """Let ^C raise a KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> NoReturn:
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)
