"""Importing modules by names that a user gives; they may do anything while they are imported."""

import ast
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

OURS = ("pomrl", "pomrl_logs", "pomrl_report", "pomrl_studies")
"""The packages of this distribution."""

INSTALLED = {"site-packages", "dist-packages"}
"""The folders of packages that are installed."""


def import_by_name(module: str) -> ModuleType:
    """Return the module of this name; one of the user's own is looked for in the current folder too.

    Raises:
        ImportError: There is no such module.
        BaseException: Whatever the module raises.
    """
    if not is_ours(module):
        find_modules_in(Path.cwd())
    return import_module(module)


def is_ours(module: str) -> bool:
    """Return whether a module belongs to this distribution."""
    return module.partition(".")[0] in OURS


def import_lazily(name: str) -> None:
    """Let a package be imported when something of it is first used, and not by the statement that names it.

    Modules may annotate with names of the package as strings, which are not evaluated.
    """
    if name not in sys.modules:
        sys.modules[name] = _NotYet(name)


class _NotYet(ModuleType):
    """Stands for a package until it is used."""

    def __getattr__(self, attribute: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), attribute)


@cache
def names_of(face: str) -> dict[str, tuple[str, str]]:
    """Return for each name that a face offers the module that has it, and its name there.

    They are read from the statements of the face that only type checkers execute.
    """
    tree = ast.parse(Path(str(sys.modules[face].__file__)).read_text(encoding="utf-8"))
    above = next(line for line in tree.body if isinstance(line, ast.If))
    statements = (line for line in above.body if isinstance(line, ast.ImportFrom))
    return {alias.asname or alias.name: (line.module or "", alias.name) for line in statements for alias in line.names}


def load_from(face: str, name: str) -> Any:
    """Return what a face offers under a name, and import the module that has it; AttributeError if it offers none."""
    if name not in names_of(face):
        raise AttributeError(f"module {face!r} has no attribute {name!r}")
    module, of_module = names_of(face)[name]
    found = import_module(module)
    return getattr(found, of_module) if hasattr(found, of_module) else import_module(f"{module}.{of_module}")


def find_modules_in(folder: Path) -> None:
    """Let modules in a folder be found from now on, after those of libraries."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def place_of(error: BaseException, file: str, line: int = 1) -> str:
    """Return the place in a user's file at which an error was raised, FILE:LINE.

    Args:
        error: The error.
        file: The path of the file.
        line: The line that counts if none of the file was being executed.
    """
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    return f"{display_path(file)}:{lines[-1] if lines else line}"


def in_words(error: BaseException) -> str:
    """Return the type and the message of an error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")


def display_path(file: str) -> str:
    """Return the path of a file, relative to the current folder if it is in there."""
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
