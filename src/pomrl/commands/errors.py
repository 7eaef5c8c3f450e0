"""One-line messages for errors caused by users."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pomrl.commands.process import INTERRUPTED
from pomrl.commands.terminal import exit_unread, exit_with, flush_output, one_line, warn
from pomrl.configuration.composed import ConfigError, UnknownSweepError, UnreadableOverrideError
from pomrl.configuration.importing import MissingExtraError
from pomrl.configuration.sources import PAPER
from pomrl.execution import ExecutionError
from pomrl.outputs import outputs
from pomrl.store import StoreError, StoreWarning

CONTINUES = "any finished blocks are stored; repeat the command to continue"
"""The end of the message after an interrupted or failed computation."""


class ReportedError(ExecutionError):
    """Failed experiments, already reported on standard error."""


class JobError(BaseException):
    """A failed job, not an `Exception`, because Hydra would catch it."""


OURS = (ConfigError, StoreError, ExecutionError)
"""The errors with messages for users."""


@contextmanager
def one_line_errors(*types: type[Exception], status: int = 1) -> Iterator[None]:
    """Exit with one line on expected errors.

    These are `OURS`, `types`, system errors, lack of memory and interrupts. HYDRA_FULL_ERROR=1 gives tracebacks. After
    a `StoreWarning`, the status is not 0 either.
    """
    with _print_store_warnings(status), _one_line(types, status):
        yield


@contextmanager
def _print_store_warnings(status: int) -> Iterator[None]:
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
        exit_with(f"interrupted; {CONTINUES}", INTERRUPTED)
    except MemoryError:
        message = "not enough memory for models of this size; reduce S, A, or execution.runs_at_a_time"
        exit_with(message, status)
    except BrokenPipeError:
        exit_unread()
    except OSError as error:
        flush_output(status)
        exit_with(_system_error_text(error), status)
    except MissingExtraError as error:
        exit_with(f"{sys.argv[0]} {error}", status)
    except UnknownSweepError as error:
        sweeps = _sweeps_of_figure(error.sweep)
        exit_with(f"experiment={error.sweep}: unknown sweep; {sweeps}" if sweeps else one_line(error), status)
    except (*OURS, *types) as error:
        remedy = f"; {CONTINUES}" if isinstance(error, ExecutionError) else ""
        exit_with(one_line(error) + remedy, 2 if isinstance(error, UnreadableOverrideError) else status)


def _sweeps_of_figure(name: str) -> str:
    """Describe the sweeps of a figure, such as figure5 or STUDY/5."""
    from pomrl.configuration.studies import find
    from pomrl.drawing.figures_of_study import describe_sweeps  # here, because it is slow

    study, _, figure = name.rpartition("/")
    try:
        return describe_sweeps(find(study or PAPER), figure)
    except ConfigError:
        return ""


def _system_error_text(error: OSError) -> str:
    path = error.filename or outputs()
    where = Path(os.fsdecode(path)).absolute()
    if error.strerror and where.is_relative_to(outputs().absolute()):
        return f"{path}: {error.strerror}; outputs go to {outputs()}; set POMRL_OUTPUTS to change the folder"
    return f"{path}: {error.strerror}" if error.filename and error.strerror else one_line(error)
