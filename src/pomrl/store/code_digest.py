"""Digests of the code that computes numbers, taken over its normalised source. The code is neither imported nor run.

A digest covers the modules that a computation starts from and the modules that they import, directly or indirectly, at
the top of a file or inside a function. Imports of modules of this package count, except `pomrl/__init__.py`. A name
that is imported from a face, `pomrl.components` or `pomrl.study`, counts as imported from the module that the face has
it from. For a module that is not of this package, the modules in the same folder or the same package count
as well. The C source of an extension module counts with the headers of ours that it includes, whether or not the module
was built. A digest cannot see imports whose module names are computed while a program runs.
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
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

from pomrl.configuration.importing import INSTALLED, is_ours
from pomrl.configuration.settings import SESSION

START = "pomrl.science.experiment"
"""The module that every experiment starts from."""

FACES = ("pomrl.components", "pomrl.study", "pomrl.figures")
"""The modules that only gather names from others: an import of one of them is an import from the other module."""


def code_digest(components: Sequence[str]) -> str:
    """Return the digest, 64 hex digits, of the code that an experiment with these components runs.

    Comments, docstrings and the layout of the source do not change the digest.

    Args:
        components: Dotted names of the classes of the experiment's components.

    Raises:
        ModuleNotFoundError: The source of a class cannot be found.
    """
    return closure_digest((START, *sorted({_module_of(component) for component in components})))


@cache
def closure_digest(start: tuple[str, ...]) -> str:
    """Return the digest, 64 hex digits, of these modules and of the modules that they import, directly or not."""
    parts = (f"{name}\0{_code(name).normalised}" for name in sorted(modules(start)))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def modules(start: Iterable[str]) -> set[str]:
    """Return the dotted names of the modules that a digest covers if code starts from these modules."""
    reached: set[str] = set()
    ahead = list(start)
    while ahead:
        module = ahead.pop()
        if module not in reached:
            reached.add(module)
            names = {name for statement in _code(module).imports for name in _names(statement, module)}
            ahead += [name for name in names.union(_packages(module)) if _counts(name, module)]
    return reached


def own_sources(start: Iterable[str], components: Iterable[str]) -> set[Path]:
    """Return the files that these modules and classes reach, but for those of this package and of what is installed."""
    own = [name for name in {*start, *map(_module_of, components)} if not is_ours(name)]
    sources = (_source(name) for name in modules(own) if not is_ours(name))
    return {source.resolve() for source in sources if source and not _is_installed(source)}


@cache
def _module_of(target: str) -> str:
    """Return the module that defines the class with this dotted name; the class may be nested in another class."""
    module = next((name for name in reversed(_packages(target)) if _source(name)), None)
    if module is None:
        raise ModuleNotFoundError(f"the source of {target} cannot be found")
    return module


def _names(statement: ast.Import | ast.ImportFrom, module: str) -> Iterator[str]:
    """Yield the modules that a statement in a module may import, with the packages that contain them."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            yield from (alias.name, *_packages(alias.name))
            continue
        base = _absolute(statement, module) if statement.level else statement.module or ""
        source = _gather(base).get(alias.name, base) if base in FACES else base
        yield from (source, *_packages(source), f"{source}.{alias.name}")


def _absolute(statement: ast.ImportFrom, module: str) -> str:
    """Return the absolute name of the module that a relative import in a module names."""
    spec = _spec(module)
    levels = statement.level - (spec is not None and spec.submodule_search_locations is not None)
    package = module.rsplit(".", levels)[0] if levels else module
    return f"{package}.{statement.module}" if statement.module else package


@cache
def _gather(face: str) -> Mapping[str, str]:
    """Return the module that each name of a face is imported from, as the face's own statements say."""
    statements = (statement for statement in _code(face).imports if isinstance(statement, ast.ImportFrom))
    return {alias.asname or alias.name: statement.module or "" for statement in statements for alias in statement.names}


def _packages(name: str) -> list[str]:
    """Return the packages that contain a module, the outermost first."""
    return list(accumulate(name.split(".")[:-1], "{}.{}".format))


def covers(name: str) -> bool:
    """Return whether the digest of a class of a notebook covers a module: one of ours, or of the user's own."""
    return name not in sys.builtin_module_names and _counts(name, SESSION)


def _counts(name: str, importer: str) -> bool:
    """Return whether a digest covers an imported name: a module of ours, or one beside somebody's own importer."""
    top, own = name.partition(".")[0], importer.partition(".")[0]
    source = None if name == "pomrl" or top == "hydra_plugins" else _source(name)
    return source is not None and (top in ("pomrl", own) or (own != "pomrl" and not _is_installed(source)))


def _is_installed(source: Path) -> bool:
    return source.is_relative_to(sysconfig.get_path("stdlib")) or not INSTALLED.isdisjoint(source.parts)


def _source(module: str) -> Path | None:
    """Return the file with the Python or C source of a module, or None if there is no such module or no source."""
    spec = _spec(module)
    if spec and spec.has_location and str(spec.origin).endswith(".py"):
        return Path(str(spec.origin))
    package, _, name = module.rpartition(".")
    above = _spec(package) if package else None
    c_files = [Path(folder) / f"{name}.c" for folder in (above and above.submodule_search_locations) or []]
    return next((path for path in c_files if path.is_file()), None)


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


@dataclass(frozen=True)
class Code:
    """The normalised source of a module, and its import statements."""

    normalised: str
    imports: tuple[ast.Import | ast.ImportFrom, ...] = ()


def _code(module: str) -> Code:
    source = _source(module)
    if source is None:
        raise ModuleNotFoundError(f"the source of {module} cannot be found")
    is_c = source.suffix == ".c"
    return _understood(_with_headers(source) if is_c else source.read_bytes(), is_c=is_c)


def _with_headers(source: Path) -> bytes:
    """Return C source with the text of the headers of ours that it includes."""
    return _INCLUDE.sub(lambda found: (source.parent / found[1].decode()).read_bytes(), source.read_bytes())


@cache
def _understood(source: bytes, *, is_c: bool) -> Code:
    """Return C source without comments, and with one space for white space; or the normalised syntax tree of Python."""
    if is_c:
        bare = _C_COMMENT_OR_STRING.sub(lambda found: found["string"] or " ", source.decode())
        return Code(" ".join(bare.split()))
    tree = ast.parse(source)
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return Code(normalise(tree), tuple(imports))


_INCLUDE = re.compile(rb'^#include "([^"]+)"$', re.MULTILINE)

_C_COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|(?P<string>"(?:\\.|[^"\\])*")', re.DOTALL)


def normalise(node: Any) -> str:
    """Return a node of a syntax tree as text, without comments, docstrings and layout.

    The text is the same in all supported versions of Python; that of `ast.unparse` or `ast.dump` is not. Empty fields
    are left out, because versions of Python add such fields.
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
