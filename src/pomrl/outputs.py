"""The folder of all outputs."""

import os
from pathlib import Path


class StoreError(Exception):
    """An error of missing or damaged stored data, with a one-line message."""


def outputs() -> Path:
    """Return the folder of all outputs: $POMRL_OUTPUTS, by default `outputs`.

    Raises:
        StoreError: The variable is empty, or the folder is a link to nothing.
    """
    if not (name := os.environ.get("POMRL_OUTPUTS", "outputs")):
        raise StoreError("POMRL_OUTPUTS must be the path of a folder, got an empty string; unset it to use outputs")
    return check_link(Path(name).expanduser())


def check_link(path: Path) -> Path:
    """Return a path; StoreError if it is a link to nothing."""
    if path.is_symlink() and not path.exists():
        target = path.readlink()
        raise StoreError(f"{path} is a link to {target}, which does not exist; mount its disk, or remove the link")
    return path
