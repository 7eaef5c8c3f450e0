"""Where numbers come from: the digest of the code that makes them, and the circumstances in which they were made."""

import ast
import hashlib
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SCIENTIFIC = (
    "algorithm",
    "bounds",
    "components",
    "concentration",
    "elimination",
    "estimators",
    "evaluation",
    "experiment",
    "gamma_schedules",
    "mdp",
    "planners",
    "policy_stacks",
    "randomness",
    "relative_values",
    "task_distributions",
)
"""The modules that an experiment runs through."""

_PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "pydantic", "joblib", "hydra-core", "pomrl")


def code_digest(components: Sequence[str]) -> str:
    """A digest of the scientific code and of the modules of the given classes, by their dotted names.

    It is taken over the normalised source, so that a comment, a docstring or the layout may change freely.
    """
    return _digest({f"pomrl.{name}" for name in SCIENTIFIC}, components)


def package_digest(components: Sequence[str]) -> str:
    """A digest like that of the scientific code, of all modules beside this one: also of what stores the tables."""
    return _digest({f"pomrl.{path.stem}" for path in Path(__file__).parent.glob("[!_]*.py")}, components)


def _digest(own: set[str], components: Sequence[str]) -> str:
    modules = sorted(own | {target.rpartition(".")[0] for target in components})
    return hashlib.sha256("\0".join(f"{name}\0{_normalised(name)}" for name in modules).encode()).hexdigest()


@cache
def _normalised(module: str) -> str:
    """The normalised source of a module."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the source of {module} cannot be found")
    return normalise(Path(spec.origin).read_text())


def normalise(source: str) -> str:
    """What Python source does: its syntax tree, written out, without comments, docstrings and layout.

    `ast.unparse` and `ast.dump` change with the version of Python; this is the same on all that are supported.
    """
    return _written(ast.parse(source))


def _written(node: Any) -> str:
    """A node of a syntax tree with its fields, but for those that are empty: versions differ in which of them exist."""
    if isinstance(node, list):
        return f"[{', '.join(_written(part) for part in node if not _is_text(part))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.JoinedStr):  # Python 3.12 has empty pieces in the format of a formatted string
        node.values = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    return f"{type(node).__name__}({', '.join(f'{name}={_written(value)}' for name, value in fields)})"


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def provenance() -> dict[str, Any]:
    """Commit, versions, platform, command line and time."""
    return {
        "command": sys.argv,
        "start": datetime.now(UTC).isoformat(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {package: version(package) for package in _PACKAGES},
        **commit(),
    }


@cache
def commit() -> dict[str, Any]:
    """The commit of the repository that this file is in, and whether anything was changed since; None without git."""

    def git(*arguments: str) -> str | None:
        command = ["git", "-C", str(Path(__file__).parent), *arguments]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return None

    commit = git("rev-parse", "HEAD")
    return {"commit": commit, "dirty": bool(git("status", "--porcelain")) if commit else None}
