"""This module says where the store is, which version its form has, and what errors and warnings it gives."""

from pathlib import Path

from pomrl.outputs import StoreError as StoreError
from pomrl.outputs import outputs

SCHEMA_VERSION = 2
BLOCK = 200
"""The runs that are stored together: fewer take longer, and more are lost when a process is killed."""

REPAIR = "the same pomrl run computes it again"


class UnreadableError(StoreError):
    """The error for a file that the system could not read, which is not to say that it is damaged."""


class StoreWarning(UserWarning):
    """The warning that an experiment is left out, because it is damaged or lacks runs; its message is one line."""


def root() -> Path:
    """Return the folder of all experiments."""
    return outputs() / "runs"
