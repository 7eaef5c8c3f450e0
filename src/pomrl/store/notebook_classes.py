"""Compute digests of classes from notebook cells.

After an edit, a class has another digest and new results. A digest covers the statement of the class, and all that it
uses by name: definitions and data of cells, and modules. It misses names made at run time, as in `globals()[name]`.
"""

import ast
import hashlib
import linecache
import sys
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field
from functools import partial, partialmethod
from symtable import SymbolTable, symtable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import SESSION, SOURCE
from pomrl.store.code_digest import normalise, own_modules, source_digest

NAMED = (type, FunctionType, BuiltinFunctionType, np.ufunc, ModuleType)
"""The types identified by module and name; other callables may contain state."""

STATELESS_OWNERS = (type(None), type, ModuleType)
"""The types of `__self__` of built-in functions without state, such as `math.sqrt`, but not `[1].copy`."""

PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic)
"""The types of plain values, besides arrays and containers."""

CONTAINERS = (list, tuple, set, frozenset, dict)

DATA = (*PLAIN, *CONTAINERS, np.ndarray)

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
    """Definitions and values, each preceded by its name."""
    modules: set[str] = field(default_factory=set[str])
    positions: dict[int, int] = field(default_factory=dict[int, int])
    """The order of the definitions by their identity."""

    def add(self, name: str, value: Any) -> None:
        """Add a value and its dependencies; ConfigError if neither definition nor data."""
        value = _unwrap(value)
        if id(value) in self.positions:
            self.texts.append(f"{name} is definition {self.positions[id(value)]}")
        elif isinstance(value, FunctionType | type) and is_of_session(value):
            self.positions[id(value)] = len(self.positions)
            self._add_definition(name, value)
        elif isinstance(value, NAMED) and isinstance(getattr(value, "__self__", None), STATELESS_OWNERS):
            module = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
            self.modules.add(module)
            self.texts.append(f"{name} is {module}.{getattr(value, '__qualname__', value.__name__)}")
        elif type(value) in CONTAINERS:
            self.texts.append(f"{name} is {type(value).__name__} of {len(cast(Sized, value))}")
            for item in _items(value):
                self.add(name, item)
        else:
            self.texts.append(f"{name} = {_describe_data(name, value)}")

    def _add_definition(self, name: str, value: FunctionType | type) -> None:
        statement, file = _definition(value, name)
        self.texts.append(f"{name}: {normalise(statement)}")
        variables = vars(sys.modules[SESSION])
        for used in sorted(_used_names(statement) & variables.keys()):
            self.add(used, variables[used])
        for function in _functions(value):
            if _is_within(function.__code__, statement, file):
                self._add_values(name, function)
            elif not function.__name__.startswith("__"):  # set after the class statement, and not by a library
                self.add(function.__name__, function)
        if isinstance(value, type):
            for base in value.__bases__:  # a base may have been renamed since
                self.add(base.__name__, base)
            for attribute, data in sorted(vars(value).items()):  # perhaps set after the class statement
                if isinstance(data, partial | partialmethod):
                    self.add(f"{name}.{attribute}", (data.args, data.keywords))
                elif not attribute.startswith("__") and isinstance(data, DATA):
                    self.add(f"{name}.{attribute}", data)

    def _add_values(self, name: str, function: FunctionType) -> None:
        """Add defaults, attributes, and variables of enclosing functions: the source lacks their values."""
        self.add(f"{name}.{function.__name__}", (function.__defaults__, function.__kwdefaults__))
        for attribute, data in sorted(vars(function).items()):
            if isinstance(data, DATA):
                self.add(f"{name}.{function.__name__}.{attribute}", data)
        if wrapped := getattr(function, "__wrapped__", None):
            self.add(f"{name}.{function.__name__}", wrapped)
        for used, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if used != "__class__":
                try:
                    self.add(used, cell.cell_contents)
                except ValueError as error:
                    problem = f"{name}: the variable {used} has no value"
                    raise ConfigError(f"{problem}; assign one before use of the class") from error


def _items(container: Any) -> Iterable[Any]:
    """Return the items of a container, sorted if they have no order; keys and values of a dictionary."""
    if isinstance(container, dict):
        return [item for pair in cast(dict[Any, Any], container).items() for item in pair]
    return sorted(cast(Iterable[Any], container), key=repr) if isinstance(container, set | frozenset) else container


def _describe_data(name: str, value: Any) -> str:
    kind: type = value.__class__
    if kind is np.ndarray and not value.dtype.hasobject:
        array = np.ascontiguousarray(value)
        return f"{array.dtype} {value.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
    is_alias = kind.__module__ in ("typing", "types")  # in an annotation
    if is_alias or (isinstance(value, PLAIN) and not is_of_session(kind)):
        return f"{kind.__name__} {value!r}"
    raise ConfigError(
        f"{name} must be data (numbers, text, numeric arrays, containers), got {kind.__name__}; "
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
    """Yield a function, or the functions of a class, without wrappers of libraries."""
    for member in [value] if isinstance(value, FunctionType) else vars(value).values():
        wrapped = (getattr(member, name, None) for name in ("fget", "__func__", "func"))
        function = next(filter(None, wrapped), member)
        function = _unwrap(function)
        if isinstance(function, FunctionType):
            yield function


def _unwrap(value: Any) -> Any:
    """Return what wrappers of libraries wrap; wrappers of the session have sources and values themselves."""
    while not _is_of_cells(value) and (wrapped := getattr(value, "__wrapped__", None) if callable(value) else None):
        value = wrapped
    return value


def _is_of_cells(value: Any) -> bool:
    return getattr(value, "__globals__", None) is vars(sys.modules[SESSION])


def _used_names(statement: ast.stmt) -> set[str]:
    """Return the names used by a statement but assigned outside of it."""
    top = symtable(ast.unparse(statement), SESSION, "exec")
    used = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    return used.union(*map(_global_names, top.get_children()))


def _global_names(scope: SymbolTable) -> set[str]:
    names = {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global()}
    return names.union(*map(_global_names, scope.get_children()))
