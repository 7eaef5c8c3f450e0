"""Compute digests of the code of stored experiments, without running it.

A digest covers the engine (`ENGINE`), and the modules of components with their direct and indirect imports, `IMPORTED`
included. Installed packages, except a component's own, dynamic imports, data files and foreign C headers are left out.

The digest of a notebook class covers definitions, variables and modules used by the class, directly or indirectly.
"""

import ast
import hashlib
import inspect
import linecache
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from symtable import SymbolTable, symtable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.importing import INSTALLED, is_ours
from pomrl.configuration.settings import SESSION, SOURCE

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
    """Find a module's Python or C source file without importing it, also in the current folder."""
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


DATA = (type(None), bool, int, float, complex, str, bytes, np.generic)
"""The types of plain values in a digest, besides arrays and containers."""

CONTAINERS = (list, tuple, set, frozenset, dict)

NAMED = (type, FunctionType, BuiltinFunctionType, np.ufunc, ModuleType)
"""The types identified by name; other callables may contain state."""

NAME_DIGITS = 8
"""The number of hex digits of the digest in a class name."""


def mark_notebook_classes(components: Iterable[object]) -> None:
    """Set the source digest of components' notebook classes; ConfigError if a dependency has none."""
    for cls in {type(component) for component in components}:
        if is_of_session(cls):
            setattr(cls, SOURCE, class_digest(cls)[:NAME_DIGITS])


def is_of_session(value: Any) -> bool:
    """Return whether this notebook or program defines a class or function."""
    return getattr(value, "__module__", "") == SESSION


def class_digest(cls: type) -> str:
    """Compute the digest of a notebook class with its dependencies."""
    dependencies = _Dependencies()
    dependencies.add(cls.__name__, cls)
    modules = source_digest(own_modules(dependencies.modules, importer=SESSION))
    return hashlib.sha256("\0".join([modules, *dependencies.texts]).encode()).hexdigest()


@dataclass(frozen=True)
class _Dependencies:
    texts: list[str] = field(default_factory=list[str])
    """Normalised definitions and values, each preceded by its name."""
    modules: set[str] = field(default_factory=set[str])
    visited: dict[int, object] = field(default_factory=dict[int, object])

    def add(self, name: str, value: Any) -> None:
        value = inspect.unwrap(value) if callable(value) else value
        if id(value) in self.visited:
            return
        self.visited[id(value)] = value
        if isinstance(value, FunctionType | type) and is_of_session(value):
            self._add_definition(name, value)
        elif isinstance(value, NAMED):
            module = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
            self.modules.add(module)
            self.texts.append(f"{name} {module}.{getattr(value, '__qualname__', '')}")
        else:
            self.texts.append(f"{name} = {_digest_of_data(name, value)}")

    def _add_definition(self, name: str, value: FunctionType | type) -> None:
        statement, file = _definition(value, name)
        self.texts.append(f"{name}: {normalise(statement)}")
        for base in value.__bases__ if isinstance(value, type) else ():  # a base may have been renamed since
            self.add(base.__name__, base)
        variables = vars(sys.modules[SESSION])
        for used in sorted(_used_names(statement) & variables.keys()):
            self.add(used, variables[used])
        for function in _functions(value):
            if _is_within(function.__code__, statement, file):
                self._add_closure(name, function)
            elif not function.__name__.startswith("__"):  # set after the class statement, and not by a library
                self.add(function.__name__, function)
        for attribute, data in sorted(vars(value).items()) if isinstance(value, type) else ():
            if not attribute.startswith("__") and isinstance(data, (*DATA, *CONTAINERS, np.ndarray)):
                self.texts.append(f"{name}.{attribute} = {_digest_of_data(attribute, data)}")

    def _add_closure(self, name: str, function: FunctionType) -> None:
        for used, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if used != "__class__":
                try:
                    self.add(used, cell.cell_contents)
                except ValueError as error:
                    raise ConfigError(
                        f"{name}: the variable {used} has no value; assign one before use of the class"
                    ) from error


def _digest_of_data(name: str, value: Any) -> str:
    kind, is_array = type(value).__name__, isinstance(value, np.ndarray)
    if is_array and not value.dtype.hasobject:
        array = np.ascontiguousarray(value)
        return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
    if kind in ("list", "tuple", "set", "frozenset", "dict"):
        items: Iterable[Any] = value.items() if kind == "dict" else value
        digests = [_digest_of_data(name, item) for item in items]
        return f"{kind} {sorted(digests) if kind.endswith('set') else digests}"
    if isinstance(value, NAMED):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    is_alias = type(value).__module__ in ("typing", "types")  # in an annotation
    if is_alias or isinstance(value, DATA):
        return f"{kind} {value!r}"
    raise ConfigError(
        f"{name} must be data (numbers, text, numeric arrays, containers), got {kind}; "
        f"make it a field of the notebook class, or move the class into a module"
    )


def _definition(value: FunctionType | type, name: str) -> tuple[ast.stmt, str]:
    """Find the defining statement and its file or cell.

    Classes are found by the code of methods: `inspect.getsource` does not work in all Python versions.
    """
    for function in _functions(value):
        code = function.__code__
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
        around = [
            node for node in ast.walk(tree) if isinstance(node, ast.stmt) and _is_within(code, node, code.co_filename)
        ]
        if isinstance(value, type):  # the innermost class of this name; a program may define several
            around = [node for node in around if isinstance(node, ast.ClassDef) and node.name == value.__name__]
        if around:
            return max(around, key=lambda node: node.lineno), code.co_filename
    remedy = "give the class a method in a notebook cell" if isinstance(value, type) else "define it in a notebook cell"
    raise ConfigError(f"{name}: source not found; {remedy}, or move it into a module")


def _is_within(code: CodeType, statement: ast.stmt, file: str) -> bool:
    lines = [statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", []))]
    return code.co_filename == file and min(lines) <= code.co_firstlineno <= (statement.end_lineno or 0)


def _functions(value: FunctionType | type) -> Iterator[FunctionType]:
    for member in [value] if isinstance(value, FunctionType) else vars(value).values():
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        function = inspect.unwrap(function) if callable(function) else function
        if isinstance(function, FunctionType):
            yield function


def _used_names(statement: ast.stmt) -> set[str]:
    top = symtable(ast.unparse(statement), SESSION, "exec")
    used = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    return used.union(*map(_global_names, top.get_children()))


def _global_names(scope: SymbolTable) -> set[str]:
    names = {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global()}
    return names.union(*map(_global_names, scope.get_children()))
