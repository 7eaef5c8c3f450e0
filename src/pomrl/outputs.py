"""The folder that everything computed is kept in."""

import os
from pathlib import Path


def outputs() -> Path:
    """Return the folder of all outputs: the one that POMRL_OUTPUTS names in the environment, or else `outputs`."""
    return Path(os.environ.get("POMRL_OUTPUTS", "outputs")).expanduser()
