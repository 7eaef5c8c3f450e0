"""Versions of packages and of the code, which have to be the same wherever blocks of a sweep are computed."""

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

from pomrl.checks import Engine
from pomrl.execution import ExecutionError
from pomrl.science.solvers import compiled
from pomrl.store.code_digest import package_digest

PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "pomrl")
"""The packages that numbers or files depend on."""


@cache
def versions(components: tuple[str, ...], engine: Engine) -> Mapping[str, str]:
    """Return the version of each package in this process, and a digest of the code.

    The engine that solves small models is among them if the compiled one is asked for by name. Its source belongs to
    the code, whose digest therefore says which version of the engine it is.

    Args:
        components: The dotted names of classes whose modules belong to the code besides this package.
        engine: The engine that is asked for.
    """
    packages = {package: version(package) for package in PACKAGES}
    asked = {"execution.engine": "compiled" if compiled.is_built() else "numpy"} if engine == "compiled" else {}
    return packages | {"pomrl (code)": package_digest(components)[:12]} | asked


def require(wanted: Mapping[str, str], components: tuple[str, ...], engine: Engine) -> None:
    """Raise ExecutionError, naming both versions, if this process has other versions than those wanted."""
    present = versions(components, engine)
    differing = [
        f"{name} {present[name]} there and {wanted[name]} here" for name in wanted if present[name] != wanted[name]
    ]
    if differing:
        raise ExecutionError(
            f"the worker on {platform.node()} has other versions: {', '.join(differing)}; they have to be the same"
        )
