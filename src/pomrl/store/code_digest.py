"""Compute digests of the code of stored experiments, without running it.

A digest covers the engine (`ENGINE`), and the modules of components with their direct and indirect imports, `IMPORTED`
included. Installed packages, except a component's own, dynamic imports, data files and foreign C headers are left out.
"""

import ast
import hashlib
import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

from pomrl.configuration.importing import INSTALLED, is_ours

PACKAGE = Path(__file__).parents[1]

ENGINE = ("base.py", "bounds.py", "science")
"""The files and folders of the package that can change stored numbers."""

IMPORTED = ("pomrl.priors",)
"""Modules of the package that count for components that import them, because only these use them."""

LANGUAGES = (".py", ".c", ".h")
"""The suffixes of source files."""


def code_digest(components: Sequence[str]) -> str:
    """Compute the code digest of components, given by dotted class names.

    The 64 hex digits ignore comments, docstrings and layout. ModuleNotFoundError if a class has no source.
    """
    return module_digest(tuple(sorted({find_module(component) for component in components})))


@cache
def module_digest(modules: tuple[str, ...]) -> str:
    """Compute the digest of the engine and of modules with their imports."""
    return hashlib.sha256((_engine_digest() + source_digest(own_modules(modules))).encode()).hexdigest()


@cache
def _engine_digest() -> str:
    return source_digest(engine_sources())


def source_digest(sources: Mapping[str, Path]) -> str:
    """Compute the digest of named source files."""
    texts = (
        f"{name}\0{normalise_source(path.read_bytes(), is_python=path.suffix == '.py')}"
        for name, path in sorted(sources.items())
    )
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def engine_sources() -> dict[str, Path]:
    """Return the engine's files by their paths in the package."""
    paths = [path for name in ENGINE for path in (PACKAGE / name, *(PACKAGE / name).rglob("*"))]
    return {path.relative_to(PACKAGE).as_posix(): path for path in paths if path.suffix in LANGUAGES}


def own_modules(modules: Iterable[str], importer: str | None = None) -> dict[str, Path]:
    """Find the sources of modules and of their imports.

    The engine and installed packages are left out, except `IMPORTED` and the package of `importer`, by default each
    module itself.
    """
    sources: dict[str, Path] = {}
    ahead = [(name, importer or module) for module in modules for name in _with_packages(module)]
    while ahead:
        name, user = ahead.pop()
        if name not in sources and (source := _source(name)) and _is_own(name, source, user):
            sources[name] = source
            ahead += [(other, name) for other in _imports(name, source)]
    return sources


@cache
def find_module(target: str) -> str:
    """Find the defining module of a class, possibly nested, by its dotted name."""
    module = next((name for name in reversed(_with_packages(target)[:-1]) if _source(name)), None)
    if module is None:
        raise ModuleNotFoundError(f"{target}: no source file found for its module")
    return module


def _with_packages(name: str) -> list[str]:
    return list(accumulate(name.split("."), "{}.{}".format))


def _is_own(name: str, source: Path, importer: str) -> bool:
    top = name.partition(".")[0]
    if top in ("pomrl", "hydra_plugins"):
        return name in IMPORTED
    is_installed = source.is_relative_to(sysconfig.get_path("stdlib")) or not INSTALLED.isdisjoint(source.parts)
    return is_ours(name) or top == importer.partition(".")[0] or not is_installed


def _source(module: str) -> Path | None:
    """Find a module's Python or C source file, also in the current folder, without importing."""
    top, *below = module.split(".")
    try:
        spec = find_spec(top) or PathFinder.find_spec(top, [str(Path.cwd())])
    except (ValueError, ImportError):  # a module run as a program has no specification
        return None
    if spec is None:
        return None
    bases = [Path(folder, *below) for folder in spec.submodule_search_locations or ()]
    files = [Path(f"{base}{ending}") for base in bases for ending in ("/__init__.py", ".py", ".c")]
    files = files if below else [Path(str(spec.origin))]
    return next((file for file in files if file.suffix in LANGUAGES and file.is_file()), None)


def _imports(module: str, source: Path) -> Iterator[str]:
    """Yield possibly imported modules of a file, each after its parent packages."""
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


@cache
def normalise_source(source: bytes, *, is_python: bool) -> str:
    """Format Python or C source without comments, docstrings and layout."""
    if is_python:
        return normalise(ast.parse(source))
    bare = _C_COMMENT_OR_STRING.sub(lambda match: match["string"] or " ", source.decode())
    return " ".join(bare.split())


_C_COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|(?P<string>"(?:\\.|[^"\\])*")', re.DOTALL)


def normalise(node: Any) -> str:
    """Format a syntax tree as text without comments, docstrings and layout.

    Unlike `ast.dump`, the text is equal in all supported Python versions: empty fields are left out.
    """
    if isinstance(node, list):
        return f"[{', '.join(normalise(item) for item in cast(list[Any], node) if not _is_text(item))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.JoinedStr):  # Python 3.12 has empty pieces in the format of a formatted string
        node.values = [piece for piece in node.values if not (isinstance(piece, ast.Constant) and piece.value == "")]
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    return f"{type(node).__name__}({', '.join(f'{name}={normalise(value)}' for name, value in fields)})"


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
