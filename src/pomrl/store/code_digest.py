"""Compute digests of the code behind numbers, from source that is never run.

A digest covers the engine's code (`ENGINE`), and the modules of components with their imports, at any depth. Of
installed packages only a component's own counts. Not covered: imports by computed names, data files, foreign C headers.
"""

import ast
import hashlib
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

from pomrl.configuration.importing import INSTALLED, is_ours

PACKAGE = Path(__file__).parents[1]

ENGINE = ("base.py", "bounds.py", "science")
"""The files and folders of the package that can change a number."""

LANGUAGES = (".py", ".c", ".h")
"""The endings of files with code."""


def code_digest(components: Sequence[str]) -> str:
    """Return the digest, 64 hex digits, of code for components given by dotted class names.

    Comments, docstrings and layout do not change it. ModuleNotFoundError if a class has no source.
    """
    return module_digest(tuple(sorted({module_of(component) for component in components})))


@cache
def module_digest(modules: tuple[str, ...]) -> str:
    """Return the digest of the engine and of modules with their imports."""
    return hashlib.sha256((_engine_digest() + source_digest(own_modules(modules))).encode()).hexdigest()


@cache
def _engine_digest() -> str:
    return source_digest(engine_sources())


def source_digest(sources: Mapping[str, Path]) -> str:
    """Return the digest of files under these names."""
    parts = (f"{name}\0{_normalise_file(sources[name])}" for name in sorted(sources))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def engine_sources() -> dict[str, Path]:
    """Return the engine's files by their paths in the package."""
    paths = [path for name in ENGINE for path in (PACKAGE / name, *(PACKAGE / name).rglob("*"))]
    return {path.relative_to(PACKAGE).as_posix(): path for path in paths if path.suffix in LANGUAGES}


def own_modules(modules: Iterable[str], importer: str | None = None) -> dict[str, Path]:
    """Find modules and their imports, without the engine and installed packages.

    Args:
        modules: Dotted names.
        importer: The importing module; by default the modules are components, whose own packages count.

    Returns:
        The source files by dotted names.
    """
    found: dict[str, Path] = {}
    ahead = [(name, importer or module) for module in modules for name in _with_packages(module)]
    while ahead:
        name, user = ahead.pop()
        if name not in found and (source := _source(name)) and _is_own(name, source, user):
            found[name] = source
            ahead += [(other, name) for other in _imports(name, source)]
    return found


def module_of(target: str) -> str:
    """Return the module defining a class, possibly nested, by its dotted name."""
    module = next((name for name in reversed(_with_packages(target)[:-1]) if _source(name)), None)
    if module is None:
        raise ModuleNotFoundError(f"the source of {target} cannot be found")
    return module


def _with_packages(name: str) -> list[str]:
    """Return a dotted name after its parent packages, outermost first."""
    return list(accumulate(name.split("."), "{}.{}".format))


def _is_own(name: str, source: Path, importer: str) -> bool:
    top = name.partition(".")[0]
    if top in ("pomrl", "hydra_plugins"):
        return False
    is_installed = source.is_relative_to(sysconfig.get_path("stdlib")) or not INSTALLED.isdisjoint(source.parts)
    return is_ours(name) or top == importer.partition(".")[0] or not is_installed


def _source(module: str) -> Path | None:
    """Return a module's Python or C source file, or None, without importing it."""
    top, *below = module.split(".")
    try:
        spec = find_spec(top)
    except (ValueError, ImportError):  # a module that is run as a program has no specification
        return None
    if spec is None:
        return None
    bases = [Path(folder, *below) for folder in spec.submodule_search_locations or ()]
    files = [Path(f"{base}{ending}") for base in bases for ending in ("/__init__.py", ".py", ".c")]
    files = files if below else [Path(str(spec.origin))]
    return next((file for file in files if file.suffix in LANGUAGES and file.is_file()), None)


def _imports(module: str, source: Path) -> Iterator[str]:
    """Yield the modules that a file may import, after their packages."""
    if source.suffix != ".py":
        return
    for node in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_packages(alias.name)
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")[: None if source.name == "__init__.py" else -1]
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from _with_packages(base)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _normalise_file(source: Path) -> str:
    return _normalise_source(source.read_bytes(), is_python=source.suffix == ".py")


@cache
def _normalise_source(source: bytes, *, is_python: bool) -> str:
    """Normalise Python as a syntax tree, C by removing comments and white space."""
    if is_python:
        return normalise(ast.parse(source))
    bare = _C_COMMENT_OR_STRING.sub(lambda match: match["string"] or " ", source.decode())
    return " ".join(bare.split())


_C_COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|(?P<string>"(?:\\.|[^"\\])*")', re.DOTALL)


def normalise(node: Any) -> str:
    """Return a syntax tree as text without comments, docstrings and layout.

    It is equal in all supported Python versions, unlike `ast.dump`: empty fields, which versions add, are left out.
    """
    if isinstance(node, list):
        return f"[{', '.join(normalise(part) for part in cast(list[Any], node) if not _is_text(part))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.JoinedStr):  # Python 3.12 has empty pieces in the format of a formatted string
        node.values = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    return f"{type(node).__name__}({', '.join(f'{name}={normalise(value)}' for name, value in fields)})"


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
