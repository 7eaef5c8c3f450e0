"""The folder of all outputs."""

import os
from pathlib import Path


class StoreError(Exception):
    """An error of missing or damaged stored data, with a one-line message."""


def outputs() -> Path:
    """Return the folder of all outputs: $POMRL_OUTPUTS, by default `outputs`.

    Raises:
        StoreError: The variable is empty.
    """
    if not (name := os.environ.get("POMRL_OUTPUTS", "outputs")):
        raise StoreError("POMRL_OUTPUTS must be the path of a folder, got an empty string; unset it to use outputs")
    return Path(name).expanduser()
