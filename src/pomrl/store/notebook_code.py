"""Compute digests of classes defined in a notebook's cell.

A digest covers the definitions that the class uses in this session, directly or not, the values of their variables,
and the modules that they import.
"""

import ast
import hashlib
import inspect
import linecache
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from symtable import SymbolTable, symtable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import SESSION, SOURCE
from pomrl.store.code_digest import normalise, own_modules
from pomrl.store.code_digest import source_digest as digest_files

DATA = (type(None), bool, int, float, complex, str, bytes, np.generic)
"""The types of values that a digest covers, besides arrays and containers of these."""

CONTAINERS = (list, tuple, set, frozenset, dict)

NAMED = (type, FunctionType, BuiltinFunctionType, np.ufunc, ModuleType)
"""The types of values that are identified by their names; other callables may hold anything."""

NAME_DIGITS = 8
"""The hex digits of the digest in the name of a class."""


def mark(components: Iterable[object]) -> None:
    """Set the source digest on classes of the session, for their targets.

    Raises:
        ConfigError: Something that a class uses has no source and is no data.
    """
    for cls in {type(component) for component in components}:
        if is_of_session(cls):
            setattr(cls, SOURCE, source_digest(cls)[:NAME_DIGITS])


def is_of_session(value: Any) -> bool:
    """Return whether the running notebook or program defines a class or function."""
    return getattr(value, "__module__", "") == SESSION


def source_digest(cls: type) -> str:
    """Return the digest, 64 hex digits, of a session's class and all it uses."""
    reached = _Reached()
    reached.add(cls.__name__, cls)
    modules = digest_files(own_modules(reached.modules, importer=SESSION))
    return hashlib.sha256("\0".join([modules, *reached.parts]).encode()).hexdigest()


@dataclass(frozen=True)
class _Reached:
    """Everything that definitions of a session use, directly or not."""

    parts: list[str] = field(default_factory=list[str])
    """Definitions as normalised text, and values, each after its name."""
    modules: set[str] = field(default_factory=set[str])
    """The modules whose names it uses."""
    seen: dict[int, object] = field(default_factory=dict[int, object])

    def add(self, name: str, value: Any) -> None:
        """Add a named value of the session and what it uses."""
        value = inspect.unwrap(value) if callable(value) else value
        if id(value) in self.seen:
            return
        self.seen[id(value)] = value
        if isinstance(value, FunctionType | type) and is_of_session(value):
            self._add_definition(name, value)
        elif isinstance(value, NAMED):
            module = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
            self.modules.add(module)
            self.parts.append(f"{name} {module}.{getattr(value, '__qualname__', '')}")
        else:
            self.parts.append(f"{name} = {_digest_of_data(name, value)}")

    def _add_definition(self, name: str, value: FunctionType | type) -> None:
        statement, file = _definition(value, name)
        self.parts.append(f"{name}: {normalise(statement)}")
        for base in value.__bases__ if isinstance(value, type) else ():  # which may have another name by now
            self.add(base.__name__, base)
        known = vars(sys.modules[SESSION])
        for used in sorted(_used_names(statement)):
            if used in known:
                self.add(used, known[used])
        for function in _functions(value):
            if _is_within(function.__code__, statement, file):
                self._add_closure(name, function)
            elif not function.__name__.startswith("__"):  # it was set later, and not by a library
                self.add(function.__name__, function)
        for attribute, data in sorted(vars(value).items()) if isinstance(value, type) else ():
            if not attribute.startswith("__") and isinstance(data, (*DATA, *CONTAINERS, np.ndarray)):
                self.parts.append(f"{name}.{attribute} = {_digest_of_data(attribute, data)}")

    def _add_closure(self, name: str, function: FunctionType) -> None:
        """Add the variables that a function uses from enclosing functions."""
        for used, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if used != "__class__":
                try:
                    self.add(used, cell.cell_contents)
                except ValueError as error:
                    raise ConfigError(f"{name}: its variable {used} must have a value") from error


def _digest_of_data(name: str, value: Any) -> str:
    """Identify a value by text; ConfigError unless it is data."""
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
        f"{name} must be a number, text, an array or a list of them where a class of a notebook uses it, got a {kind}; "
        f"make it a field of the class, or put the class into a module"
    )


def _definition(value: FunctionType | type, name: str) -> tuple[ast.stmt, str]:
    """Return the defining statement and its file or cell.

    A class is found by its methods' code, which works in all Python versions, unlike `inspect.getsource`.
    """
    for function in _functions(value):
        code = function.__code__
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
        around = [
            node for node in ast.walk(tree) if isinstance(node, ast.stmt) and _is_within(code, node, code.co_filename)
        ]
        if isinstance(value, type):  # the innermost one of this name, of which a program may have several
            around = [node for node in around if isinstance(node, ast.ClassDef) and node.name == value.__name__]
        if around:
            return max(around, key=lambda node: node.lineno), code.co_filename
    what = "a method of its own in a cell of a notebook" if isinstance(value, type) else "its definition in a cell"
    raise ConfigError(f"{name}: its source cannot be found; it must have {what}, or be in a module")


def _is_within(code: CodeType, statement: ast.stmt, file: str) -> bool:
    """Return whether code lies inside a statement of a file."""
    lines = [statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))]
    return code.co_filename == file and min(lines) <= code.co_firstlineno <= (statement.end_lineno or 0)


def _functions(value: FunctionType | type) -> Iterator[FunctionType]:
    """Yield a function, or the methods of a class without their decorators."""
    for one in [value] if isinstance(value, FunctionType) else vars(value).values():
        function = getattr(one, "fget", None) or getattr(one, "__func__", one)
        function = inspect.unwrap(function) if callable(function) else function
        if isinstance(function, FunctionType):
            yield function


def _used_names(statement: ast.stmt) -> set[str]:
    """Return the session's names that a definition uses."""
    top = symtable(ast.unparse(statement), SESSION, "exec")
    used = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    return used.union(*map(_global_names, top.get_children()))


def _global_names(scope: SymbolTable) -> set[str]:
    names = {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global()}
    return names.union(*map(_global_names, scope.get_children()))
