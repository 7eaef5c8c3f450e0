"""Import modules by user-given names, and check installed extras."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

OURS = ("pomrl", "pomrl_papers", "pomrl_report", "pomrl_studies")
"""The packages of this project with components, claims or pages."""

INSTALLED = {"site-packages", "dist-packages"}
"""The names of folders with installed packages."""


class MissingExtraError(ImportError):
    """Packages of an extra are not installed; the message follows a command's name."""


def require_extra(extra: str, modules: Sequence[str]) -> None:
    """Check that the modules of an extra are installed, without importing them.

    Raises:
        MissingExtraError: A module is missing.
    """
    if any(find_spec(module) is None for module in modules):
        raise MissingExtraError(f"needs pomrl[{extra}]: pip install 'pomrl[{extra}]'")


def import_by_name(module: str) -> ModuleType:
    """Import a module, also from the current folder."""
    if not is_ours(module):
        add_to_path(Path.cwd())
    return import_module(module)


def is_ours(module: str) -> bool:
    """Return whether a module belongs to this project, and its package is installed."""
    package = module.partition(".")[0]
    return package in OURS and find_spec(package) is not None


def add_to_path(folder: Path) -> None:
    """Append a folder to the module search path."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def place_of(error: BaseException, file: str, line: int = 1) -> str:
    """Return FILE:LINE of an error in a user's file."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    return f"{display_path(file)}:{lines[-1] if lines else line}"


def format_error(error: BaseException) -> str:
    """Format an error's type and message in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")


def display_path(file: str) -> str:
    """Return a path relative to the current folder, if inside."""
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
