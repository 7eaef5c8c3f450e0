"""The folder that everything computed is kept in."""

import os
from pathlib import Path


class StoreError(Exception):
    """The error for stored data that cannot be used as requested; its message is one line."""


def outputs() -> Path:
    """Return the folder of all outputs: the one that POMRL_OUTPUTS names in the environment, or else `outputs`.

    Raises:
        StoreError: The variable is empty, which would mean the current folder.
    """
    if not (name := os.environ.get("POMRL_OUTPUTS", "outputs")):
        raise StoreError("POMRL_OUTPUTS must name a folder, got an empty text; without it, outputs go to outputs")
    return Path(name).expanduser()
