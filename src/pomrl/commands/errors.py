"""Errors caused by users, as lines."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pomrl.commands.interrupts import INTERRUPTED
from pomrl.commands.terminal import exit_with, one_line, warn
from pomrl.configuration.composed import ConfigError, UnreadableOverrideError
from pomrl.execution import ExecutionError
from pomrl.outputs import outputs
from pomrl.store import StoreError, StoreWarning

GOES_ON = "finished blocks are stored, and the same command goes on from them"
"""The end of the message that is printed when a computation has ended early."""


class ReportedError(ExecutionError):
    """Report failed experiments; lines on standard error have named them."""


class JobError(BaseException):
    """Carry the cause of a failed job past Hydra, which catches Exception."""


OURS = (ConfigError, StoreError, ExecutionError)
"""The errors whose messages are lines for people."""


@contextmanager
def one_line_errors(*types: type[Exception], status: int = 1) -> Iterator[None]:
    """End a command with one line and this status on expected errors.

    Expected are our errors, further types, system errors, lack of memory and interrupts. HYDRA_FULL_ERROR=1 gives a
    traceback instead. After a `StoreWarning` the status is no success.
    """
    with _print_store_warnings(status), _one_line(types, status):
        yield


@contextmanager
def _print_store_warnings(status: int) -> Iterator[None]:
    """Print each `StoreWarning` once; after one, exit with `status`."""
    lines: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", StoreWarning)
        show = warnings.showwarning

        def show_line(message: Warning | str, category: type[Warning], *arguments: Any) -> None:
            if not issubclass(category, StoreWarning):
                show(message, category, *arguments)
            elif (line := str(message)) not in lines:
                lines.add(line)
                warn(line)

        warnings.showwarning = show_line
        try:
            yield
        except SystemExit as end:
            raise SystemExit(end.code or (status if lines else 0)) from end
    if lines:
        raise SystemExit(status)


@contextmanager
def _one_line(types: tuple[type[Exception], ...], status: int) -> Iterator[None]:
    if os.environ.get("HYDRA_FULL_ERROR", "0") not in ("", "0"):
        yield
        return
    try:
        yield
    except ReportedError:
        raise SystemExit(status) from None
    except KeyboardInterrupt:
        exit_with(f"interrupted; {GOES_ON}", INTERRUPTED)
    except MemoryError:
        message = "not enough memory for models of this size; S, A, or execution.runs_at_a_time must be smaller"
        exit_with(message, status)
    except OSError as error:
        exit_with(_system_error_text(error), status)
    except (*OURS, *types) as error:
        remedy = f"; {GOES_ON}" if isinstance(error, ExecutionError) else ""
        exit_with(one_line(error) + remedy, 2 if isinstance(error, UnreadableOverrideError) else status)


def _system_error_text(error: OSError) -> str:
    path = error.filename or outputs()
    where = Path(os.fsdecode(path)).absolute()
    if error.strerror and where.is_relative_to(outputs().absolute()) and not isinstance(error, BrokenPipeError):
        return f"{path}: {error.strerror}; outputs go to {outputs()}, and POMRL_OUTPUTS names another folder"
    return f"{path}: {error.strerror}" if error.filename and error.strerror else one_line(error)
