"""Processes that a command starts: they leave the interrupts of the terminal to it, and end when it ends."""

import ctypes
import os
import stat
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from signal import SIG_IGN, SIGINT, SIGKILL, getsignal, signal
from threading import current_thread, main_thread

from pomrl.execution.engine import Item, Result

PR_SET_PDEATHSIG = 1
"""The option of Linux's prctl that chooses the signal which a process gets when its parent ends."""


MOST_PIPES = 64
"""The number below which those of the pipes are by which a process talks to the one that started it."""

_PIPES: list[int] = []
"""The pipes that this process had when it began."""


def end_with(driver: int) -> None:
    """Let the kernel end this process when its parent, the driver, ends for whatever reason (on Linux).

    Every process that this package starts calls it first (`initializer`), with the process id of the driver. Joblib
    would let a process that crashes print fifty lines, unless the environment says whether it should.
    """
    os.environ.setdefault("PYTHONFAULTHANDLER", "")
    _PIPES.extend(number for number in range(3, MOST_PIPES) if _is_pipe(number))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
        if os.getppid() != driver:  # which ended before that
            os.kill(os.getpid(), SIGKILL)


def with_its_pipes(function: Callable[[Item], Result], item: Item) -> Result:
    """Apply a function to an item; end this process where that closed the pipes by which the result would go back.

    Joblib would say so in fifty lines.
    """
    try:
        return function(item)
    finally:
        if not all(map(_is_pipe, _PIPES)):
            os.abort()


def _is_pipe(descriptor: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    except OSError:
        return False


def can_be_interrupted() -> bool:
    """Return whether an interrupt of the terminal reaches this thread; elsewhere a component has raised it itself."""
    return current_thread() is main_thread() and getsignal(SIGINT) is not SIG_IGN


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
