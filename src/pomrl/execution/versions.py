"""Whether a worker would compute the same: versions of packages, and the digest of the code."""

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

from pomrl.execution.engine import ExecutionError
from pomrl.provenance import package_digest

PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "pomrl")
"""Those that numbers or files depend on."""


@cache
def versions(components: tuple[str, ...]) -> Mapping[str, str]:
    """Of this process; components are the dotted names of classes whose code counts besides ours."""
    return {package: version(package) for package in PACKAGES} | {"pomrl (code)": package_digest(components)[:12]}


def require(wanted: Mapping[str, str], components: tuple[str, ...]) -> None:
    """ExecutionError, with both versions, where this process has others than those wanted."""
    found = versions(components)
    differing = [
        f"{name} {found[name]} there and {wanted[name]} here" for name in wanted if found[name] != wanted[name]
    ]
    if differing:
        raise ExecutionError(
            f"the worker on {platform.node()} has other versions: {', '.join(differing)}; they have to be the same"
        )
