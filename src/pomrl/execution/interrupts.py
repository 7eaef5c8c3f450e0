"""Interrupts of the terminal, which reach all processes of a command at once."""

from collections.abc import Generator
from contextlib import contextmanager
from signal import SIG_IGN, SIGINT, signal
from threading import current_thread, main_thread


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
