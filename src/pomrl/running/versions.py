"""Versions of packages and of the code, which have to be the same wherever blocks of a sweep are computed."""

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

from pomrl.execution import ExecutionError
from pomrl.store.code_digest import package_digest

PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "pomrl")
"""The packages that numbers or files depend on."""


@cache
def versions(components: tuple[str, ...]) -> Mapping[str, str]:
    """Return the version of each package in this process, and a digest of the code.

    Args:
        components: The dotted names of classes whose modules belong to the code besides this package.
    """
    return {package: version(package) for package in PACKAGES} | {"pomrl (code)": package_digest(components)[:12]}


def require(wanted: Mapping[str, str], components: tuple[str, ...]) -> None:
    """Raise ExecutionError, naming both versions, if this process has other versions than those wanted."""
    present = versions(components)
    differing = [
        f"{name} {present[name]} there and {wanted[name]} here" for name in wanted if present[name] != wanted[name]
    ]
    if differing:
        raise ExecutionError(
            f"the worker on {platform.node()} has other versions: {', '.join(differing)}; they have to be the same"
        )
