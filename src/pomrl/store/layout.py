"""Names and sizes of what the store keeps on disk, and the error that it raises."""

import re
from pathlib import Path

from pomrl.outputs import outputs

SCHEMA_VERSION = 2
"""Version of the tables and of all files of the store; it is part of every signature."""

BLOCK = 50
"""Number of independent runs that are stored together in one file."""

CONFIG = "config.yaml"
MANIFEST = "manifest.json"
BLOCK_LIST = "blocks.jsonl"
LOG = "run.log"
LOCK = ".lock"

MOST_BYTES = 16 * 2**20
"""Largest configuration or manifest that is read; larger files are refused without reading them."""

MOST_LIST_BYTES = 2**30
"""Largest list of blocks that is read, enough for hundreds of millions of runs."""

REPAIR = "pomrl runs --repair computes it again"
"""What is to be done about a damaged file, as the end of a line."""

_SIGNATURE = re.compile(r"[0-9a-f]{12}")
_BLOCK_FILE = re.compile(r"runs-(\d{6,18})-(\d{6,18})\.parquet")
_TEMPORARY = re.compile(r"\.(?P<of>.+)\.[0-9a-f]{16}\.tmp")


class StoreError(Exception):
    """The error for stored data that cannot be used as requested; its message is one line."""


def root() -> Path:
    """Return the folder of all experiments: `runs` in the folder that POMRL_OUTPUTS names, by default in `outputs`."""
    return outputs() / "runs"


def is_signature(name: str) -> bool:
    """Return whether the name of a folder has the form of a signature, 12 hex digits."""
    return _SIGNATURE.fullmatch(name) is not None


def block_name(runs: range) -> str:
    """Return the name of the file that holds these runs."""
    return f"runs-{runs.start:06d}-{runs.stop - 1:06d}.parquet"


def runs_of_name(name: str) -> range | None:
    """Return the runs of the block to which `block_name` gives this name, or None if there is no such block."""
    match = _BLOCK_FILE.fullmatch(name)
    runs = range(int(match[1]), int(match[2]) + 1) if match else range(0)
    return runs if match and name == block_name(runs) else None


def is_block_name(name: str) -> bool:
    """Return whether `block_name` gives this name to some block."""
    return runs_of_name(name) is not None


def name_of_temporary(name: str) -> str | None:
    """Return the name of the file whose temporary file has this name, or None if it is no name of a temporary file."""
    match = _TEMPORARY.fullmatch(name)
    return match["of"] if match else None


def is_replaced(name: str) -> bool:
    """Return whether the store writes files of this name, by replacing them, into the folder of an experiment."""
    return name in (CONFIG, MANIFEST, BLOCK_LIST) or is_block_name(name)


def is_our_name(name: str) -> bool:
    """Return whether the store writes files of this name into the folder of an experiment."""
    return name in (LOG, LOCK) or is_replaced(name) or is_replaced(name_of_temporary(name) or "")
