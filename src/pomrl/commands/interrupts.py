"""What happens at ^C and at signals that end a process: one line is printed, and the exit status is the system's."""

import signal
from typing import NoReturn

from pomrl.commands.terminal import exit_with

GOES_ON = "finished blocks are stored, and the same command goes on from them"
"""The end of the message that is printed when a computation has ended early."""


def exit_interrupted() -> NoReturn:
    """Exit after ^C."""
    exit_with(f"interrupted; {GOES_ON}", 128 + signal.SIGINT)


def exit_at(*signals: signal.Signals) -> None:
    """Exit at these signals as after an error, so that engines cancel their work.

    A signal that is ignored, as SIGHUP is under nohup, stays ignored.
    """

    def ended(number: int, _: object) -> NoReturn:
        exit_with(f"ended by {signal.Signals(number).name}; {GOES_ON}", 128 + number)

    for each in signals:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, ended)
