"""Digests of the code that computes numbers, taken over its normalised source. The code is neither imported nor run.

A digest covers the modules that a computation starts from and the modules that they import, directly or indirectly, at
the top of a file or inside a function. Imports of modules of this package count, except `pomrl/__init__.py`. A name
that is imported from a face, `pomrl.components` or `pomrl.study`, counts as imported from the module that the face has
it from. For a module that is not of this package, the modules in the same folder or the same package count
as well. The C source of
an extension module counts, whether or not the module was built. A digest cannot see imports whose module names are
computed while a program runs.
"""

import ast
import hashlib
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

START = "pomrl.science.experiment"
"""The module that every experiment starts from."""

FACES = ("pomrl.components", "pomrl.study")
"""The modules that only gather names from others: an import of one of them is an import from the other module."""


NOT_COMPUTING = ("studies", "skeleton")
"""Folders of the package with studies, whose modules compute nothing but as components."""


def code_digest(components: Sequence[str]) -> str:
    """Return the digest, 64 hex digits, of the code that an experiment with these components runs.

    Comments, docstrings and the layout of the source do not change the digest.

    Args:
        components: Dotted names of the classes of the experiment's components.

    Raises:
        ModuleNotFoundError: The source of a class cannot be found.
    """
    return closure_digest((START, *sorted({_module_of(component) for component in components})))


def package_digest(components: Sequence[str]) -> str:
    """Return the digest of the files of this package, but those of studies, and of the modules of these components.

    In contrast to `code_digest`, it also covers the modules that do not compute numbers, such as those of the store,
    and comments and layout: to leave them out, each process that computes would have to parse the whole package.
    """
    package = Path(__file__).parents[1]
    files = {path for suffix in ("py", "c") for path in package.rglob(f"*.{suffix}")}
    ours = {path for path in files if path.relative_to(package).parts[0] not in NOT_COMPUTING}
    own = modules(module for module in map(_module_of, components) if _source(module) not in ours)
    sources = {".".join(path.relative_to(package.parent).parts): path for path in ours}
    sources |= {name: path for name in own if (path := _source(name)) is not None}
    parts = (name.encode() + b"\0" + sources[name].read_bytes() for name in sorted(sources))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def source_of(components: Sequence[str]) -> Path:
    """Return the source file of the first of these components that is not of this package, or else of the package."""
    own = (_source(_module_of(component)) for component in components if not component.startswith("pomrl."))
    return next((source for source in own if source), Path(__file__).parents[1] / "__init__.py")


@cache
def closure_digest(start: tuple[str, ...]) -> str:
    """Return the digest, 64 hex digits, of these modules and of the modules that they import, directly or not."""
    return digest(modules(start))


def modules(start: Iterable[str]) -> set[str]:
    """Return the dotted names of the modules that a digest covers if code starts from these modules."""
    reached: set[str] = set()
    ahead = list(start)
    while ahead:
        module = ahead.pop()
        if module not in reached:
            reached.add(module)
            ahead += _imported(module)
    return reached


def digest(names: Iterable[str]) -> str:
    """Return the digest, 64 hex digits, of modules by their dotted names, whatever they import."""
    parts = (f"{name}\0{_code(name).normalised}" for name in sorted(names))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _module_of(target: str) -> str:
    """Return the module that defines the class with this dotted name; the class may be nested in another class."""
    module = target.rpartition(".")[0]
    while module and _source(module) is None:
        module = module.rpartition(".")[0]
    if not module:
        raise ModuleNotFoundError(f"the source of {target} cannot be found")
    return module


def _imported(module: str) -> tuple[str, ...]:
    """Return the modules that a module imports and that a digest covers, with the packages that contain them or it."""
    names = {name for statement in _code(module).imports for name in _names(statement, module)}
    return tuple(sorted(name for name in names | set(_packages(module)) if _counts(name, module)))


def _names(statement: ast.Import | ast.ImportFrom, module: str) -> Iterator[str]:
    """Yield the modules that a statement may import, with the packages that contain them."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield from (alias.name, *_packages(alias.name))
        return
    base = _absolute(statement, module)
    for alias in statement.names:
        source = _gathered(base).get(alias.name, base) if base in FACES else base
        yield from (source, *_packages(source), f"{source}.{alias.name}")


@cache
def _gathered(face: str) -> Mapping[str, str]:
    """Return the module that each name of a face is imported from, as the face's own statements say."""
    statements = (statement for statement in _code(face).imports if isinstance(statement, ast.ImportFrom))
    return {alias.asname or alias.name: statement.module or "" for statement in statements for alias in statement.names}


