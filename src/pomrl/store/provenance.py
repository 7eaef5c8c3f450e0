"""The circumstances in which numbers are computed: code, versions of packages, machine, command and time."""

import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from pomrl.science.solvers import compiled

version = cache(metadata.version)  # which reads a file each time

_PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "pydantic", "joblib", "hydra-core", "pomrl")

DECISIVE = ("numpy", "scipy", "pandas", "pyarrow")
"""Packages whose version may change the numbers or the bytes that are stored."""


@dataclass(frozen=True)
class Provenance:
    """The circumstances of the first computation of an experiment."""

    command: tuple[str, ...]
    start: str
    """Time at which the computation began, ISO 8601 in UTC."""
    python: str
    platform: str
    packages: Mapping[str, str]
    engine: str
    """The engine that solved small models: `compiled`, or `numpy` if the former was not built."""
    commit: str | None
    """Commit of the repository; None if the code is not in a repository."""
    dirty: bool | None
    """Whether files of the repository had been changed since that commit."""
    end: str | None = None
    """Time at which the last computation ended, in descriptions of older versions; now `run.log` has it."""


def provenance() -> Provenance:
    """Return the circumstances of a computation that begins now."""
    return Provenance(
        command=tuple(sys.argv),
        start=now(),
        python=platform.python_version(),
        platform=platform.platform(),
        packages={package: version(package) for package in _PACKAGES},
        engine="compiled" if compiled.is_built() else "numpy",
        **commit(),
    )


def decisive_versions() -> dict[str, str]:
    """Return the versions of the packages that the numbers and bytes of a table depend on."""
    return {package: version(package) for package in DECISIVE}


def now() -> str:
    """Return the present time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat()


@cache
def commit() -> dict[str, Any]:
    """Return the `commit` of this code's repository, and whether it is `dirty` (has changes since).

    Both are None if there is no repository or no git.
    """

    def git(*arguments: str) -> str | None:
        command = ["git", "-C", str(Path(__file__).parent), *arguments]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return None

    commit = git("rev-parse", "HEAD")
    return {"commit": commit, "dirty": bool(git("status", "--porcelain")) if commit else None}
