"""This module says where the store is and which version its form has, and defines the error that it raises."""

from pathlib import Path

from pomrl.outputs import outputs

SCHEMA_VERSION = 2
BLOCK = 200
"""The runs that are stored together: fewer take longer, and more are lost when a process is killed."""

REPAIR = "the same pomrl run computes it again"


class StoreError(Exception):
    """The error for stored data that cannot be used as requested; its message is one line."""


def root() -> Path:
    """Return the folder of all experiments."""
    return outputs() / "runs"
