"""The errors that a user of a command can cause, and the line that the command prints for each of them."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pomrl.commands.terminal import exit_with, one_line
from pomrl.configuration.composed import ConfigError, UnreadableOverrideError
from pomrl.execution import ExecutionError
from pomrl.outputs import outputs
from pomrl.store import StoreError

GOES_ON = "finished blocks are stored, and the same command goes on from them"
"""The end of the message that is printed when a computation has ended early."""


class ReportedError(ExecutionError):
    """Experiments failed, as lines on standard error have said before."""


class JobError(BaseException):
    """A job of Hydra has failed, with its cause; Hydra, which says more of an Exception, lets it pass."""


OURS = (ConfigError, StoreError, ExecutionError)
"""The errors whose messages are lines for people."""


@contextmanager
def one_line_errors(*further: type[Exception], status: int = 1) -> Iterator[None]:
    """End the command with one line and this exit status at an error of ours or of a further type.

    An error of the system, a lack of memory and an interrupt end it with one line too. If HYDRA_FULL_ERROR is set,
    there is a traceback instead.
    """
    if os.environ.get("HYDRA_FULL_ERROR", "0") not in ("", "0"):
        yield
        return
    try:
        yield
    except ReportedError:
        raise SystemExit(status) from None
    except KeyboardInterrupt:
        exit_with(f"interrupted; {GOES_ON}", 128 + signal.SIGINT)
    except MemoryError:
        words = "not enough memory for models of this size; S, A, or execution.runs_at_a_time has to be smaller"
        exit_with(words, status)
    except OSError as error:
        exit_with(_of_system(error), status)
    except (*OURS, *further) as error:
        more = f"; {GOES_ON}" if isinstance(error, ExecutionError) else ""
        exit_with(one_line(error) + more, 2 if isinstance(error, UnreadableOverrideError) else status)


def _of_system(error: OSError) -> str:
    """Name the path that the system could not read or write, and say how to have the outputs elsewhere."""
    path = error.filename or outputs()
    where = Path(os.fsdecode(path)).absolute()
    if error.strerror and where.is_relative_to(outputs().absolute()) and not isinstance(error, BrokenPipeError):
        return f"{path}: {error.strerror}; outputs go to {outputs()}, and POMRL_OUTPUTS names another folder"
    return f"{path}: {error.strerror}" if error.filename and error.strerror else one_line(error)