def _absolute(statement: ast.ImportFrom, module: str) -> str:
    """Return the absolute name of the module that `from ... import` names; `module` contains the statement."""
    if not statement.level:
        return statement.module or ""
    parts = module.split(".")
    package = parts if _is_package(module) else parts[:-1]
    above = package[: len(package) - statement.level + 1]
    return ".".join([*above, *([statement.module] if statement.module else [])])


def _packages(module: str) -> list[str]:
    """Return the packages that contain a module, the outermost first."""
    parts = module.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _counts(name: str, importer: str) -> bool:
    """Return whether a digest covers an imported name.

    It does if the name is a module of this package, of the importer's package, or of the importer's folder.
    """
    if name == "pomrl" or name.startswith("hydra_plugins"):
        return False
    top, own = name.partition(".")[0], importer.partition(".")[0]
    return (top in ("pomrl", own) or (own != "pomrl" and _beside(top, own))) and _source(name) is not None


def _beside(top: str, own: str) -> bool:
    """Return whether two top-level modules or packages are in the same folder, unless packages are installed there."""
    homes = _home(top), _home(own)
    return homes[0] is not None and homes[0] == homes[1] and homes[0] not in _installed()


@cache
def _installed() -> set[Path]:
    paths = sysconfig.get_paths()
    return {Path(paths[key]).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib")}


def _home(top: str) -> Path | None:
    """Return the folder that contains a top-level module or package, or None if it cannot be found."""
    spec = _spec(top)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).resolve().parent
    return Path(spec.origin).resolve().parent if spec.has_location and spec.origin else None


def _is_package(module: str) -> bool:
    spec = _spec(module)
    return spec is not None and spec.submodule_search_locations is not None


def _source(module: str) -> Path | None:
    """Return the file with the Python or C source of a module, or None if there is no such module or no source."""
    spec = _spec(module)
    origin = spec.origin if spec and spec.has_location else None
    return Path(origin) if origin and origin.endswith(".py") else _c_source(module)


def _c_source(module: str) -> Path | None:
    """Return the C file of an extension module, which is in the folder of its package, or None if there is none."""
    package, _, name = module.rpartition(".")
    above = _spec(package) if package else None
    paths = [Path(folder) / f"{name}.c" for folder in (above.submodule_search_locations or []) if name] if above else []
    return next((path for path in paths if path.is_file()), None)


def _spec(module: str) -> ModuleSpec | None:
    """Return the import specification of a module; in contrast to `find_spec`, no package is imported for it."""
    package, _, name = module.rpartition(".")
    if package:
        above = _spec(package)
        locations = above.submodule_search_locations if above else None
        # By its last name alone: a folder that is a package without a file would need those above it to be imported.
        return PathFinder.find_spec(name, list(locations)) if locations else None
    try:
        return find_spec(module) if module else None
    except (ValueError, ImportError):  # a module that is run as a program has no specification
        return getattr(sys.modules.get(module), "__spec__", None)


def _code(module: str) -> "_Understood":
    """Return the normalised source of a module and its import statements; C source has none."""
    source = _source(module)
    if source is None:
        raise ModuleNotFoundError(f"the source of {module} cannot be found")
    content = source.read_bytes()
    return _Understood(normalise_c(content.decode()), ()) if source.suffix == ".c" else _understood(content)


@dataclass(frozen=True)
class _Understood:
    """The normalised source of a module, and its import statements."""

    normalised: str
    imports: tuple[ast.Import | ast.ImportFrom, ...]


@cache
def _understood(source: bytes) -> _Understood:
    tree = ast.parse(source)
    imports = tuple(node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return _Understood(_written(tree), imports)


def normalise(source: str) -> str:
    """Return the syntax tree of Python source as text, which has no comments, docstrings and layout.

    The text is the same in all supported versions of Python; that of `ast.unparse` or `ast.dump` is not.
    """
    return _written(ast.parse(source))


def normalise_c(source: str) -> str:
    """Return C source without comments, and with one space for each stretch of white space."""
    return " ".join(_C_COMMENT_OR_STRING.sub(lambda found: found["string"] or " ", source).split())


_C_COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|(?P<string>"(?:\\.|[^"\\])*")', re.DOTALL)


def _written(node: Any) -> str:
    """Return a node of a syntax tree as text, without its empty fields, because versions of Python add such fields."""
    if isinstance(node, list):
        return f"[{', '.join(_written(part) for part in cast(list[Any], node) if not _is_text(part))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.JoinedStr):  # Python 3.12 has empty pieces in the format of a formatted string
        node.values = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    return f"{type(node).__name__}({', '.join(f'{name}={_written(value)}' for name, value in fields)})"


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
