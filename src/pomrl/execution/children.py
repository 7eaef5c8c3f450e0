"""Processes that a command starts: they leave the interrupts of the terminal to it, and end when it ends."""

import ctypes
import os
import sys
from signal import SIG_IGN, SIGINT, SIGKILL, signal

PR_SET_PDEATHSIG = 1
"""The option of Linux's prctl that chooses the signal which a process gets when its parent ends."""


def end_with(driver: int) -> None:
    """Let the kernel end this process when its parent, the driver, ends for whatever reason (on Linux).

    Every process that this package starts calls it first (`initializer`), with the process id of the driver. Joblib
    would let a process that crashes print fifty lines, unless the environment says whether it should.
    """
    signal(SIGINT, SIG_IGN)
    os.environ.setdefault("PYTHONFAULTHANDLER", "")
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != driver:  # which ended before that
            os.kill(os.getpid(), SIGKILL)
