"""Processes that a command starts: they leave the interrupts of the terminal to it, and end when it ends."""

import ctypes
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from signal import SIG_IGN, SIGINT, SIGKILL, signal
from threading import current_thread, main_thread

PR_SET_PDEATHSIG = 1
"""The option of Linux's prctl that chooses the signal which a process gets when its parent ends."""


def end_with(driver: int) -> None:
    """Let the kernel end this process when its parent, the driver, ends for whatever reason (on Linux).

    Every process that this package starts calls it first (`initializer`), with the process id of the driver.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != driver:  # which ended before that
            os.kill(os.getpid(), SIGKILL)


@contextmanager
def left_to_this_process() -> Generator[None, None, None]:
    """Start processes that ignore an interrupt of the terminal, and leave it to this process to end them.

    A process that is interrupted while it starts would print a traceback. In other threads than the main one, where
    Python allows no change of signals, nothing is changed.
    """
    if current_thread() is not main_thread():
        yield
        return
    handler = signal(SIGINT, SIG_IGN)
    try:
        yield
    finally:
        signal(SIGINT, handler)
