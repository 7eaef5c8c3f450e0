"""The errors that a user of a command can cause, and the line that the command prints for each of them."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from pomrl.commands.terminal import GOES_ON, exit_with, one_line
from pomrl.configuration.composed import GROUPS, ConfigError
from pomrl.configuration.composition import missing_option
from pomrl.configuration.parsing import KEYS
from pomrl.execution import EngineUnavailableError, ExecutionError
from pomrl.outputs import outputs
from pomrl.store import StoreError

EXPLAINED = (ConfigError, StoreError, HydraException, OmegaConfBaseException, EngineUnavailableError, OSError)
"""Types of errors whose message tells the user of any command what is wrong."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The errors of a disk, a quota and a limit of file sizes that are exhausted."""


@contextmanager
def one_line_errors(*further: type[Exception], status: int = 1) -> Iterator[None]:
    """End the command with one line and this exit status at an error in `EXPLAINED` or of a further type."""
    try:
        yield
    except (*EXPLAINED, *further) as error:
        exit_with(_of_system(error) if isinstance(error, OSError) else one_line(error), status)


def explain(error: Exception, arguments: Sequence[str]) -> tuple[str, int] | None:
    """Explain an error that a user of `pomrl run` can cause.

    Args:
        error: The error.
        arguments: The arguments of the command, of which the line quotes the wrong one.

    Returns:
        The line and the exit status, which is 2 where the command line cannot be read; None for any other error, which
        is a fault of the program.
    """
    match error:
        case OverrideParseException():
            return f"{error.override}: Hydra cannot read this override; it has to be key=value", 2
        case MissingConfigException():
            return missing_option(error), 1
        case ConfigCompositionException():
            return _composition(error, arguments), 1
        case MemoryError():
            return "not enough memory for models of this size; S, A, or execution.runs_at_a_time has to be smaller", 1
        case OSError():
            return _of_system(error), 1
        case _ if isinstance(error, EXPLAINED):
            return one_line(error), 1
        case ExecutionError():
            return f"{one_line(error)}; {GOES_ON}", 1
        case _:
            return None


def _of_system(error: OSError) -> str:
    """Name the path that the system could not read or write, and say what to do where the disk is full."""
    path = error.filename or outputs()
    if error.errno in _FULL:
        return f"{path}: {error.strerror}; free some space, and the same command goes on from what is stored"
    where = Path(os.fsdecode(path)).absolute()
    if error.strerror and where.is_relative_to(outputs().absolute()):
        return f"{path}: {error.strerror}; outputs go to {outputs()}, and POMRL_OUTPUTS names another folder"
    return f"{path}: {error.strerror}" if error.filename and error.strerror else one_line(error)


def _composition(error: ConfigCompositionException, arguments: Sequence[str]) -> str:
    text = str(error)
    if text.startswith("Ambiguous value for argument '"):
        argument = text.split("'")[1]
        return f"{argument}: several values are a sweep, for which -m has to be on the command line"
    if text.startswith("Multiple values for "):
        group = text.split()[3].rstrip(".")
        return f"+{group}: this group has an option already; to choose another leave out the +: {group}=..."
    if not text.startswith("Could not override '"):
        return one_line(error)
    key = text.split("'")[1]
    overrides = [argument for argument in arguments if argument.lstrip("+~").startswith(f"{key}=")]
    return f"{overrides[0] if overrides else key}: {_unknown(key)}"


def _unknown(key: str) -> str:
    group, _, name = key.rpartition(".")
    if key in ("tag", "note"):
        return f"it is no setting of the experiment but a label; give it as +{key}=..."
    if group:
        return f"the option of {group} that was chosen has no key {name}; its keys are in conf/{group}"
    return f"unknown key; the keys are {', '.join(KEYS)}, and those of the groups {', '.join(GROUPS)}"
