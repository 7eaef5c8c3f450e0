"""What becomes of faults, how long they may take, and the table of it all."""

import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import pandas as pd

HANGING = 300
"""Seconds after which something counts as hanging; everything here takes seconds, also on a busy machine."""

End = Literal["mended", "refused", "unaffected"]
"""Mended: the same data is there in the end; refused: a line says what is wrong; unaffected: nothing differs."""

Wrong = Literal["lost", "silently wrong", "hanging", "traceback"]

ENDS: tuple[End, ...] = ("mended", "refused", "unaffected")
WRONG: tuple[Wrong, ...] = ("lost", "silently wrong", "hanging", "traceback")


class FaultError(Exception):
    """The error for something that must not happen, of one of the kinds in `WRONG`."""

    def __init__(self, wrong: Wrong, detail: str) -> None:
        super().__init__(detail)
        self.wrong: Wrong = wrong


class HangingError(BaseException):
    """The error for something that has taken too long; no `except Exception` of a command catches it."""


@dataclass(frozen=True)
class Result:
    """What became of a fault, or of several that were injected together."""

    kind: str
    name: str
    """What was done, so that it can be done again."""
    became: End | Wrong
    detail: str = ""
    number: int = 1


def result(kind: str, name: str, inject: Callable[[], tuple[End, int]]) -> Result:
    """Inject faults, and return what became of them. The function returns that and their number, or raises."""
    try:
        with time_limit():
            became, number = inject()
            return Result(kind, name, became, number=number)
    except FaultError as error:
        return Result(kind, name, error.wrong, str(error))
    except HangingError:
        return Result(kind, name, "hanging", f"after {HANGING} s")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Result(kind, name, "traceback", "".join(traceback.format_exception(error)))


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise HangingError in the main thread of this process if the context takes longer than `HANGING` seconds."""

    def end(*_: object) -> None:
        raise HangingError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(HANGING)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def table(results: Sequence[Result]) -> pd.DataFrame:
    """Return a table with a row for each kind of fault, and how many ended in which way."""
    numbers = pd.DataFrame(
        [(each.kind, each.became, each.number) for each in results], columns=["kind", "end", "number"]
    )
    counts = numbers.pivot_table("number", "kind", "end", "sum", fill_value=0, sort=False)
    counts = counts.reindex(columns=[*ENDS, *WRONG], fill_value=0)
    return counts.assign(number=counts.sum(axis=1)).reset_index()


def wrong(results: Sequence[Result]) -> list[Result]:
    """Return those that ended in a way that must not be."""
    return [each for each in results if each.became in WRONG]
