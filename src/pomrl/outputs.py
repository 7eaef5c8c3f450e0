"""The folder of all outputs."""

import os
from pathlib import Path


class StoreError(Exception):
    """Stored data cannot be used as requested; the message is one line."""


def outputs() -> Path:
    """Return the folder of all outputs: $POMRL_OUTPUTS, or else `outputs`.

    StoreError: the variable is empty, which would mean the current folder.
    """
    if not (name := os.environ.get("POMRL_OUTPUTS", "outputs")):
        raise StoreError("POMRL_OUTPUTS must name a folder, got an empty text; without it, outputs go to outputs")
    return Path(name).expanduser()
